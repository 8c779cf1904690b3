"""The command notices nothing: exit code, streams, signals, environment."""

import os
import pty
import signal
import subprocess
import sys
import time

import pytest
from conftest import wait_for


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_exit_code_is_the_commands(lowtide, code):
    done = lowtide.call("run", "--", "sh", "-c", f"exit {code}")
    assert done.returncode == code


def test_a_missing_program_is_127(lowtide):
    done = lowtide.call("run", "--", "no-such-program-anywhere")
    assert done.returncode == 127
    assert "no-such-program-anywhere" in done.stderr


def test_what_cannot_be_executed_is_126(lowtide):
    path = lowtide.folder / "data.txt"
    path.write_text("not a program")
    assert lowtide.call("run", "--", str(path)).returncode == 126


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV"])
def test_death_by_a_signal_is_128_and_its_number(lowtide, name):
    done = lowtide.call("run", "--", "sh", "-c", f"kill -{name} $$")
    assert done.returncode == 128 + getattr(signal, "SIG" + name)


def test_streams_pass_through_untouched(lowtide):
    script = "import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d[::-1]); print('err', file=sys.stderr)"
    done = subprocess.run(
        lowtide.command("run", "--quiet", "--", sys.executable, "-c", script),
        input=bytes(range(256)) * 100,
        capture_output=True,
        env=lowtide.env,
        cwd=lowtide.folder,
        timeout=30,
    )
    assert done.stdout == (bytes(range(256)) * 100)[::-1]
    assert b"err" in done.stderr


def test_standard_output_is_the_commands_alone(lowtide):
    done = lowtide.call("run", "--intensity", "400", "--", "echo", "hello")
    assert done.stdout == "hello\n"


def test_the_environment_passes_through_and_names_the_run(lowtide):
    lowtide.env["MARKER"] = "a b=c"
    done = lowtide.call("run", "--quiet", "--", "sh", "-c", 'echo "$MARKER"; test -S "$LOWTIDE_SOCKET" && echo ok')
    assert done.stdout == "a b=c\nok\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_reach_the_command_and_the_report_comes(lowtide, number):
    script = (
        "import signal, sys, time\n"
        "def stop(n, f):\n    print('got', n, flush=True); sys.exit(9)\n"
        f"signal.signal({int(number)}, stop)\n"
        "print('ready', flush=True)\n"
        "time.sleep(30)\n"
    )
    process = lowtide.start(
        "run", "--", sys.executable, "-c", script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert f"got {int(number)}" in out
    assert process.returncode == 9
    assert "duration" in err


def test_ctrl_c_at_a_terminal_reaches_the_command_and_gives_a_report(lowtide):
    script = (
        "import sys, time\n"
        "try:\n    print('ready', flush=True); time.sleep(30)\n"
        "except KeyboardInterrupt:\n    print('interrupted', flush=True); sys.exit(3)\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(lowtide.folder)
        argv = lowtide.command("run", "--", sys.executable, "-c", script)
        os.execve(argv[0], argv, lowtide.env)
    seen = b""
    while b"ready" not in seen:
        seen += os.read(terminal, 1024)
    os.write(terminal, b"\x03")
    try:
        while True:
            seen += os.read(terminal, 1024)
    except OSError:
        pass  # the terminal is gone: the program has ended
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 3
    assert b"interrupted" in seen
    assert b"duration" in seen


def test_ctrl_z_stops_both_and_fg_goes_on(lowtide):
    """Under a real shell with job control."""
    script = "import time; print('ready', flush=True); time.sleep(1); print('finished', flush=True)"
    command = " ".join(lowtide.command("run", "--quiet", "--", sys.executable, "-c", f'"{script}"'))
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(lowtide.folder)
        os.execve("/bin/bash", ["bash", "--norc", "-i"], {**lowtide.env, "PS1": "PROMPT>"})
    os.write(terminal, (command + "\n").encode())

    def read_until(text, seen=b""):
        deadline = time.monotonic() + 20
        while text not in seen and time.monotonic() < deadline:
            seen += os.read(terminal, 4096)
        assert text in seen, seen
        return seen

    read_until(b"ready\r")
    os.write(terminal, b"\x1a")
    read_until(b"Stopped")
    os.write(terminal, b"fg\n")
    read_until(b"finished")
    os.write(terminal, b"exit\n")
    os.close(terminal)
    os.waitpid(pid, 0)


def test_processes_left_behind_do_not_hold_the_run(lowtide):
    begun = time.monotonic()
    done = lowtide.call("run", "--quiet", "--", "sh", "-c", "sleep 20 >/dev/null 2>&1 & exit 4")
    assert done.returncode == 4
    assert time.monotonic() - begun < 10


def test_a_run_inside_a_run_is_measured_once(lowtide):
    report = lowtide.report("--", *lowtide.command("run", "--", "sh", "-c", "exit 0"))
    assert report["exit_code"] == 0
    listed = lowtide.call("runs", "list", "--json")
    assert listed.stdout.count('"run_id"') == 1


def test_a_full_or_forbidden_store_never_stops_the_command(lowtide):
    lowtide.state.parent.mkdir(exist_ok=True)
    lowtide.state.write_text("a file where the folder should be")
    done = lowtide.call("run", "--", "sh", "-c", "echo trained; exit 5")
    assert done.returncode == 5
    assert done.stdout == "trained\n"
    assert "not kept" in done.stderr
    assert "duration" in done.stderr


def test_no_command_is_a_usage_error(lowtide):
    done = lowtide.call("run", "--intensity", "400")
    assert done.returncode == 2
    assert "--" in done.stderr


def test_lowtide_killed_leaves_the_command_running(lowtide):
    finished = lowtide.folder / "finished"
    process = lowtide.start(
        "run", "--quiet", "--", "sh", "-c", f"echo ready; sleep 1; echo more; touch {finished}", stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"ready\n"
    process.kill()
    process.wait()
    wait_for(finished.exists, what="the command's end")
