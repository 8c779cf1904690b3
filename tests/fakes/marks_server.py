"""A marks server for tests of clients, as strict as the real one (docs/reference/marks.md).

It refuses what the real one refuses, and it records every line and every reply. Its behaviour can be
bent: a delay in the replies, silence, a hang-up, garbage.
"""

import json
import math
import os
import socket
import threading

MAX_LINE_BYTES = 64 * 1024
MAX_METRICS = 256
MAX_NAME_BYTES = 128
MAX_NUMBER = 1_000_000_000
MAX_RANK = 1_000_000


class Refused(Exception):
    pass


def _unique(pairs):
    result = {}
    for key, value in pairs:
        if key in result:
            raise Refused("%s is there twice" % key)
        result[key] = value
    return result


def _constant(text):
    raise Refused("not one JSON object: %s" % text)


def _integer(mark, key, low, high=MAX_NUMBER, optional=False):
    value = mark.get(key)
    if value is None and optional:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise Refused("%s: %s must be an integer from %d to %d" % (mark["mark"], key, low, high))
    return value


def _plain(name):
    size = len(name.encode("utf-8"))
    return 1 <= size <= MAX_NAME_BYTES and not any(ch < " " or ch == "\x7f" for ch in name)


def _check_metrics(metrics):
    if not isinstance(metrics, dict):
        raise Refused("metrics must be an object")
    if len(metrics) > MAX_METRICS:
        raise Refused("metrics: more than %d in one mark" % MAX_METRICS)
    for name, value in metrics.items():
        if not _plain(name):
            raise Refused("metrics: a name has 1 to %d bytes" % MAX_NAME_BYTES)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Refused("metrics: %r must be a number or null" % name)
        if not math.isfinite(value):
            raise Refused("metrics: %r must be finite" % name)


def parse(line):
    """The mark in one line (without its newline), or Refused."""
    if len(line) >= MAX_LINE_BYTES:
        raise Refused("a line has at most %d bytes with its newline" % MAX_LINE_BYTES)
    try:
        mark = json.loads(
            line.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_constant
        )
    except (UnicodeDecodeError, ValueError) as error:
        raise Refused("not one JSON object: %s" % error)
    if not isinstance(mark, dict):
        raise Refused("a mark is a JSON object")
    kind = mark.get("mark")
    if kind == "hello":
        if _integer(mark, "protocol", 0) != 1:
            raise Refused("hello: only protocol 1 is spoken here")
        client = mark.get("client")
        if client is not None and not (isinstance(client, str) and _plain(client)):
            raise Refused("hello: client must be a text of 1 to %d bytes" % MAX_NAME_BYTES)
        _integer(mark, "pid", 1, 2**31 - 1, optional=True)
        _integer(mark, "rank", 0, MAX_RANK, optional=True)
        _integer(mark, "local_rank", 0, MAX_RANK, optional=True)
    elif kind == "epoch_begin":
        _integer(mark, "epoch", 0)
        _integer(mark, "total_epochs", 1, optional=True)
    elif kind == "epoch_end":
        _integer(mark, "epoch", 0)
        if mark.get("metrics") is not None:
            _check_metrics(mark["metrics"])
    elif kind == "step":
        _integer(mark, "count", 1)
    elif kind == "metrics":
        if mark.get("metrics") is None:
            raise Refused("metrics: metrics is missing")
        _check_metrics(mark["metrics"])
    elif kind in ("total_epochs", "batch_size"):
        _integer(mark, "value", 1)
    else:
        raise Refused("unknown mark %r" % (kind,))
    return mark


class Rules:
    """Which marks count, and in which order they may come."""

    def __init__(self):
        self.running = None
        self.any_epoch = False

    def judge(self, local_rank, mark):
        """True when the mark counts; raises Refused when it is out of order."""
        kind = mark["mark"]
        if kind == "hello":
            return True
        if local_rank:
            return False
        if kind == "epoch_begin":
            if self.running == mark["epoch"]:
                return False
            self.running, self.any_epoch = mark["epoch"], True
        elif kind == "epoch_end":
            if self.running is None:
                raise Refused(
                    "epoch_end for epoch %d, but no epoch is running" % mark["epoch"]
                )
            if self.running != mark["epoch"]:
                raise Refused(
                    "epoch_end for epoch %d, but epoch %d is running"
                    % (mark["epoch"], self.running)
                )
            self.running = None
        elif kind == "metrics" and not self.any_epoch:
            raise Refused("metrics, but no epoch has begun")
        return True


class MarksServer:
    """``with MarksServer(path) as server: ...``; set ``LOWTIDE_SOCKET`` to ``server.path``."""

    def __init__(self, path):
        self.path = str(path)
        self.lines = []  # (connection number, bytes without the newline)
        self.marks = []  # (connection number, mark): accepted, in the order of arrival
        self.counted = []  # the marks that belong to the accounting
        self.refusals = []  # texts
        self.connections = 0
        self.delay_s = None  # in each reply but hello's
        self.mute = False  # reads, never answers
        self.script = None  # callable(mark) -> bytes to answer instead, or None to hang up
        self._rules = Rules()
        self._lock = threading.Lock()
        self._peers = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(64)
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for endpoint in [self._listener] + self._peers:
            try:
                endpoint.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            endpoint.close()
        if os.path.exists(self.path):
            os.unlink(self.path)

    def names(self):
        """The names of the accepted marks without hello."""
        return [mark["mark"] for _, mark in self.marks if mark["mark"] != "hello"]

    def _accept(self):
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
                self._peers.append(peer)
                number = self.connections
            threading.Thread(target=self._serve, args=(number, peer), daemon=True).start()

    def _serve(self, number, peer):
        local_rank = None
        received = b""
        try:
            while True:
                while b"\n" not in received:
                    chunk = peer.recv(65536)
                    if not chunk:
                        return
                    received += chunk
                line, _, received = received.partition(b"\n")
                with self._lock:
                    self.lines.append((number, line))
                    reply, local_rank = self._answer(number, local_rank, line)
                if self.mute:
                    continue
                if reply is None:
                    peer.shutdown(socket.SHUT_RDWR)
                    return
                peer.sendall(reply)
        except OSError:
            return

    def _answer(self, number, local_rank, line):
        try:
            mark = parse(line)
            if mark["mark"] == "hello":
                local_rank = mark.get("local_rank")
            if self._rules.judge(local_rank, mark):
                self.counted.append(mark)
        except Refused as refusal:
            self.refusals.append(str(refusal))
            return self._line({"ok": False, "error": str(refusal)}), local_rank
        self.marks.append((number, mark))
        if self.script is not None and mark["mark"] != "hello":
            return self.script(mark), local_rank
        reply = {"ok": True}
        if mark["mark"] == "hello":
            reply.update(protocol=1, run_id="01TEST")
        elif self.delay_s is not None:
            reply["delay_s"] = self.delay_s
        return self._line(reply), local_rank

    @staticmethod
    def _line(reply):
        return json.dumps(reply).encode("utf-8") + b"\n"
