"""Surroundings that a long job meets one day: closed streams, full disks, locks, job control."""

import json
import os
import subprocess
import sys
import time

import pytest

ONE_GPU = {"gpus": [{"name": "NVIDIA A40", "demand": 290, "limit_mw": 280000, "idle_w": 30}]}


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "<&- >&- 2>&-"])
def test_no_standard_error_changes_nothing(lowtide, fake_gpus, redirection):
    gpus = fake_gpus(ONE_GPU)
    command = " ".join(lowtide.command("run", "--policy", "fixed:200", "--intensity", "400"))
    script = f"{command} -- sh -c 'sleep 0.3; exit 7' {redirection}"
    done = subprocess.run(["sh", "-c", script], env=lowtide.env, cwd=lowtide.folder, timeout=30)
    assert done.returncode == 7
    assert gpus.limits_w() == [280.0]
    assert lowtide.show()["exit_code"] == 7


def test_a_pipe_that_nobody_reads_any_more_changes_nothing(lowtide):
    read_end, write_end = os.pipe()
    process = lowtide.start(
        "run", "--intensity", "400", "--", "sh", "-c", "sleep 0.5; exit 7", stderr=write_end
    )
    os.close(write_end)
    os.close(read_end)
    assert process.wait(timeout=30) == 7
    assert lowtide.show()["state"] == "finished"


def test_closed_streams_are_closed_for_the_command_too(lowtide):
    seen = lowtide.folder / "seen"
    script = f"test -e /proc/self/fd/2 && echo open > {seen} || echo closed > {seen}"
    command = [*lowtide.command("run", "--quiet", "--"), "sh", "-c", script]
    subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *command], env=lowtide.env, cwd=lowtide.folder, timeout=30, check=True
    )
    assert seen.read_text() == "closed\n"


def test_a_service_without_home_keeps_its_runs_in_the_users_home(lowtide):
    del lowtide.env["HOME"], lowtide.env["LOWTIDE_STATE_DIR"]
    done = lowtide.call("doctor", "--json")
    home = os.path.expanduser(f"~{subprocess.check_output(['id', '-un'], text=True).strip()}")
    assert json.loads(done.stdout)["store"] == f"{home}/.local/state/lowtide/lowtide.db"


LOCK = """
import sqlite3, sys, time
store = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=10)
store.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(float(sys.argv[2]))
store.execute("COMMIT")
"""


def test_a_store_that_another_process_locks_holds_up_nothing_and_loses_nothing(lowtide, fake_gpus):
    fake_gpus(ONE_GPU)
    assert lowtide.call("run", "--", "true").returncode == 0  # makes the store
    script = lowtide.folder / "train.py"
    script.write_text(
        "import lowtide, time\n"
        "worst = 0\n"
        "for epoch in lowtide.epochs(range(5)):\n"
        "    for step in range(10):\n"
        "        time.sleep(0.1)\n"
        "        begun = time.monotonic(); lowtide.step(); worst = max(worst, time.monotonic() - begun)\n"
        "print(worst)\n"
    )
    path = lowtide.folder / "report.json"
    run = lowtide.start(
        "run", "--json-report", path, "--", sys.executable, script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(1)
    lock = subprocess.Popen([sys.executable, "-c", LOCK, str(lowtide.state / "lowtide.db"), "3"])
    out, err = run.communicate(timeout=60)
    lock.wait()
    assert run.returncode == 0
    assert float(out) < 0.5
    assert "locked" in err
    report = json.loads(path.read_text())
    assert len(report["epochs"]) == 5
    kept = lowtide.show()
    assert kept["state"] == "finished"
    assert kept["energy_kwh"] == report["energy_kwh"]
    assert len(kept["epochs"]) == 5


def test_a_report_to_a_device_or_a_link_replaces_neither(lowtide):
    fifo, real, link = (lowtide.folder / name for name in ("fifo", "real.json", "link.json"))
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    real.touch()
    link.symlink_to(real)
    done = lowtide.call("run", "-q", "--json-report", fifo, "--html-report", link, "--", "true")
    assert done.returncode == 0
    assert json.loads(os.read(reader, 65536))["exit_code"] == 0
    os.close(reader)
    assert fifo.is_fifo() and link.is_symlink() and "<html" in real.read_text()
    assert lowtide.call("runs", "report", "last", "--html", "/dev/stdout").stdout.startswith("<!")


def test_a_report_that_cannot_be_written_is_known_before_the_command_starts(lowtide):
    ran = lowtide.folder / "ran"
    done = lowtide.call("run", "--json-report", "missing/report.json", "--", "touch", ran)
    assert done.returncode == 2
    assert "--json-report" in done.stderr and "missing/report.json" in done.stderr
    assert not ran.exists()


def test_a_command_that_trains_several_times_keeps_all_its_epochs(lowtide, fake_gpus):
    fake_gpus(ONE_GPU)
    script = (
        "import lowtide, time\n"
        "for trial in range(2):\n"
        "    for epoch in lowtide.epochs(range(3)):\n"
        "        time.sleep(0.1); lowtide.log(trial=trial)\n"
    )
    report = lowtide.report("--", sys.executable, "-c", script)
    assert [e["index"] for e in report["epochs"]] == [0, 1, 2, 3, 4, 5]
    assert [e["metrics"]["trial"] for e in report["epochs"]] == [0, 0, 0, 1, 1, 1]
    assert any("begun anew" in e["message"] for e in report["events"])


@pytest.mark.parametrize("functions", [["nvmlDeviceSetPowerManagementLimit"], []])
def test_a_driver_that_hangs_holds_up_neither_the_job_nor_its_end(lowtide, fake_gpus, functions):
    hang = {"kind": "TIMEOUT", "hang_s": 60, "from_s": 2, "functions": functions}
    fake_gpus({"gpus": [{**ONE_GPU["gpus"][0], "faults": [hang]}]})
    script = (
        "import lowtide, sys, time\n"
        "begun = time.monotonic()\n"
        "for epoch in lowtide.epochs(range(20)):\n"
        "    time.sleep(0.2)\n"
        "print(time.monotonic() - begun)\n"
        "sys.exit(7)\n"
    )
    begun = time.monotonic()
    path = lowtide.folder / "report.json"
    done = lowtide.call("run", "--json-report", path, "--policy", "fixed:200", "--", sys.executable, "-c", script)
    assert done.returncode == 7
    assert float(done.stdout) < 5.5  # four seconds of work
    assert time.monotonic() - begun < 12
    report = json.loads(path.read_text())
    assert len(report["epochs"]) == 20
    assert any("has not answered" in e["message"] for e in report["events"])
    assert list((lowtide.state / "limits").glob("*.json")), "the next start must know what to put back"


def test_a_limit_on_the_size_of_files_costs_the_record_not_the_run(lowtide, fake_gpus):
    gpus = fake_gpus(ONE_GPU)
    command = lowtide.command("run", "--intensity", "400", "--", "sh", "-c", "echo trained; exit 7")
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 1; exec "$@"', "bash", *command],
        env=lowtide.env, cwd=lowtide.folder, capture_output=True, text=True, timeout=30,
    )
    assert done.returncode == 7
    assert done.stdout == "trained\n"
    assert "not kept" in done.stderr
    assert gpus.limits_w() == [280.0]
