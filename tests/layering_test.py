#!/usr/bin/env python3
"""Checks what the compiler does not: the order of the layers and the rules of the house.

usage: layering_test.py SOURCE_ROOT
Prints one line for each breach, as path:line: what; exits with 1 if there is any.
"""

import pathlib
import re
import sys

# Each layer may include the layers before it; folders of one layer do not include each other.
LAYERS = [
    {"base"},
    {"http", "plan", "store"},
    {"grid", "device"},
    {"forecast"},
    {"run", "dispatch"},
    {"simulate", "serve"},
]
LEVEL = {folder: level for level, layer in enumerate(LAYERS) for folder in layer}

# Below apps/ nothing prints, ends the process or reads its environment; _exit() in a forked child
# is no end of ours.
FORBIDDEN = [
    (r"\b(?:secure_)?getenv\s*\(|\bsetenv\s*\(|\bputenv\s*\(", "the environment is read in apps/ only"),
    (r"\bstd::(?:cout|cerr|clog)\b|\b(?:v?f?printf|puts|putchar|perror)\s*\(|\bfmt::print\b",
     "the library prints nothing; it logs through base/log.h"),
    (r"(?<![\w:])(?:std::|::)?(?:exit|abort|quick_exit|terminate)\s*\(", "the library ends no process"),
]

# Third-party headers stay in .cc files, so that each dependency can be replaced.
PUBLIC_THIRD_PARTY = {("src/base/json.h", "nlohmann/json.hpp")}
SYSTEM_FOLDERS = ("sys/", "linux/", "netinet/", "arpa/", "net/", "asm/", "bits/")
THIRD_PARTY_FILES = {"sqlite3.h", "nvml.h", "pugixml.hpp", "rapidcheck.h"}

MAX_LINES = 600
MACHINE_PATH = re.compile(r"(?<![\w.$}~<-])/(?:home/(?!u(?:ser)?\b)\w+|root|work|tmp/wt|Users/\w+)/")
TEXT = {".cc", ".h", ".py", ".sh", ".cmake", ".md", ".txt", ".toml", ".json", ".yml", ".yaml", ""}
CODE = {".cc", ".h", ".py", ".sh", ".cmake"}
NOT_OURS = {"build", ".git", ".venv", "__pycache__", ".pytest_cache", "node_modules", "shared"}


def files_of(root):
    for path in sorted(root.iterdir()):
        if path.name in NOT_OURS or path.is_symlink():
            continue
        if path.is_dir():
            yield from files_of(path)
        elif path.suffix in TEXT:
            yield path


def is_test(path):
    return "tests" in path.parts or re.search(r"(?:^|_)tests?(?:_|$)", path.stem) is not None


def without_comments_and_strings(text):
    """Blanks them out, keeping every line where it is."""

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())

    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, blank, text, flags=re.S)


def check_includes(name, path, text):
    folder = name.split("/")[1] if name.startswith("src/") else "apps"
    level = LEVEL.get(folder, len(LAYERS))
    if name.startswith("src/") and folder not in LEVEL:
        yield 1, f"src/{folder} is in no layer; name it in tests/layering_test.py"
        return
    for match in re.finditer(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', text, flags=re.M):
        line = text.count("\n", 0, match.start(2)) + 1
        header = match.group(2)
        other = header.split("/")[0]
        if match.group(1) == '"' and other in LEVEL and other != folder and LEVEL[other] >= level:
            yield line, f"{folder} may not include {other} ({header})"
        if match.group(1) == "<" and path.suffix == ".h" and not is_test(path):
            third_party = header in THIRD_PARTY_FILES or (
                "/" in header and not header.startswith(SYSTEM_FOLDERS)
            )
            if third_party and (name, header) not in PUBLIC_THIRD_PARTY:
                yield line, f"third-party header <{header}> in a public header"


def check_calls(text):
    code = without_comments_and_strings(text)
    for pattern, why in FORBIDDEN:
        for match in re.finditer(pattern, code):
            yield code.count("\n", 0, match.start()) + 1, f"{match.group().strip()}: {why}"


def check(root):
    for path in files_of(root):
        name = path.relative_to(root).as_posix()
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue  # seeds of the fuzz targets
        relative = pathlib.PurePosixPath(name)
        if relative.suffix in CODE and text.count("\n") > MAX_LINES:
            yield name, MAX_LINES, f"{text.count(chr(10))} lines; more than {MAX_LINES} are two purposes"
        for match in MACHINE_PATH.finditer(text):
            yield name, text.count("\n", 0, match.start()) + 1, f"names a path of a machine: {match.group()}"
        if relative.suffix in {".cc", ".h"} and name.startswith(("src/", "apps/")):
            for line, what in check_includes(name, relative, text):
                yield name, line, what
            if name.startswith("src/") and not is_test(relative):
                for line, what in check_calls(text):
                    yield name, line, what


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1]).resolve()
    if not (root / "src/base").is_dir():
        sys.exit(f"{root}: not the root of the sources")
    breaches = list(check(root))
    for name, line, what in breaches:
        print(f"{name}:{line}: {what}")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
