"""Tell Lowtide how a training goes: epochs, steps, metrics, batch size.

Under ``lowtide run -- python train.py`` these calls mark the progress of the run; anywhere else they
do nothing. They never raise on Lowtide's account and cost the training at most two seconds
in total if Lowtide is stuck or gone. Standard library only::

    import lowtide

    batch_size = lowtide.batch_size(128)
    for epoch in lowtide.epochs(range(12)):
        for batch in batches(batch_size):
            loss = train(batch)
            lowtide.step()
        lowtide.log(loss=loss, accuracy=validate())
"""

from __future__ import annotations

import os as _os

TYPE_CHECKING = False
if TYPE_CHECKING:  # what a type checker reads; at run time nothing more than this file is imported
    from typing import Iterable, Iterator, Mapping, Optional, TypeVar, Union, overload

    from ._client import Client

    _T = TypeVar("_T")

__all__ = [
    "active",
    "batch_size",
    "epoch_begin",
    "epoch_end",
    "epochs",
    "log",
    "step",
    "total_epochs",
]
__version__ = "0.1.0"


def _run() -> Client:
    from ._client import current

    return current()


def _inside() -> bool:
    # Outside a run not even the client module is loaded.
    return bool(_os.environ.get("LOWTIDE_SOCKET"))


def active() -> bool:
    """True inside a run whose marks still arrive (or have not been tried yet)."""
    return _inside() and bool(_run().active())


def epoch_begin(epoch: int, total: Optional[int] = None) -> None:
    """An epoch begins. ``total`` is one more than the highest epoch number that will be run."""
    if _inside():
        _run().epoch_begin(epoch, total)


def epoch_end(epoch: int, metrics: Optional[Mapping[str, object]] = None) -> None:
    """The epoch has ended, with these metrics (see :func:`log`)."""
    if _inside():
        _run().epoch_end(epoch, metrics)


def step(n: int = 1) -> None:
    """``n`` training steps have just been completed."""
    if _inside():
        _run().step(n)


def log(metrics: Optional[Mapping[str, object]] = None, /, **named: object) -> None:
    """Metrics of the epoch that is running (or, between epochs, of the one before).

    ``lowtide.log(loss=0.3)`` or ``lowtide.log({"val/loss": 0.3})``; the last value of a name counts.
    NumPy scalars and one-element tensors are converted (a tensor on a GPU is waited for), NaN and
    infinity are kept as "no number", anything else is left out.
    """
    if _inside():
        _run().metrics(metrics, named)


def total_epochs(n: int) -> None:
    """The training will have ``n`` epochs (see :func:`epoch_begin`)."""
    if _inside():
        _run().total_epochs(n)


def batch_size(default: int) -> int:
    """The batch size to train with: what Lowtide chose (``LOWTIDE_BATCH_SIZE``), else ``default``.

    Says it to the run too, whose profile of the job is kept per batch size.
    """
    size = default
    chosen = _os.environ.get("LOWTIDE_BATCH_SIZE", "")
    if chosen.isascii() and chosen.isdigit() and len(chosen) <= 10 and 0 < int(chosen) <= 1_000_000_000:
        size = int(chosen)
    if _inside():
        _run().batch_size(size)
    return size


if TYPE_CHECKING:

    @overload
    def epochs(what: int) -> Iterator[int]: ...
    @overload
    def epochs(what: Iterable[_T]) -> Iterator[_T]: ...


def epochs(what: Union[int, Iterable[_T]]) -> Iterator[Union[int, _T]]:
    """Iterates over ``what`` (``12`` means ``range(12)``) and marks each turn as an epoch.

    The numbers of a range with step 1 are the epochs' numbers, so a training that is resumed with
    ``epochs(range(5, 12))`` continues its count. Anything else is counted from 0, whatever it holds:
    ``epochs([1, 2, 5])`` gives 1, 2 and 5 and marks epochs 0, 1 and 2 of 3. An epoch ends with its
    turn, also when the loop is left by ``break`` or an exception.
    """
    items = what if hasattr(what, "__iter__") or not hasattr(what, "__index__") else range(what)
    first, total = 0, None
    if isinstance(items, range) and items.step == 1 and items.start >= 0:
        first, total = items.start, items.stop
    else:
        try:
            total = len(items)
        except Exception:  # a generator, or something whose length is not known
            pass
    for number, item in enumerate(items, first):
        epoch_begin(number, total)
        try:
            yield item
        finally:
            epoch_end(number)
