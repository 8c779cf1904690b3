#!/usr/bin/env python3
"""Adds up JUnit files of ctest and pytest.

usage: junit_summary.py FILE...
Prints each failed test, each reason for a skip with how many tests gave it, and as the last line
"PASSED FAILED SKIPPED".
"""

import collections
import re
import sys
import xml.etree.ElementTree as ElementTree


def output_of(case):
    return "\n".join(node.text or "" for node in case.iter("system-out"))


def skip_reason(case):
    """The text of GTEST_SKIP(), of run_case.py or of pytest.skip()."""
    text = output_of(case)
    gtest = re.search(r": Skipped\n(.+?)\n", text)
    if gtest and gtest.group(1).strip():
        return gtest.group(1).strip()
    golden = re.search(r"^skipped: (.+)$", text, flags=re.M)
    if golden:
        return golden.group(1)
    return case.find("skipped").get("message") or "no reason given"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    passed = failed = 0
    skips = collections.Counter()
    for file in sys.argv[1:]:
        for case in ElementTree.parse(file).iter("testcase"):
            name = ".".join(filter(None, [case.get("classname"), case.get("name")]))
            if case.find("skipped") is not None:
                skips[skip_reason(case)] += 1
            elif case.find("failure") is not None or case.find("error") is not None:
                failed += 1
                print(f"  failed: {case.get('name') if case.get('classname') == case.get('name') else name}")
            else:
                passed += 1
    for reason, count in sorted(skips.items()):
        print(f"  skipped {count}: {reason}")
    print(passed, failed, sum(skips.values()))


if __name__ == "__main__":
    main()
