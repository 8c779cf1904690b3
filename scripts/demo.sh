#!/usr/bin/env bash
# The main job in one command: builds Lowtide and steers a real training (scikit-learn on its
# handwritten digits) through most of a day of California's grid, on an accelerated clock. It steers
# the GPU of this machine if there is one whose limit it may set, else a simulated A40.
# usage: scripts/demo.sh [REPORT.html]
set -euo pipefail
cd "$(dirname "$0")/.."
report=${1:-build/demo-report.html}

scripts/setup.sh --minimal
echo "Building (build/release) ..."
cmake --preset release -DLOWTIDE_TESTS=OFF -DLOWTIDE_BENCH=OFF >/dev/null
build=(cmake --build --preset release --target lowtide)
# The first time takes minutes. On a terminal ninja's line shows how far it is.
if [ -t 1 ]; then
  "${build[@]}"
else
  log=build/release/demo_build.log
  : >"$log"
  (
    seconds=0
    while sleep 1; do
      seconds=$((seconds + 1))
      if [ $((seconds % 15)) -eq 0 ]; then
        echo "  $seconds s: step $(grep -o '^\[[0-9/]*\]' "$log" | tail -n 1 || true)"
      fi
    done
  ) &
  trap 'kill $! 2>/dev/null || true' EXIT
  if ! "${build[@]}" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    exit 1
  fi
  kill $!
  trap - EXIT
fi
lowtide=build/release/bin/lowtide

gpu=()
if ! "$lowtide" doctor --json | grep -q '"can_steer_gpu": true'; then
  echo "No GPU whose power limit may be set here: a simulated A40 stands in for one."
  gpu=(--simulate-gpu A40)
fi

# An hour of the grid passes in every second. MaxCarbonIntensity is the highest of the 60 days before.
PYTHONPATH=python "$lowtide" run --name demo \
  --trace data/traces/CISO.csv:ci_lifecycle --zone US-CAL-CISO \
  --grid-time 2022-04-12T08:00Z --time-scale 3600 \
  --policy chase --eta 0.33 --max-carbon-intensity dynamic:60d --min-dwell 0s --min-gain 0 \
  --profile-steps 30 --profile-warmup-steps 3 "${gpu[@]}" \
  --html-report "$report" \
  -- /usr/bin/python3 examples/digits.py --batch-size 8 --work 200
echo "The report as a page: $report"
