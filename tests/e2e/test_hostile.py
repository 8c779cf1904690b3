"""Surroundings that a long job meets one day: closed streams, full disks, locks, job control."""

import json
import os
import subprocess

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
