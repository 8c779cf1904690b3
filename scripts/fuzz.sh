#!/usr/bin/env bash
# Fuzzes the parsers of outside bytes with libFuzzer, from the seeds in tests/data/seeds.
# usage: scripts/fuzz.sh [TARGET [SECONDS]]     default: every target for 60 seconds
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-}
seconds=${2:-60}

scripts/setup.sh
targets=()
for source in tests/fuzz/*_fuzz.cc; do
  name=$(basename "$source" _fuzz.cc)
  if [ -z "$target" ] || [ "$target" = "$name" ]; then targets+=("$name"); fi
done
if [ ${#targets[@]} -eq 0 ]; then
  echo "fuzz.sh: no target '$target'; there are: $(basename -as _fuzz.cc tests/fuzz/*_fuzz.cc | tr '\n' ' ')" >&2
  exit 2
fi

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "${targets[@]/#/fuzz_}"
for name in "${targets[@]}"; do
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  echo "== $name, $seconds s; what it finds is kept in $corpus"
  "build/fuzz/bin/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/$name-" "$corpus" "tests/data/seeds/$name"
done
