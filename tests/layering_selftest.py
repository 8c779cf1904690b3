#!/usr/bin/env python3
"""layering_test.py finds what it is there to find. usage: layering_selftest.py"""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

BREACHES = {
    "src/base/a.cc": ('#include "plan/x.h"\n', "base may not include plan"),
    "src/grid/a.h": ('\n#include "device/x.h"\n', "src/grid/a.h:2: grid may not include device"),
    "src/plan/a.cc": ('#include "run/x.h"\n', "plan may not include run"),
    "src/novel/a.cc": ("\n", "src/novel is in no layer"),
    "src/store/a.h": ("#include <sqlite3.h>\n", "third-party header <sqlite3.h>"),
    "src/store/b.h": ("#include <fmt/format.h>\n", "third-party header <fmt/format.h>"),
    "src/run/a.cc": ('int x = getenv("A") != 0;\n', "the environment is read in apps/ only"),
    "src/run/b.cc": ("void f() { std::cout << 1; }\n", "the library prints nothing"),
    "src/run/c.cc": ("void f() { ::abort(); }\n", "the library ends no process"),
    "src/run/d.cc": ("int x;\n" * 601, "more than 600"),
    "docs/a.md": ("see /" + "home/jane/notes\n", "names a path of a machine"),
}
FINE = {
    "src/base/ok.h": '#include <sys/stat.h>\n#include <vector>\n// calls getenv() nowhere\n',
    "src/run/ok.cc": '#include "device/x.h"\nvoid f() { ::_exit(127); say("abort()"); on_exit_code(1); }\n',
    "src/run/ok_test.cc": '#include <gtest/gtest.h>\nvoid f() { setenv("A", "b", 1); }\n',
    "src/device/ok.cc": '#include "plan/x.h"\n#include <fmt/format.h>\n',
    "apps/lowtide/ok.cc": '#include "run/x.h"\nvoid f() { printf("x"); }\n',
}


def findings(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"src/base/.keep": "", **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        done = subprocess.run(
            [sys.executable, HERE / "layering_test.py", root], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout


def main():
    failed = 0
    for name, (text, expected) in BREACHES.items():
        code, out = findings({name: text})
        if code != 1 or expected not in out or out.count("\n") != 1:
            print(f"{name}: expected one breach '{expected}', got:\n{out}")
            failed = 1
    code, out = findings(FINE)
    if code != 0:
        print(f"false alarms:\n{out}")
        failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
