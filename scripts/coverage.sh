#!/usr/bin/env bash
# Which lines of the parsers of outside bytes the kept fuzz corpora reach: replays them in an
# instrumented build and lists, for each parser, the lines that nothing reached.
# usage: scripts/coverage.sh [SOURCE...]    (default: every parser)
set -euo pipefail
cd "$(dirname "$0")/.."
command -v gcovr >/dev/null || { echo "coverage.sh: install gcovr (Debian package)" >&2; exit 1; }

parsers=(
  src/base/csv.cc src/base/time.cc src/base/json.cc
  src/run/marks.cc src/run/limit_journal.cc
  src/device/proc/proc_files.cc src/device/rapl/rapl_zone.cc src/device/cpu_model/tdp_table.cc
  src/device/gpu_names.cc src/device/visible_devices.cc
  src/grid/trace.cc src/grid/zone.cc src/grid/sources/yearly_source.cc
  src/plan/power_curve_reader.cc src/plan/policy.cc
)
[ $# -eq 0 ] || parsers=("$@")

cmake --preset coverage >/dev/null
cmake --build --preset coverage -j "$(nproc)" --target fuzz_targets >/dev/null
find build/coverage -name '*.gcda' -delete
ctest --test-dir build/coverage -L fuzz -j "$(nproc)" --output-on-failure >/dev/null
filters=()
for file in "${parsers[@]}"; do filters+=(--filter "$file"); done
gcovr --root . "${filters[@]}" --exclude-throw-branches --exclude-unreachable-branches build/coverage
