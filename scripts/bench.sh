#!/usr/bin/env bash
# Builds the release preset and runs the benchmarks in bench/.
# usage: scripts/bench.sh [NAME...] [-- benchmark option...]   e.g. scripts/bench.sh base
set -euo pipefail
cd "$(dirname "$0")/.."
names=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  names+=("$1")
  shift
done
[ $# -eq 0 ] || shift

scripts/setup.sh
if [ ${#names[@]} -eq 0 ]; then
  for source in bench/*_bench.cc; do names+=("$(basename "$source" _bench.cc)"); done
fi
cmake --preset release -DLOWTIDE_BENCH=ON >/dev/null
cmake --build --preset release --target "${names[@]/%/_bench}"
for name in "${names[@]}"; do
  echo "== $name"
  "build/release/bin/${name}_bench" "$@"
done
