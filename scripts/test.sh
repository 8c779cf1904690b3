#!/usr/bin/env bash
# Builds and runs every test. Ends with the line "N passed, N failed, N skipped".
# usage: scripts/test.sh [--quick | PART...]
#   --quick  format, unit, python, e2e (everything but the sanitizers)
#   PART     format, unit, python, e2e, asan, tsan, tidy; without any, all of them but tidy, which
#            takes as long as the rest together where it has never run before (see CONTRIBUTING.md)
# LOWTIDE_TEST_DATA names a folder of data that may not be redistributed; tests that need it are
# skipped without it.
set -euo pipefail
cd "$(dirname "$0")/.."

all_parts=(format unit python e2e asan tsan tidy)
parts=("$@")
case "${1:-}" in
  "") parts=(format unit python e2e asan tsan) ;;
  --quick) parts=(format unit python e2e) ;;
esac
for part in "${parts[@]}"; do
  if ! [[ " ${all_parts[*]} " == *" $part "* ]]; then
    sed -n '3,6s/^# *//p' "$0" >&2
    exit 2
  fi
done

if [ -z "${LOWTIDE_TEST_DATA:-}" ] && [ -d ../shared/data ]; then
  LOWTIDE_TEST_DATA=$(cd ../shared/data && pwd)
  export LOWTIDE_TEST_DATA
fi
scripts/setup.sh

python=/usr/bin/python3 # Debian's: the one that has pytest and scikit-learn
jobs=$(nproc)
results=build/results
rm -rf "$results"
mkdir -p "$results"
passed=0
failed=0
skipped=0

say() { printf '== %s (%d:%02d)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

# A step that is one test by itself.
single() {
  local name=$1
  shift
  if "$@" >"$results/$name.log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    tail -n 40 "$results/$name.log"
    echo "  failed: $name"
    return 1
  fi
}

add_junit() {
  local summary
  if ! summary=$("$python" scripts/junit_summary.py "$1"); then
    failed=$((failed + 1))
    echo "  failed: no result in $1"
    return
  fi
  head -n -1 <<<"$summary"
  local p f s
  read -r p f s < <(tail -n 1 <<<"$summary")
  printf '  %d passed, %d failed, %d skipped here\n' "$p" "$f" "$s"
  passed=$((passed + p))
  failed=$((failed + f))
  skipped=$((skipped + s))
}

# build PRESET TARGET: the compiler's own messages are shown when it fails.
build() {
  local preset=$1 target=$2
  single "build-$preset" bash -euc "cmake --preset $preset -DLOWTIDE_TESTS=ON && cmake --build --preset $preset -j $jobs --target $target"
}

# run_ctest PRESET [ctest option...]
run_ctest() {
  local preset=$1
  shift
  local junit=$PWD/$results/$preset.xml
  if ! "${in_front[@]}" ctest --test-dir "build/$preset" -j "$jobs" --schedule-random --output-on-failure \
    --no-tests=error --output-junit "$junit" "$@" >"$results/$preset.log" 2>&1; then
    sed -n '/\*\*\*/,$p' "$results/$preset.log" | head -n 120
  fi
  add_junit "$junit"
}
in_front=()

format() {
  say "formatting"
  local files
  files=$(find src apps include tests bench examples python \( -name '*.cc' -o -name '*.h' \) -print 2>/dev/null)
  # shellcheck disable=SC2086  # our file names have no spaces
  single format clang-format-19 --dry-run --Werror $files || true
}

unit() {
  say "build and tests"
  build dev all && run_ctest dev
}

python() {
  say "Python"
  [ -d python/tests ] || return 0
  local junit=$results/pytest.xml
  "$python" -m pytest -q -p no:cacheprovider --junitxml="$junit" >"$results/pytest.log" 2>&1 ||
    tail -n 60 "$results/pytest.log"
  add_junit "$junit"
}

# The whole program, with real child processes and the fake NVML library.
e2e() {
  say "end to end"
  local junit=$results/e2e.xml
  LOWTIDE_BUILD=build/dev "$python" -m pytest -q -p no:cacheprovider --junitxml="$junit" tests/e2e >"$results/e2e.log" 2>&1 ||
    tail -n 80 "$results/e2e.log"
  add_junit "$junit"
}

tidy() {
  say "clang-tidy"
  single tidy scripts/tidy.sh || true
}

asan() {
  say "AddressSanitizer and UndefinedBehaviorSanitizer"
  export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
  export UBSAN_OPTIONS=print_stacktrace=1
  build asan-ubsan all && run_ctest asan-ubsan
}

tsan() {
  say "ThreadSanitizer, over the tests that start threads"
  # It needs the address space laid out as it expects.
  if setarch "$(uname -m)" -R true 2>/dev/null; then in_front=(setarch "$(uname -m)" -R); fi
  build tsan thread_tests && run_ctest tsan -L threads
  in_front=()
}

for part in "${parts[@]}"; do "$part" || true; done

say "done"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
