#!/bin/sh
# A training in shell and awk that marks its progress for Lowtide:
#
#   lowtide run -- examples/shell_training.sh [EPOCHS]
#
# Fits y = a x + b to 200 noisy points of y = 2 x + 1 by gradient descent, one awk program per epoch. It also
# runs without Lowtide, and without `lowtide` on PATH.
set -eu

epochs=${1:-5}
steps_per_epoch=40
lowtide=${LOWTIDE:-lowtide}

mark() {
  if command -v "$lowtide" >/dev/null 2>&1; then "$lowtide" mark "$@"; fi
}

# epoch A B: trains one epoch, prints the new a, the new b and the mean squared error.
train() {
  awk -v a="$1" -v b="$2" -v steps="$steps_per_epoch" 'BEGIN {
    srand(1)
    for (i = 0; i < 200; i++) {
      x[i] = rand() * 2 - 1
      y[i] = 2 * x[i] + 1 + (rand() - 0.5) * 0.1
    }
    for (step = 0; step < steps; step++) {
      ga = gb = loss = 0
      for (i = 0; i < 200; i++) {
        error = a * x[i] + b - y[i]
        ga += 2 * error * x[i] / 200
        gb += 2 * error / 200
        loss += error * error / 200
      }
      a -= 0.05 * ga
      b -= 0.05 * gb
    }
    printf "%.6f %.6f %.6f\n", a, b, loss
  }'
}

a=0
b=0
epoch=0
mark batch-size 200
while [ "$epoch" -lt "$epochs" ]; do
  mark epoch-begin "$epoch" --total "$epochs"
  result=$(train "$a" "$b")
  a=${result%% *}
  rest=${result#* }
  b=${rest%% *}
  loss=${rest#* }
  mark step --count "$steps_per_epoch"
  mark epoch-end "$epoch" loss="$loss" a="$a" b="$b"
  echo "epoch $epoch: y = $a x + $b, loss $loss"
  epoch=$((epoch + 1))
done
