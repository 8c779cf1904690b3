#!/usr/bin/env python3
"""Runs clang-tidy-19 over build/dev/compile_commands.json, two files at a time.

usage: tidy.py [--all | FILE.cc...]
Without arguments the sources of the product; --all takes the tests too (they are many and slow).
A source that passed is remembered under ~/.cache/lowtide-tidy by the content of all it includes from
this repository, of the .clang-tidy above it and of its compile command.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/dev"
TIDY = "clang-tidy-19"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "lowtide-tidy"


def dependencies():
    """From each object file to the files that it was made of, as ninja recorded them."""
    text = subprocess.run(
        ["ninja", "-C", BUILD, "-t", "deps"], capture_output=True, text=True, check=True
    ).stdout
    found = {}
    for block in text.split("\n\n"):
        head, *files = block.strip("\n").split("\n")
        found[head.split(":")[0]] = [(BUILD / f.strip()).resolve() for f in files if f.strip()]
    return found


def object_of(entry):
    words = shlex.split(entry["command"])
    return words[words.index("-o") + 1]


def settings_of(file):
    return [p / ".clang-tidy" for p in file.parents if p.is_relative_to(ROOT) and (p / ".clang-tidy").exists()]


def key_of(entry, files):
    digest = hashlib.sha256()
    for settings in settings_of(pathlib.Path(entry["file"])):
        digest.update(settings.read_bytes())
    digest.update(entry["command"].replace(str(ROOT), "").encode())
    for file in sorted({f for f in files if f.is_relative_to(ROOT)} | {pathlib.Path(entry["file"])}):
        digest.update(str(file.relative_to(ROOT)).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def is_product(file):
    return file.relative_to(ROOT).parts[0] in {"src", "apps"} and not file.stem.endswith("_test")


def check(file):
    done = subprocess.run(
        [TIDY, "--quiet", "-p", BUILD, "--extra-arg=-Wno-unknown-warning-option", file],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode == 0, done.stdout + ("" if done.returncode == 0 else done.stderr)


def main():
    if shutil.which(TIDY) is None:
        sys.exit(f"{TIDY} is not installed; scripts/setup.sh installs it")
    everything = sys.argv[1:] == ["--all"]
    wanted = set() if everything else {pathlib.Path(arg).resolve() for arg in sys.argv[1:]}
    made_of = dependencies()
    todo = {}
    total = 0
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        if file.is_relative_to(BUILD) or (wanted and file not in wanted):
            continue
        if not wanted and not everything and not is_product(file):
            continue
        total += 1
        key = CACHE / key_of(entry, made_of.get(object_of(entry), []))
        if not key.exists():
            todo.setdefault(file, []).append(key)
    if wanted and total == 0:
        sys.exit("none of these files is part of the build")
    CACHE.mkdir(parents=True, exist_ok=True)
    failed = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for file, (good, text) in zip(todo, pool.map(check, todo)):
            if good:
                for key in todo[file]:
                    key.touch()
            else:
                failed.append(file)
                print(text.replace(f"{ROOT}/", ""))
    print(f"clang-tidy: {total} sources, {len(todo)} looked at, {len(failed)} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
