#!/usr/bin/env python3
"""Trains a neural network to read handwritten digits, marking its progress for Lowtide.

    lowtide run -- python3 examples/digits.py
    lowtide run -- python3 examples/digits.py --epochs 20 --batch-size 32 --work 4

The data are scikit-learn's 1797 scanned digits of 8 x 8 pixels: 1440 to train on, 357 kept back for
the accuracy. Each step trains on a batch and on copies of it shifted by up to a pixel, made anew
each time; --work says how many copies, and so how long a step takes. Runs without Lowtide too.
"""

import argparse
import sys
import time

import numpy
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

try:
    import lowtide
except ImportError:
    sys.exit("digits.py: run `pip install .` or put python/ on PYTHONPATH")

TRAINING = 1440
SIDE = 8
SHIFTS = [(1, 1), (0, 1), (2, 1), (1, 0), (1, 2)]  # in a frame one pixel wider; first: none


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more, not %d" % value)
    return value


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=positive, default=12, help="(default: 12)")
    parser.add_argument(
        "--batch-size",
        type=positive,
        default=16,
        help="digits per step, before copies, up to %d; LOWTIDE_BATCH_SIZE overrides it (default: 16)"
        % TRAINING,
    )
    parser.add_argument(
        "--work",
        type=positive,
        default=56,
        help="shifted copies per digit and step: an epoch's time grows with it (default: 56)",
    )
    parser.add_argument("--seed", type=int, default=1, help="of all randomness (default: 1)")
    return parser.parse_args()


def shifted(images, copies, random):
    """`copies` of each image, each shifted by -1, 0 or 1 pixels along both axes."""
    padded = numpy.pad(images.reshape(-1, SIDE, SIDE), ((0, 0), (1, 1), (1, 1)))
    result = numpy.empty((copies, len(images), SIDE * SIDE))
    for copy in result:
        row, column = SHIFTS[random.integers(len(SHIFTS))]
        copy[:] = padded[:, row : row + SIDE, column : column + SIDE].reshape(len(images), -1)
    return result.reshape(-1, SIDE * SIDE)


def main():
    options = arguments()
    batch_size = min(lowtide.batch_size(options.batch_size), TRAINING)
    random = numpy.random.default_rng(options.seed)

    images, digits = load_digits(return_X_y=True)
    images = images / 16.0
    order = random.permutation(len(images))
    training, validation = order[:TRAINING], order[TRAINING:]

    model = MLPClassifier(
        hidden_layer_sizes=(128,),
        batch_size=batch_size * options.work,
        learning_rate_init=2e-3,
        random_state=options.seed,
    )
    steps = TRAINING // batch_size
    for epoch in lowtide.epochs(range(options.epochs)):
        started = time.monotonic()
        order = random.permutation(training)
        loss = 0.0
        for step in range(steps):
            batch = order[step * batch_size : (step + 1) * batch_size]
            model.partial_fit(
                shifted(images[batch], options.work, random),
                numpy.tile(digits[batch], options.work),
                classes=numpy.arange(10),
            )
            loss += model.loss_ / steps
            lowtide.step()
        accuracy = model.score(images[validation], digits[validation])
        lowtide.log(loss=loss, accuracy=accuracy)
        print(
            "epoch %2d: loss %.4f, accuracy %.4f, %.1f s"
            % (epoch, loss, accuracy, time.monotonic() - started),
            flush=True,
        )


if __name__ == "__main__":
    main()
