#!/usr/bin/env python3
"""Compares docs/reference/cli.md with what the program says of itself.

usage: cli_reference_test.py LOWTIDE SOURCE_ROOT

Every verb has a section, each section names exactly the options of `lowtide VERB --help`, and every
variable that the program reads is in the table of the environment.
"""

import pathlib
import re
import subprocess
import sys

EVERYWHERE = {"--help", "--log-level", "--log-format", "--version"}
OPTION = re.compile(r"--[a-z][a-z-]*")


def help_of(lowtide, verb):
    done = subprocess.run([lowtide, *verb, "--help"], capture_output=True, text=True, check=True)
    return done.stdout


def options_of(text):
    """The names at the start of a help line: "  -q,--quiet   Print ..."."""
    found = set()
    for line in text.splitlines():
        match = re.match(r"  (?:-\w,)?(--[a-z][a-z-]*)", line)
        if match:
            found.add(match.group(1))
    return found


def verbs_below(lowtide, verb=()):
    """Every verb with its own verbs: ("runs", "list")."""
    text = help_of(lowtide, verb)
    for block in re.findall(r"^(?:Subcommands|Setup):\n((?:  .*\n)+)", text, re.MULTILINE):
        for name in re.findall(r"^  ([a-z][a-z-]*) ", block, re.MULTILINE):
            yield (*verb, name)
            yield from verbs_below(lowtide, (*verb, name))


def sections_of(text):
    """Heading -> text up to the next heading of any level."""
    parts = re.split(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def documented(section):
    """Options in the first column of a section's tables."""
    cells = re.findall(r"^\| (.*?) \|", section.replace("\\|", ""), re.MULTILINE)
    return {name for cell in cells for name in OPTION.findall(cell)}


def variables_read(root):
    code = "".join(p.read_text() for p in (root / "apps/lowtide").glob("*.cc"))
    return set(re.findall(r'Environment\("(\w+)"\)', code)) - {"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"}


def problems(lowtide, root):
    text = (root / "docs/reference/cli.md").read_text()
    sections = sections_of(text)
    missing = EVERYWHERE - documented(sections["Every verb"])
    if missing:
        yield f"'Every verb' lacks {sorted(missing)}"
    for verb in verbs_below(lowtide):
        # The marks are one table.
        title = "lowtide mark" if verb[0] == "mark" else "lowtide " + " ".join(verb)
        if title not in sections:
            yield f"no section '{title}'"
            continue
        offered = options_of(help_of(lowtide, verb)) - EVERYWHERE
        if verb[0] == "mark":
            absent = {o for o in offered if o not in sections[title]}
            gone = set()
        else:
            described = documented(sections[title])
            absent, gone = offered - described, described - offered
        if absent:
            yield f"'{title}' lacks {sorted(absent)}"
        if gone:
            yield f"'{title}' has {sorted(gone)}, which the verb has not"
    for name in sorted(variables_read(root)):
        if f"`{name}`" not in sections["Environment"]:
            yield f"'Environment' lacks {name}"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    found = list(problems(sys.argv[1], pathlib.Path(sys.argv[2])))
    for problem in found:
        print("docs/reference/cli.md:", problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
