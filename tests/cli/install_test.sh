#!/usr/bin/env bash
# usage: install_test.sh BUILD_FOLDER VERSION
# The installed prefix works from wherever it stands, and holds what the README promises.
set -euo pipefail
build=$1
version=$2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

cmake --install "$build" --prefix "$prefix" >/dev/null
cd /
says=$(env -i HOME="$prefix" "$prefix/bin/lowtide" version | head -n 1)
if [ "$says" != "lowtide $version" ]; then
  echo "installed lowtide says '$says', not 'lowtide $version'"
  exit 1
fi
for file in share/doc/lowtide/README.md share/doc/lowtide/LICENSE share/doc/lowtide/NOTICE; do
  if [ ! -s "$prefix/$file" ]; then
    echo "not installed: $file"
    exit 1
  fi
done
