#!/usr/bin/env bash
# The main job in one command: builds Lowtide and steers a real training (scikit-learn on its
# handwritten digits) through two days of Texas's grid, a simulated A40 GPU standing in for one.
# usage: scripts/demo.sh [REPORT.html]
set -euo pipefail
cd "$(dirname "$0")/.."
report=${1:-build/demo-report.html}

scripts/setup.sh --minimal
cmake --preset release -DLOWTIDE_TESTS=OFF >/dev/null
if ! log=$(cmake --build --preset release --target lowtide 2>&1); then
  tail -n 40 <<<"$log" >&2
  exit 1
fi

PYTHONPATH=python build/release/bin/lowtide run \
  --name demo \
  --trace data/traces/ERCO.csv:ci_lifecycle --zone US-TEX-ERCO \
  --grid-time 2022-03-15T00:00:00Z --time-scale 1800 \
  --policy chase --simulate-gpu A40 \
  --html-report "$report" \
  -- /usr/bin/python3 examples/digits.py
echo "Report: $report"
