#!/usr/bin/env python3
"""Runs one golden case of the command line.

usage: run_case.py CASE_FOLDER BIN_FOLDER SOURCE_ROOT

A case is a folder:
  cmd    a shell snippet; lowtide is on PATH, $SOURCE_ROOT is the repository, HOME and the state
         folder are fresh, the working directory is a fresh copy of files/ (where there is one)
  out    its standard output; absent: none
  err    its standard error; absent: none
  code   its exit code; absent: 0. A snippet that exits with 77 is skipped, its output is the reason
  mask   what to blank out before comparing, one a line: "durations", "numbers", or REGEX => TEXT

Run ids, times and the working directory always read RUN, TIME and DIR.
LOWTIDE_UPDATE_GOLDEN=1 writes out, err and code instead of comparing.
"""

import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
NUMBER = r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
ALWAYS = [
    (r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "RUN"),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?", "TIME"),
]
NAMED = {
    "durations": [(r"\b\d+(?:\.\d+)?s\b|\b\d+m\d\ds\b|\b\d+h\d\dm\b|\b\d+d\d\dh\b", "DURATION")],
    "numbers": [(NUMBER, "N")],
}


def masks_of(case):
    masks = list(ALWAYS)
    path = case / "mask"
    for line in path.read_text().splitlines() if path.exists() else []:
        if line in NAMED:
            masks += NAMED[line]
        elif " => " in line:
            masks.append(tuple(line.split(" => ", 1)))
        elif line.strip():
            sys.exit(f"{path}: '{line}' is neither one of {', '.join(NAMED)} nor REGEX => TEXT")
    return masks


def masked(text, folder, masks):
    text = text.replace(str(folder), "DIR")
    for pattern, replacement in masks:
        text = re.sub(pattern, replacement, text)
    return text


def environment(folder, binaries, root):
    ours = ("LOWTIDE_", "XDG_", "ELECTRICITY", "WATTTIME_", "EIA_", "ENTSOE_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    env.update(
        HOME=str(folder / "home"),
        XDG_STATE_HOME=str(folder / "state"),
        XDG_RUNTIME_DIR=str(folder / "runtime"),
        SOURCE_ROOT=str(root),
        PYTHONPATH=str(root / "python"),
        PYTHONDONTWRITEBYTECODE="1",
        PATH=f"{binaries}{os.pathsep}{env['PATH']}",
        LC_ALL="C.UTF-8",
        TZ="UTC",
        COLUMNS="100",
        CUDA_VISIBLE_DEVICES="",
    )
    if "LOWTIDE_TEST_DATA" in os.environ:
        env["LOWTIDE_TEST_DATA"] = os.environ["LOWTIDE_TEST_DATA"]
    return env


def run(case, binaries, root):
    with tempfile.TemporaryDirectory(prefix="lowtide-cli-") as temporary:
        folder = pathlib.Path(temporary).resolve()
        for name in ("home", "state", "runtime"):
            (folder / name).mkdir(mode=0o700)
        work = folder / "work"
        if (case / "files").exists():
            shutil.copytree(case / "files", work)
        else:
            work.mkdir()
        done = subprocess.run(
            ["bash", "-c", (case / "cmd").read_text()],
            cwd=work,
            env=environment(folder, binaries, root),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=100,
            check=False,
        )
        if done.returncode == SKIP:
            print("skipped:", done.stdout.decode(errors="replace").strip())
            sys.exit(SKIP)
        masks = masks_of(case)
        out, err = (masked(s.decode(errors="replace"), folder, masks) for s in (done.stdout, done.stderr))
        return {"out": out, "err": err, "code": f"{done.returncode}\n"}


def expected(case, name):
    path = case / name
    if path.exists():
        return path.read_text()
    return "0\n" if name == "code" else ""


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    case, binaries, root = (pathlib.Path(arg).resolve() for arg in sys.argv[1:])
    got = run(case, binaries, root)
    if os.environ.get("LOWTIDE_UPDATE_GOLDEN") == "1":
        for name, text in got.items():
            if text == ("0\n" if name == "code" else ""):
                (case / name).unlink(missing_ok=True)
            else:
                (case / name).write_text(text)
        return 0
    failed = False
    for name, text in got.items():
        want = expected(case, name)
        if text == want:
            continue
        failed = True
        lines = difflib.unified_diff(
            want.splitlines(), text.splitlines(), f"{case.name}/{name}", "got", lineterm=""
        )
        print("\n".join(lines))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
