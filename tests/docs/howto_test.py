#!/usr/bin/env python3
"""Runs the commands of the pages in docs/how-to and checks the options that their tables name.

usage: howto_test.py LOWTIDE_FOLDER SOURCE_ROOT

The sh blocks of a page run one after the other in a folder of their own, beside a train.py that is
the page's last Python block that imports lowtide, or a training without marks where it has none.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
VERBS = [[], ["run"], ["plan"], ["runs", "export"], ["runs", "list"]]
STUBS = """
import time
batches = range(30)
def train(batch=None):
    time.sleep(0.001)
"""
KEYS = {"carbon_g", "energy_kwh", "duration_s", "energy_j"}


def environment(binaries, folder, root):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LOWTIDE_", "XDG_"))}
    env.update(HOME=folder, LOWTIDE_STATE_DIR=f"{folder}/state", PYTHONPATH=str(root / "python"))
    env.update(PATH=f"{binaries}:{env['PATH']}", CUDA_VISIBLE_DEVICES="", LC_ALL="C.UTF-8")
    return env


def options_there_are(env):
    found = set()
    for verb in VERBS:
        text = subprocess.run(["lowtide", *verb, "--help"], env=env, capture_output=True, text=True, check=True).stdout
        found |= set(re.findall(r"^  (?:-\w,)?(--[a-z][a-z-]*)", text, re.MULTILINE))
    return found


def keys_of(value):
    if isinstance(value, dict):
        return set(value) | {key for inner in value.values() for key in keys_of(inner)}
    return {key for inner in value for key in keys_of(inner)} if isinstance(value, list) else set()


def problems(page, binaries, root):
    text = page.read_text()
    blocks = BLOCK.findall(text)
    ours = [body for kind, body in blocks if kind == "python" and "import lowtide" in body]
    commands = [body for kind, body in blocks if kind == "sh"]
    if not commands:
        yield "shows no command"
    with tempfile.TemporaryDirectory(prefix="lowtide-howto-") as folder:
        env = environment(binaries, folder, root)
        (pathlib.Path(folder) / "train.py").write_text(STUBS + (ours[-1] if ours else "train()\n"))
        for body in commands:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", body], cwd=folder, env=env, capture_output=True, text=True, timeout=60
            )
            if done.returncode != 0:
                yield f"ends with {done.returncode}:\n{body}{done.stdout}{done.stderr}"
                return
        run = subprocess.run(
            ["lowtide", "runs", "show", "last", "--json"], env=env, capture_output=True, text=True, check=True
        )
        report = json.loads(run.stdout)
        named = KEYS & set(re.findall(r"`(\w+)`", text))
        if ours:
            yield from () if report["epochs"] else ["the training of the page marks no epoch"]
        else:
            named.discard("energy_j")
        if named - keys_of(report):
            yield f"the report has no {sorted(named - keys_of(report))}"
        there_are = options_there_are(env)
    for row in re.findall(r"^\| (.*) \|", text, re.MULTILINE):
        cells = row.split(" | ")
        gone = {o for cell in cells[1:2] for o in OPTION.findall(cell)} - there_are
        if gone:
            yield f"no verb has {sorted(gone)}"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    binaries, root = (pathlib.Path(arg).resolve() for arg in sys.argv[1:])
    failed = False
    for page in sorted((root / "docs/how-to").glob("*.md")):
        for problem in problems(page, binaries, root):
            failed = True
            print(f"{page.relative_to(root)}: {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
