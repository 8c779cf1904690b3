"""What the package sends, to a server as strict as the real one."""

import json
import math
import os
import threading

import pytest

import lowtide


def sent(server):
    return [mark for _, mark in server.marks if mark["mark"] != "hello"]


def test_a_training_loop(server):
    for epoch in lowtide.epochs(range(2)):
        lowtide.step()
        lowtide.step(3)
        lowtide.log(loss=0.5 - epoch / 4, accuracy=1)
    assert sent(server) == [
        {"mark": "epoch_begin", "epoch": 0, "total_epochs": 2},
        {"mark": "step", "count": 1},
        {"mark": "step", "count": 3},
        {"mark": "metrics", "metrics": {"loss": 0.5, "accuracy": 1.0}},
        {"mark": "epoch_end", "epoch": 0},
        {"mark": "epoch_begin", "epoch": 1, "total_epochs": 2},
        {"mark": "step", "count": 1},
        {"mark": "step", "count": 3},
        {"mark": "metrics", "metrics": {"loss": 0.25, "accuracy": 1.0}},
        {"mark": "epoch_end", "epoch": 1},
    ]
    assert server.connections == 1
    assert server.refusals == []
    assert server.marks[0][1] == {
        "mark": "hello",
        "protocol": 1,
        "client": "python/" + lowtide.__version__,
        "pid": os.getpid(),
        "rank": None,
        "local_rank": None,
    }


@pytest.mark.parametrize(
    "what, items, numbers, total",
    [
        (3, [0, 1, 2], [0, 1, 2], 3),
        (range(5, 8), [5, 6, 7], [5, 6, 7], 8),
        (range(1, 3), [1, 2], [1, 2], 3),
        (range(0, 10, 5), [0, 5], [0, 1], 2),
        (range(-1, 1), [-1, 0], [0, 1], 2),
        (["a", "b"], ["a", "b"], [0, 1], 2),
        ((name for name in "xy"), ["x", "y"], [0, 1], None),
    ],
)
def test_epochs_numbers_and_totals(server, what, items, numbers, total):
    assert list(lowtide.epochs(what)) == items
    begins = [mark for mark in sent(server) if mark["mark"] == "epoch_begin"]
    assert [mark["epoch"] for mark in begins] == numbers
    assert {mark.get("total_epochs") for mark in begins} == {total}
    ends = [mark["epoch"] for mark in sent(server) if mark["mark"] == "epoch_end"]
    assert ends == numbers


def test_epochs_of_nothing_sends_nothing(server):
    assert list(lowtide.epochs(0)) == []
    assert list(lowtide.epochs([])) == []
    assert sent(server) == []


def test_break_ends_the_epoch(server):
    for epoch in lowtide.epochs(10):
        if epoch == 1:
            break
    assert server.names() == ["epoch_begin", "epoch_end"] * 2


def test_an_exception_ends_the_epoch_and_passes_through(server):
    with pytest.raises(KeyError):
        for _ in lowtide.epochs(10):
            raise KeyError("theirs")
    assert server.names() == ["epoch_begin", "epoch_end"]


def test_epochs_by_hand(server):
    lowtide.total_epochs(4)
    lowtide.epoch_begin(3, total=4)
    lowtide.epoch_end(3, {"val/loss": 0.1})
    assert sent(server) == [
        {"mark": "total_epochs", "value": 4},
        {"mark": "epoch_begin", "epoch": 3, "total_epochs": 4},
        {"mark": "epoch_end", "epoch": 3, "metrics": {"val/loss": 0.1}},
    ]


class Scalar:
    """Like a NumPy scalar or a one-element tensor."""

    def __init__(self, value):
        self.value = value

    def item(self):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


def test_metrics_of_all_kinds(server):
    from decimal import Decimal
    from fractions import Fraction

    lowtide.epoch_begin(0)
    lowtide.log(
        {"val/loss": 0.5, 7: 1.0, "": 1.0, "new\nline": 1.0, "\ud800": 1.0},
        nan=math.nan,
        inf=-math.inf,
        scalar=Scalar(0.25),
        count=Scalar(3),
        vector=Scalar(ValueError("more than one element")),
        nested=Scalar("text"),
        text="0.3",
        nothing=None,
        decimal=Decimal("1.5"),
        fraction=Fraction(1, 4),
        flag=True,
        huge=10**400,
        complex=1j,
    )
    assert sent(server)[1]["metrics"] == {
        "val/loss": 0.5,
        "nan": None,
        "inf": None,
        "scalar": 0.25,
        "count": 3.0,
        "decimal": 1.5,
        "fraction": 0.25,
        "flag": 1.0,
    }
    assert server.refusals == []


def test_numpy_values(server):
    numpy = pytest.importorskip("numpy")
    lowtide.epoch_begin(numpy.int64(2), numpy.int32(5))
    lowtide.log(a=numpy.float32(0.5), b=numpy.array([2.0]), c=numpy.array([1.0, 2.0]))
    lowtide.step(numpy.int64(4))
    assert list(lowtide.epochs(numpy.int64(1))) == [0]
    marks = sent(server)
    assert marks[0] == {"mark": "epoch_begin", "epoch": 2, "total_epochs": 5}
    assert marks[1]["metrics"] == {"a": 0.5, "b": 2.0}
    assert marks[2] == {"mark": "step", "count": 4}
    assert marks[3] == {"mark": "epoch_begin", "epoch": 0, "total_epochs": 1}


def test_many_and_long_metrics_fit_into_a_line(server):
    lowtide.epoch_begin(0)
    lowtide.log({"m%d" % i: i for i in range(1000)})
    lowtide.log({('"%03d' % i) + '"' * 124: 1 / 3 for i in range(1000)})
    lowtide.log({"\u00e9" * 64: 1.0, "\u00e9" * 65: 2.0})
    marks = sent(server)[1:]
    assert len(marks[0]["metrics"]) == 256
    assert 100 < len(marks[1]["metrics"]) <= 256
    assert marks[2]["metrics"] == {"\u00e9" * 64: 1.0}
    assert server.refusals == []
    assert max(len(line) for _, line in server.lines) < 64 * 1024


def test_metrics_that_are_left_out_are_said_once_to_those_who_debug(server, monkeypatch, capsys):
    class Odd:
        def __repr__(self):
            raise RuntimeError

    bad = {"loss": math.nan, "x" * 129: 1, "text": "high", 5: 1, Odd(): 1}
    lowtide.epoch_begin(0)
    lowtide.log(bad)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("LOWTIDE_DEBUG", "1")
    lowtide.log(bad)
    lowtide.log(bad)
    lowtide.log({"m%d" % i: i for i in range(300)})
    lowtide.log(7)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "lowtide: metric 'loss': not finite, kept without a number",
        "lowtide: metric '%s': a name has 1 to 128 bytes without control characters, left out" % ("x" * 80),
        "lowtide: metric 'text': not a number, left out",
        "lowtide: metric of type int: a name has 1 to 128 bytes without control characters, left out",
        "lowtide: metric of type Odd: a name has 1 to 128 bytes without control characters, left out",
        "lowtide: metric 'm256': left out with what follows: a mark has at most 256 metrics",
        "lowtide: metric 'metrics': not a mapping of names to numbers, left out",
    ]
    assert server.refusals == []


def test_what_cannot_be_marked_is_left_out(server):
    lowtide.step(0)
    lowtide.step(-1)
    lowtide.step(1.5)
    lowtide.step("x")
    lowtide.step(10**10)
    lowtide.epoch_begin(-1)
    lowtide.epoch_begin(0, total=0)
    lowtide.log(3)
    lowtide.log()
    lowtide.epoch_end(0, 3)
    assert sent(server) == [
        {"mark": "epoch_begin", "epoch": 0},
        {"mark": "epoch_end", "epoch": 0},
    ]
    assert server.refusals == []


def test_batch_size(server, monkeypatch):
    assert lowtide.batch_size(64) == 64
    monkeypatch.setenv("LOWTIDE_BATCH_SIZE", "128")
    assert lowtide.batch_size(64) == 128
    for bad in ["", "0", "-5", "many", "1.5", "9" * 5000, "\u0663"]:
        monkeypatch.setenv("LOWTIDE_BATCH_SIZE", bad)
        assert lowtide.batch_size(64) == 64
    assert [mark["value"] for mark in sent(server)] == [64, 128] + [64] * 7


def test_batch_size_is_chosen_outside_a_run_too(monkeypatch):
    monkeypatch.setenv("LOWTIDE_BATCH_SIZE", "32")
    assert lowtide.batch_size(64) == 32


@pytest.mark.parametrize(
    "variables, rank, local_rank",
    [
        ({"RANK": "9", "LOCAL_RANK": "1"}, 9, 1),
        ({"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_LOCAL_RANK": "2"}, 3, 2),
        ({"SLURM_PROCID": "4", "SLURM_LOCALID": "0"}, 4, 0),
        ({"LOCAL_RANK": "", "RANK": "-1"}, None, None),
        ({"LOCAL_RANK": "9" * 5000}, None, None),
    ],
)
def test_hello_says_the_rank(server, monkeypatch, variables, rank, local_rank):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    lowtide.step()
    hello = server.marks[0][1]
    assert (hello["rank"], hello["local_rank"]) == (rank, local_rank)


def test_threads_share_one_connection(server):
    def work():
        for _ in range(50):
            lowtide.step()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.connections == 1
    assert len(sent(server)) == 400
    for _, line in server.lines:
        json.loads(line.decode())


def test_a_refusal_does_not_end_the_connection(server, capsys, monkeypatch):
    lowtide.epoch_end(3)
    monkeypatch.setenv("LOWTIDE_DEBUG", "1")
    lowtide.epoch_end(3)
    lowtide.step()
    assert server.refusals == ["epoch_end for epoch 3, but no epoch is running"] * 2
    assert server.names() == ["step"]
    err = capsys.readouterr().err
    assert err == (
        "lowtide: epoch_end was refused: epoch_end for epoch 3, but no epoch is running\n"
    )


def test_outside_a_run_nothing_happens():
    assert not lowtide.active()
    assert list(lowtide.epochs(3)) == [0, 1, 2]
    lowtide.step()
    lowtide.log(loss=1)
    lowtide.epoch_begin(0)
    lowtide.epoch_end(0)
    lowtide.total_epochs(3)
    assert lowtide.batch_size(8) == 8
