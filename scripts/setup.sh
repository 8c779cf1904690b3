#!/usr/bin/env bash
# Installs what Lowtide needs on Debian 12 or 13. Does nothing, quickly, where all is there.
# usage: scripts/setup.sh [--minimal]
#   --minimal  what building and the demo need; without it, also what the tests need
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config
  libfmt-dev nlohmann-json3-dev libcli11-dev libsqlite3-dev libtomlplusplus-dev libcurl4-openssl-dev
  libpugixml-dev libeigen3-dev
  python3 python3-sklearn
)
test_packages=(
  ccache clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
  openssl python3-pytest chromium-headless-shell util-linux
)

case "${1:-}" in
  --minimal) ;;
  "") packages+=("${test_packages[@]}") ;;
  *)
    echo "usage: scripts/setup.sh [--minimal]" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup.sh: this is not Debian; install the equivalents of: ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup.sh: run this as root (or install sudo): apt-get install ${missing[*]}" >&2
    exit 4
  fi
  as_root=(sudo)
fi

echo "Installing: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -q &&
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "setup.sh: apt-get failed" >&2
  exit 1
fi
