#!/usr/bin/env bash
# Builds the release preset and measures what Lowtide costs: the whole program, then its parts.
# usage: scripts/bench.sh [--quick] [NAME...]
#   --quick  short runs: a minute in all, numbers to be doubted
#   NAME     overhead (processor, memory, start-up, accuracy), or a program in bench/: base, run;
#            forecast (its errors on five grids, where LOWTIDE_TEST_DATA is set)
# Without a NAME, all of them. codecarbon is measured beside it when it is in build/peers/codecarbon
# or can be installed there. Ends with 1 when a bound of docs/reference/benchmarks.md is exceeded.
set -euo pipefail
cd "$(dirname "$0")/.."

codecarbon_version=3.3.2
quick=()
if [ "${1:-}" = --quick ]; then
  quick=(--runs 1 --window 5 --pairs 10)
  shift
fi
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  names=(overhead)
  for source in bench/*_bench.cc; do names+=("$(basename "$source" _bench.cc)"); done
  names+=(forecast)
fi
for name in "${names[@]}"; do
  if [ "$name" != overhead ] && [ "$name" != forecast ] && [ ! -e "bench/${name}_bench.cc" ]; then
    sed -n '3,6s/^# *//p' "$0" >&2
    exit 2
  fi
done

# A virtual environment outside the source tree; says so when it cannot be had.
install_codecarbon() {
  local folder=build/peers/codecarbon
  peer=$folder/bin/codecarbon
  if [ ! -x "$peer" ]; then
    mkdir -p build/peers
    if ! { /usr/bin/python3 -m venv "$folder" &&
      "$folder/bin/pip" install -q "codecarbon==$codecarbon_version"; } >build/peers/codecarbon.log 2>&1; then
      echo "bench.sh: codecarbon is left out, it cannot be installed: $(tail -n 1 build/peers/codecarbon.log)" >&2
      rm -rf "$folder"
      peer=
    fi
  fi
}

scripts/setup.sh
cmake --preset release -DLOWTIDE_BENCH=ON -DLOWTIDE_TESTS=ON >/dev/null
cmake --build --preset release --target bench_all >build/release/bench_build.log ||
  { tail -n 40 build/release/bench_build.log && exit 1; }

exit_code=0
for name in "${names[@]}"; do
  echo "== $name"
  if [ "$name" = overhead ]; then
    install_codecarbon
    /usr/bin/python3 bench/run_overhead.py --codecarbon "$peer" --json build/release/overhead.json "${quick[@]}" ||
      exit_code=1
  elif [ "$name" = forecast ]; then
    build/release/bin/forecast_table || exit_code=1
  else
    "build/release/bin/${name}_bench" --benchmark_min_time=0.2
  fi
done
exit $exit_code
