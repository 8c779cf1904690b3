#!/usr/bin/env bash
# clang-tidy-19 over our own sources, those unchanged since they last passed left out.
# usage: scripts/tidy.sh [--all | FILE.cc...]    default: the sources of the product, without tests
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
# The build also records which headers each source includes.
if ! log=$(cmake --preset dev 2>&1 && cmake --build --preset dev 2>&1); then
  tail -n 40 <<<"$log" >&2
  exit 1
fi
exec /usr/bin/python3 scripts/tidy.py "$@"
