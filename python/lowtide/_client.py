"""The connection of one process to its run; docs/reference/marks.md is the protocol.

Nothing here raises on Lowtide's account. Whatever goes wrong with the connection, the client gives
up for the rest of the process.
"""

from __future__ import annotations

import json
import math
import os
import socket
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Dict, List, Mapping, Optional, Set, Tuple

PROTOCOL = 1
MAX_LINE_BYTES = 64 * 1024  # with its newline
MAX_METRICS = 256
MAX_NAME_BYTES = 128
MAX_NUMBER = 1_000_000_000
MAX_RANK = 1_000_000
MAX_DELAY_S = 60.0
# What all waits for Lowtide may cost this process. A healthy answer takes well under a millisecond;
# only what goes beyond the grace is charged.
BUDGET_S = 2.0
GRACE_S = 0.02
# What is used up comes back as time passes, so that a month of small hiccups does not end the marks:
# beside the budget they may cost this share of the time.
REFILL_SHARE = 0.01
_NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)

# Set by torchrun, Open MPI, MPICH and Intel MPI, Slurm.
_LOCAL_RANK_VARIABLES = (
    "LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "SLURM_LOCALID",
)
_RANK_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")


class Lost(Exception):
    """Lowtide is gone, stuck, or does not speak the protocol."""


def _rank(variables: Tuple[str, ...]) -> Optional[int]:
    for name in variables:
        text = os.environ.get(name, "")
        if text.isascii() and text.isdigit() and len(text) <= 7 and int(text) <= MAX_RANK:
            return int(text)
    return None


def _integer(value: object, low: int) -> Optional[int]:
    """``value`` as a plain int within the protocol's bounds; also of NumPy's integers."""
    try:
        number = int(value)  # type: ignore[call-overload]
        exact = bool(number == value)
    except Exception:
        return None
    return number if exact and low <= number <= MAX_NUMBER else None


def _number(value: object) -> Optional[float]:
    """``value`` as a float, perhaps NaN; None when it is not a number."""
    try:
        item = getattr(value, "item", None)
        if callable(item):
            value = item()
        if value is None or isinstance(value, (str, bytes, bytearray, complex)):
            return None
        return float(value)  # type: ignore[arg-type]
    except Exception:
        return None


def _name_bytes(name: object) -> int:
    """Length of a metric's name in UTF-8; 0 when the protocol does not allow it."""
    if not isinstance(name, str):
        return 0
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return 0
    if size > MAX_NAME_BYTES or any(ch < " " or ch == "\x7f" for ch in name):
        return 0
    return size


def _metrics(
    metrics: object, named: Mapping[str, object], left_out: Callable[[object, str], None]
) -> Dict[str, Optional[float]]:
    """What of the metrics can be sent, as it is sent; fits into a line. ``left_out`` is told of the rest."""
    sent: Dict[str, Optional[float]] = {}
    room = MAX_LINE_BYTES - 256  # for the rest of the mark
    try:
        together = dict(metrics or {}, **named)  # type: ignore[call-overload]
    except Exception:
        left_out("metrics", "not a mapping of names to numbers, left out")
        together = dict(named)
    for name, value in together.items():
        number = _number(value)
        size = _name_bytes(name)
        if size == 0:
            left_out(name, "a name has 1 to %d bytes without control characters, left out" % MAX_NAME_BYTES)
            continue
        if number is None:
            left_out(name, "not a number, left out")
            continue
        room -= 2 * size + 32  # each byte escaped at worst; punctuation and 24 digits
        if room < 0 or len(sent) == MAX_METRICS:
            left_out(name, "left out with what follows: a mark has at most %d metrics" % MAX_METRICS)
            break
        if not math.isfinite(number):
            left_out(name, "not finite, kept without a number")
        sent[name] = number if math.isfinite(number) else None
    return sent


class Client:
    """Thread-safe. Belongs to the process that made it: see :func:`current`."""

    def __init__(self, path: str) -> None:
        self.pid = os.getpid()
        self._path = path
        self._lock = threading.Lock()
        self._socket: Optional[socket.socket] = None
        self._received = b""
        self._budget_s = BUDGET_S
        self._refilled_at = time.monotonic()
        self._lost = not path
        self._told: Set[str] = set()

    def active(self) -> bool:
        return not self._lost

    def epoch_begin(self, epoch: object, total: object = None) -> None:
        fields: Dict[str, object] = {"epoch": _integer(epoch, 0)}
        if total is not None and _integer(total, 1) is not None:
            fields["total_epochs"] = _integer(total, 1)
        self._mark("epoch_begin", fields)

    def epoch_end(self, epoch: object, metrics: object) -> None:
        fields: Dict[str, object] = {"epoch": _integer(epoch, 0)}
        sent = _metrics(metrics, {}, self._left_out)
        if sent:
            fields["metrics"] = sent
        self._mark("epoch_end", fields)

    def step(self, count: object) -> None:
        self._mark("step", {"count": _integer(count, 1)})

    def metrics(self, metrics: object, named: Mapping[str, object]) -> None:
        sent = _metrics(metrics, named, self._left_out)
        if sent:
            self._mark("metrics", {"metrics": sent})

    def total_epochs(self, value: object) -> None:
        self._mark("total_epochs", {"value": _integer(value, 1)})

    def batch_size(self, value: object) -> None:
        self._mark("batch_size", {"value": _integer(value, 1)})

    def abandon(self) -> None:
        """Closes this process's copy of the connection without touching the other copies."""
        self._lost = True
        self._hang_up()

    def _left_out(self, name: object, why: str) -> None:
        """Says it once for each name, and of so many names only."""
        if not _debugging():
            return
        shown = repr(name[:80]) if isinstance(name, str) else "of type " + type(name).__name__
        if shown not in self._told and len(self._told) < 64:
            self._told.add(shown)
            _debug("metric %s: %s" % (shown, why))

    def _mark(self, name: str, fields: Dict[str, object]) -> None:
        """Sends one mark, then waits as long as the reply asks."""
        if self._lost:
            return
        if None in fields.values():
            _debug("%s: not a number that can be marked, left out" % name)
            return
        delay_s = 0.0
        try:
            with self._lock:
                delay_s = self._exchange(dict({"mark": name}, **fields))
        except (Lost, OSError, ValueError, RecursionError, MemoryError) as error:
            if not self._lost:
                self._lost = True
                _debug("no more marks from process %d: %s" % (self.pid, error))
        if delay_s > 0:
            time.sleep(delay_s)

    def _exchange(self, mark: Dict[str, object]) -> float:
        """One line there, one line back; returns the delay that the reply asks for."""
        if self._lost:
            return 0.0
        try:
            if self._socket is None:
                self._connect()
            reply = self._ask(mark)
        except BaseException:
            # After Ctrl-C too: a reply is outstanding, so the next mark needs a new connection.
            self._hang_up()
            raise
        if reply.get("ok") is not True:
            _debug("%s was refused: %s" % (mark["mark"], reply.get("error")))
            return 0.0
        delay_s = reply.get("delay_s", 0)
        if isinstance(delay_s, bool) or not isinstance(delay_s, (int, float)):
            return 0.0
        return min(float(delay_s), MAX_DELAY_S) if delay_s > 0 else 0.0

    def _connect(self) -> None:
        self._received = b""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        started = time.monotonic()
        while True:
            self._socket.settimeout(self._left(started))
            try:
                self._socket.connect(self._path)
                break
            except BlockingIOError:  # its queue is full for the moment
                time.sleep(0.005)
        self._charge(started)
        hello: Dict[str, object] = {
            "mark": "hello",
            "protocol": PROTOCOL,
            "client": "python/" + _version(),
            "pid": self.pid,
            "rank": _rank(_RANK_VARIABLES),
            "local_rank": _rank(_LOCAL_RANK_VARIABLES),
        }
        reply = self._ask(hello)
        if reply.get("ok") is not True:
            raise Lost("hello was refused: %s" % reply.get("error"))

    def _ask(self, mark: Dict[str, object]) -> Dict[str, object]:
        assert self._socket is not None
        line = json.dumps(mark, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        started = time.monotonic()
        self._refill(started)
        self._socket.settimeout(self._left(started))
        self._socket.sendall(line.encode("utf-8") + b"\n", _NO_SIGNAL)
        while b"\n" not in self._received:
            if len(self._received) >= MAX_LINE_BYTES:
                raise Lost("a reply is longer than %d bytes" % MAX_LINE_BYTES)
            self._socket.settimeout(self._left(started))
            chunk = self._socket.recv(4096)
            if not chunk:
                raise Lost("the run has closed the connection")
            self._received += chunk
        self._charge(started)
        text, _, self._received = self._received.partition(b"\n")
        reply = json.loads(text.decode("utf-8"))
        if not isinstance(reply, dict):
            raise Lost("a reply is not a JSON object")
        return reply

    def _left(self, started: float) -> float:
        """Seconds that a wait begun at ``started`` may still take."""
        left = self._budget_s - (time.monotonic() - started)
        if left <= 0:
            raise Lost("no answer in time")
        return left

    def _refill(self, now: float) -> None:
        passed, self._refilled_at = now - self._refilled_at, now
        self._budget_s = min(BUDGET_S, self._budget_s + REFILL_SHARE * max(0.0, passed))

    def _charge(self, started: float) -> None:
        self._budget_s -= max(0.0, time.monotonic() - started - GRACE_S)

    def _hang_up(self) -> None:
        connection, self._socket = self._socket, None
        if connection is not None:
            try:
                connection.close()
            except OSError:
                pass


def _version() -> str:
    from . import __version__

    return __version__


def _debugging() -> bool:
    return bool(os.environ.get("LOWTIDE_DEBUG"))


def _debug(message: str) -> None:
    if _debugging():
        try:
            print("lowtide: " + message, file=sys.stderr)
        except Exception:
            pass


_current: List[Client] = []


def current() -> Client:
    """This process's client; a forked child gets its own and leaves its parent's alone."""
    if _current and _current[0].pid == os.getpid():
        return _current[0]
    return _renew()


def _renew() -> Client:
    client = Client(os.environ.get("LOWTIDE_SOCKET", ""))
    previous, _current[:] = _current[:], [client]
    for old in previous:
        old.abandon()
    return client


def _after_fork() -> None:
    # Here the child has one thread, so two threads cannot race for its client.
    if _current:
        _renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
