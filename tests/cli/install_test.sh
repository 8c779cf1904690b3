#!/usr/bin/env bash
# usage: install_test.sh BUILD_FOLDER VERSION SOURCE_ROOT
# The installed prefix works from wherever it stands, and holds what the README promises.
set -euo pipefail
build=$1
version=$2
root=$3
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

cmake --install "$build" --prefix "$prefix" >/dev/null
cd /
says=$(env -i HOME="$prefix" "$prefix/bin/lowtide" version | head -n 1)
if [ "$says" != "lowtide $version" ]; then
  echo "installed lowtide says '$says', not 'lowtide $version'"
  exit 1
fi
for file in README.md LICENSE NOTICE docs/README.md docs/reference/cli.md examples/digits.py; do
  if [ ! -s "$prefix/share/doc/lowtide/$file" ]; then
    echo "not installed: share/doc/lowtide/$file"
    exit 1
  fi
done
if ! grep -q '^# Lowtide$' "$prefix/share/doc/lowtide/README.md"; then
  echo "share/doc/lowtide/README.md is not the project's README"
  exit 1
fi
/usr/bin/env python3 "$root/tests/docs/links_test.py" "$prefix/share/doc/lowtide"
"$root/tests/cli/completion_test.sh" "$prefix/bin/lowtide" "$prefix/share/bash-completion/completions/lowtide"
for file in zsh/site-functions/_lowtide fish/vendor_completions.d/lowtide.fish; do
  if ! grep -q json-report "$prefix/share/$file"; then
    echo "share/$file does not know --json-report"
    exit 1
  fi
done
