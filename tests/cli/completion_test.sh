#!/usr/bin/env bash
# usage: completion_test.sh LOWTIDE [BASH_SCRIPT]
# What bash offers at the end of a line, with the script that the program prints or the one given;
# and, where zsh and fish are there, that they can read theirs.
set -euo pipefail
lowtide=$1
export PATH=$(dirname "$lowtide"):$PATH
if [ -n "${2:-}" ]; then source "$2"; else source <("$lowtide" completion bash); fi
failed=0

# offered WORD... : the words that complete the last one, sorted, in one line.
offered() {
  COMP_WORDS=("$@")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  set +u # as in an interactive shell
  _lowtide
  set -u
  printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '
}

expect() {
  local want=$1
  shift
  local got
  got=$(offered "$@")
  if [ "$got" != "$want" ]; then
    echo "completing '$*': offered '$got', not '$want'"
    failed=1
  fi
}

expect_among() {
  local want=$1
  shift
  local got
  got=$(offered "$@")
  if [[ " $got" != *" $want "* ]]; then
    echo "completing '$*': offered '$got', without '$want'"
    failed=1
  fi
}

cd "$(mktemp -d)"
touch report.json
expect "run runs " lowtide run
expect "list " lowtide runs li
expect "score " lowtide forecast sc
expect "--name " lowtide runs list --na
expect "--name " lowtide run --json --na
expect "--log-format --log-level " lowtide runs show --log
expect "codecarbon json " lowtide runs export --format ""
expect "codecarbon " lowtide runs export --format c
expect "codecarbon " lowtide runs export --format = c
expect "codecarbon json " lowtide runs export --format =
expect "report.json " lowtide run --json-report re
expect "chase fixed: none zeus " lowtide run --policy ""
expect "bash fish zsh " lowtide completion ""
expect "report.json " lowtide run -- ./script re
expect_among "sh" lowtide run --zone DE -- s
expect " " lowtide run --name ""
# Every verb of the program's own help.
for verb in $("$lowtide" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'); do
  expect_among "$verb" lowtide "$verb"
done

if command -v zsh >/dev/null; then "$lowtide" completion zsh | zsh -n; fi
if command -v fish >/dev/null; then "$lowtide" completion fish | fish --no-execute; fi
exit $failed
