"""Lowtide stuck, gone or strange: the training goes on, at most two seconds later."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import lowtide
from lowtide import _client


class Elapsed:
    def __enter__(self):
        self._start = time.monotonic()
        return self

    def __exit__(self, *_):
        self.s = time.monotonic() - self._start


def test_active(server):
    assert lowtide.active()
    lowtide.step()
    assert lowtide.active()
    server.close()
    lowtide.step()
    assert not lowtide.active()


def test_nobody_listens(socket_path, monkeypatch, capfd):
    monkeypatch.setenv("LOWTIDE_SOCKET", socket_path)
    with Elapsed() as elapsed:
        for _ in lowtide.epochs(3):
            lowtide.step()
    assert elapsed.s < 0.5
    assert not lowtide.active()
    assert capfd.readouterr() == ("", "")


def test_a_path_that_no_socket_can_have(monkeypatch):
    monkeypatch.setenv("LOWTIDE_SOCKET", "/" + "x" * 500)
    lowtide.step()
    assert not lowtide.active()


def test_stuck_at_once(server, monkeypatch, capfd):
    server.mute = True
    monkeypatch.setenv("LOWTIDE_DEBUG", "1")
    monkeypatch.setattr(_client, "BUDGET_S", 0.3)
    with Elapsed() as elapsed:
        for _ in range(100):
            lowtide.step()
    assert 0.25 < elapsed.s < 1.5
    assert capfd.readouterr().err.count("\n") == 1


def test_the_budget_is_two_seconds():
    assert _client.BUDGET_S == 2.0


def test_slow_answers_use_up_the_budget(server, monkeypatch):
    monkeypatch.setattr(_client, "BUDGET_S", 0.3)

    def slowly(mark):
        time.sleep(0.1)
        return b'{"ok":true}\n'

    server.script = slowly
    with Elapsed() as elapsed:
        for _ in range(50):
            lowtide.step()
    assert elapsed.s < 1.5
    assert not lowtide.active()


def test_hiccups_of_a_long_training_do_not_end_its_marks(server, monkeypatch):
    monkeypatch.setattr(_client, "BUDGET_S", 0.1)

    def slowly(mark):
        time.sleep(0.05)
        return b'{"ok":true}\n'

    server.script = slowly
    for _ in range(10):
        lowtide.step()
        _client.current()._refilled_at -= 10  # ten seconds of training
    assert lowtide.active()


def test_a_full_queue_is_waited_for_but_not_long(socket_path, monkeypatch):
    monkeypatch.setenv("LOWTIDE_SOCKET", socket_path)
    monkeypatch.setattr(_client, "BUDGET_S", 0.3)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(socket_path)
    listener.listen(0)
    waiting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    waiting.connect(socket_path)
    with Elapsed() as elapsed:
        lowtide.step()
    assert 0.2 < elapsed.s < 1.5
    assert not lowtide.active()
    waiting.close()
    listener.close()


@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"not json\n",
        b"[]\n",
        b"\xff\xfe\n",
        b"x" * 70000,
        b"[" * 60000 + b"\n",
    ],
)
def test_strange_answers_end_the_connection_silently(server, answer, capfd):
    server.script = lambda mark: answer
    lowtide.step()
    lowtide.step()
    assert not lowtide.active()
    assert server.names() == ["step"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "answer",
    [
        b'{"ok":true,"delay_s":"long"}\n',
        b'{"ok":true,"delay_s":-5}\n',
        b'{"ok":true,"delay_s":null}\n',
        b'{"ok":true,"delay_s":true}\n',
        b'{"ok":true,"delay_s":NaN}\n',
        b'{"ok":true,"pause":true,"later":{"delay_s":[50]}}\n',
        b'{"ok":false}\n',
    ],
)
def test_answers_of_other_versions_are_lived_with(server, answer):
    server.script = lambda mark: answer
    with Elapsed() as elapsed:
        lowtide.step()
        lowtide.step()
    assert elapsed.s < 0.5
    assert lowtide.active()
    assert server.names() == ["step", "step"]


def test_the_delay_is_slept_and_bounded(server, monkeypatch):
    slept = []
    monkeypatch.setattr(_client.time, "sleep", slept.append)
    server.delay_s = 0.0125
    lowtide.step()
    server.delay_s = 1e9
    lowtide.step()
    assert slept == [0.0125, 60.0]


def test_the_delay_is_real_and_not_charged(server, monkeypatch):
    monkeypatch.setattr(_client, "BUDGET_S", 0.2)
    server.delay_s = 0.05
    with Elapsed() as elapsed:
        for _ in range(10):
            lowtide.step()
    assert elapsed.s >= 0.5
    assert lowtide.active()


def test_a_refused_hello_ends_it(server, monkeypatch):
    monkeypatch.setattr(_client, "PROTOCOL", 2)
    lowtide.step()
    lowtide.step()
    assert not lowtide.active()
    assert server.connections == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_uses_its_own_connection(server):
    lowtide.step()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            lowtide.step(7)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    lowtide.step(2)
    steps = [(number, mark["count"]) for number, mark in server.marks if mark["mark"] == "step"]
    assert steps == [(1, 1), (2, 7), (1, 2)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_the_connection_is_in_use(server):
    """The child must not wait for a lock that only a thread of its parent could release."""
    inside = threading.Event()
    release = threading.Event()

    def hold(mark):
        if mark.get("count") == 99:
            inside.set()
            release.wait(5)
        return b'{"ok":true}\n'

    server.script = hold
    lowtide.step()
    thread = threading.Thread(target=lowtide.step, args=(99,))
    thread.start()
    assert inside.wait(5)
    pid = os.fork()
    if pid == 0:
        signal.alarm(5)  # kills a child that waits for ever
        client = _client.current()
        os._exit(0 if client._lock.acquire(timeout=1) and client._socket is None else 1)
    status = os.waitpid(pid, 0)[1]
    release.set()
    thread.join()
    assert status == 0
    lowtide.step(2)
    assert server.refusals == []


def test_ctrl_c_while_waiting_reaches_the_training(server):
    code = (
        "import lowtide, sys\n"
        "lowtide.step()\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    lowtide.step(99)\n"
        "except KeyboardInterrupt:\n"
        "    lowtide.step(2)\n"
        "    sys.exit(42)\n"
    )
    child = []

    def interrupt(mark):
        if mark["count"] == 99:
            os.kill(child[0].pid, signal.SIGINT)
            time.sleep(0.3)
        return b'{"ok":true}\n'

    server.script = interrupt
    child.append(subprocess.Popen([sys.executable, "-c", code], env=_environment(server)))
    assert child[0].wait(20) == 42
    assert [m["count"] for _, m in server.marks if m["mark"] == "step"] == [1, 99, 2]


def test_no_sigpipe(server):
    """A program that lets SIGPIPE kill it survives the end of the run."""
    code = (
        "import lowtide, signal, time\n"
        "signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
        "lowtide.step()\n"
        "for _ in range(20):\n"
        "    lowtide.step(99)\n"
        "print('unharmed')\n"
    )
    server.script = lambda mark: None if mark["count"] == 99 else b'{"ok":true}\n'
    done = subprocess.run(
        [sys.executable, "-c", code], env=_environment(server), stdout=subprocess.PIPE, timeout=20
    )
    assert (done.returncode, done.stdout) == (0, b"unharmed\n")


def test_importing_it_imports_nothing_else():
    code = (
        "import sys; before = set(sys.modules); import lowtide; lowtide.step();"
        "print(sorted(set(sys.modules) - before))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], env=_environment(), stdout=subprocess.PIPE, timeout=20
    ).stdout
    assert set(eval(out.decode())) <= {"lowtide", "__future__", "os"}


def _environment(server=None):
    package = os.path.dirname(os.path.dirname(os.path.abspath(lowtide.__file__)))
    environment = dict(os.environ, PYTHONPATH=package)
    environment.pop("LOWTIDE_SOCKET", None)
    if server is not None:
        environment["LOWTIDE_SOCKET"] = server.path
    return environment
