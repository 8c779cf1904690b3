#!/usr/bin/env python3
"""Runs `lowtide intensity` and `forecast` as the documentation shows them, against the fake
providers, and compares what they print.

usage: output_test.py LOWTIDE_FOLDER SOURCE_ROOT

Numbers, times and ages are blanked out, and charts left out: they change with the hour.
"""

import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

PAGES = {"docs/tutorials/which-carbon-number.md": 8, "README.md": 1}  # and how many commands
FENCE = re.compile(
    r"^```\n(\$ [^\n]*\blowtide (?:intensity|forecast) .*?)^```", re.MULTILINE | re.DOTALL
)
CHART = re.compile(r"\s+(\d+ )?┤|\s+\d\d-\d\d \d\d:\d\d(\s|$)")
MASKS = [
    (r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?", "TIME"),
    (r"\b\d\d:\d\d\b", "TIME"),
    (r"less than a minute|(?<![\w.])\d+ (?:min|h|days)\b(?! +\d|:)", "AGE"),
    (r"(?<![\w:.])\d+(?:\.\d+)?(?![\w.])", "N"),
    (r", over for AGE", ""),
    (r"(watttime, marginal, direct), (?:estimated|forecast)", r"\1, KIND"),  # later in the hour
    (r" +", " "),
    (r"(?m)^( TIME N N N) N to N$", r"\1"),  # a day of an hour or less may have no band
]


def blanked(text):
    text = "\n".join(line for line in text.splitlines() if not CHART.match(line))
    for pattern, replacement in MASKS:
        text = re.sub(pattern, replacement, text)
    return text.split("\n")


def environment(ports, binaries, folder):
    keep = {"PATH", "TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}
    env = {k: v for k, v in os.environ.items() if k in keep}
    env["PATH"] = f"{binaries}:{env['PATH']}"
    env.update(HOME=folder, LOWTIDE_STATE_DIR=f"{folder}/state", LANG="C.UTF-8")
    env.update(ELECTRICITY_MAPS_API_KEY="em-full", ENTSOE_API_KEY="entsoe-token-0001")
    env.update(WATTTIME_USERNAME="ada", WATTTIME_PASSWORD="lovelace-1815")
    for name, port in ports.items():
        env[f"LOWTIDE_{name.upper()}_ENDPOINT"] = f"http://127.0.0.1:{port}"
    return env


def problems(root, page, env):
    blocks = FENCE.findall((root / page).read_text())
    if len(blocks) < PAGES[page]:
        yield f"{page}: only {len(blocks)} blocks begin with a command"
    for block in blocks:
        command, _, expected = block.partition("\n")
        done = subprocess.run(
            ["bash", "-c", command[2:]],
            env=env,
            cwd=root,
            capture_output=True,
            text=True,
            timeout=50,
        )
        pair = blanked(expected), blanked(done.stdout)
        diff = list(difflib.unified_diff(*pair, "page", "program", lineterm=""))
        if done.returncode != 0 or done.stderr or diff:
            code = f"exit code {done.returncode}"
            yield "\n".join([f"{page}: {command}", code, done.stderr, *diff])


def run(binaries, root, ports):
    with tempfile.TemporaryDirectory() as folder:
        env = environment(ports, binaries, folder)
        return [problem for page in PAGES for problem in problems(root, page, env)]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    binaries = pathlib.Path(sys.argv[1]).resolve()
    root = pathlib.Path(sys.argv[2]).resolve()
    fakes = subprocess.Popen(
        [sys.executable, root / "tests/fakes/providers/serve.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        fakes.stdout.readline()
        ports = json.loads(fakes.stdout.readline())
        hour = time.time() // 3600
        found = run(binaries, root, ports)
        if found and time.time() // 3600 != hour:  # one command's "now" was another's past
            found = run(binaries, root, ports)
    finally:
        fakes.stdin.close()
        fakes.wait(timeout=10)
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
