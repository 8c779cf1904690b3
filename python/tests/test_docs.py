"""What the documentation and the examples show works."""

import json
import os
import re
import subprocess
import sys
import types

import pytest

import lowtide

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def text_of(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def test_the_session_of_the_reference_is_true(server):
    """Each line of the client gets the answer that the page shows, delays and id aside."""
    import socket

    page = text_of("docs", "reference", "marks.md")
    session = re.search(r"```\n(> .*?)```", page, re.S).group(1).splitlines()
    pairs = list(zip(session[0::2], session[1::2]))
    assert len(pairs) == 11
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(server.path)
        with connection.makefile("rwb") as file:
            for asked, shown in pairs:
                assert (asked[:2], shown[:2]) == ("> ", "< ")
                file.write(asked[2:].encode() + b"\n")
                file.flush()
                answer, expected = json.loads(file.readline()), json.loads(shown[2:])
                for key in ("delay_s", "run_id"):
                    answer.pop(key, None)
                    expected.pop(key, None)
                assert answer == expected


def trainer_callback(monkeypatch):
    page = text_of("docs", "tutorials", "mark-your-training.md")
    (code,) = [
        block
        for block in re.findall(r"```python\n(.*?)```", page, re.S)
        if "class LowtideCallback" in block
    ]
    stand_in = types.ModuleType("transformers")
    stand_in.TrainerCallback = object
    monkeypatch.setitem(sys.modules, "transformers", stand_in)
    names = {}
    exec(code, names)
    return names["LowtideCallback"]()


@pytest.mark.parametrize("resumed", [0, 1])
def test_the_trainer_callback(server, monkeypatch, resumed):
    """With the events of a Trainer: 2 epochs of 2 steps, an evaluation after each."""
    callback = trainer_callback(monkeypatch)
    state = types.SimpleNamespace(
        epoch=resumed * 0.9999999999, global_step=2 * resumed, num_train_epochs=2
    )
    callback.on_train_begin(None, state, None)
    for epoch in range(resumed, 2):
        callback.on_epoch_begin(None, state, None)
        for step in range(2):
            state.global_step += 1
            state.epoch = epoch + (step + 0.9) / 2  # some versions stop short of the whole
            callback.on_step_end(None, state, None)
        callback.on_epoch_end(None, state, None)
        callback.on_log(None, state, None, logs={"eval_loss": 0.5, "epoch": epoch + 1})
    callback.on_log(None, state, None, logs={"train_runtime": 3.0})
    expected = []
    for epoch in range(resumed, 2):
        expected += [
            {"mark": "epoch_begin", "epoch": epoch, "total_epochs": 2},
            {"mark": "step", "count": 1},
            {"mark": "step", "count": 1},
            {"mark": "epoch_end", "epoch": epoch},
            {"mark": "metrics", "metrics": {"eval_loss": 0.5, "epoch": epoch + 1.0}},
        ]
    expected.append({"mark": "metrics", "metrics": {"train_runtime": 3.0}})
    assert [mark for mark in server.counted if mark["mark"] != "hello"] == expected
    assert server.refusals == []


def environment(server=None):
    package = os.path.dirname(os.path.dirname(os.path.abspath(lowtide.__file__)))
    result = dict(os.environ, PYTHONPATH=package, OPENBLAS_NUM_THREADS="1")
    result.pop("LOWTIDE_SOCKET", None)
    if server is not None:
        result["LOWTIDE_SOCKET"] = server.path
    return result


DIGITS = [
    sys.executable,
    os.path.join(ROOT, "examples", "digits.py"),
    "--epochs",
    "3",
    "--work",
    "4",
]


def test_the_digits_example_learns_and_marks(server):
    pytest.importorskip("sklearn")
    done = subprocess.run(DIGITS, env=environment(server), stdout=subprocess.PIPE, timeout=110)
    assert done.returncode == 0
    assert server.refusals == []
    names = server.names()
    assert names[0] == "batch_size"
    assert names.count("epoch_begin") == names.count("epoch_end") == 3
    assert names.count("step") == 3 * 90
    metrics = [mark["metrics"] for _, mark in server.marks if mark["mark"] == "metrics"]
    assert metrics[2]["accuracy"] > metrics[0]["accuracy"]
    assert metrics[2]["accuracy"] > 0.7
    assert metrics[2]["loss"] < metrics[0]["loss"]
    assert b"epoch  2: loss" in done.stdout


def test_the_digits_example_runs_without_a_run_and_obeys_the_batch_size():
    pytest.importorskip("sklearn")
    done = subprocess.run(
        DIGITS[:2] + ["--epochs", "1", "--work", "1"],
        env=dict(environment(), LOWTIDE_BATCH_SIZE="5000"),  # more than there are
        stdout=subprocess.PIPE,
        timeout=110,
    )
    assert done.returncode == 0
    assert done.stdout.count(b"epoch") == 1
    bad = subprocess.run(
        DIGITS[:2] + ["--work", "0"], env=environment(), stderr=subprocess.PIPE, timeout=110
    )
    assert bad.returncode == 2
    assert b"must be 1 or more" in bad.stderr
