#!/usr/bin/env python3
"""Checks that every relative link of the documentation leads somewhere, anchors included.

usage: links_test.py ROOT

ROOT is the repository, or share/doc/lowtide of an installed prefix.
"""

import pathlib
import re
import sys

FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchor(heading):
    """As GitHub makes them."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def anchors_of(path):
    text = FENCE.sub("", path.read_text())
    return {anchor(h) for h in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def broken_links(page):
    for target in LINK.findall(FENCE.sub("", page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, fragment = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        if not path.exists():
            yield f"{target} is not there"
        elif fragment and fragment not in anchors_of(path):
            yield f"{target}: no such heading"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    pages = sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])
    failed = False
    for page in pages:
        for problem in broken_links(page):
            failed = True
            print(f"{page.relative_to(root)}: {problem}")
    index = (root / "docs/README.md").read_text()
    for page in sorted((root / "docs").glob("[hrt]*/*.md")):
        if str(page.relative_to(root / "docs")) not in index:
            failed = True
            print(f"docs/README.md does not list {page.relative_to(root / 'docs')}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
