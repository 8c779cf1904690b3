"""A run in a job of an interactive shell: who has the terminal, who stops, who goes on."""

import os
import pty
import select
import time

import pytest


class Shell:
    """bash with job control on a terminal of its own."""

    def __init__(self, lowtide):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(lowtide.folder)
            env = {**lowtide.env, "PS1": "PROMPT>", "RUN": " ".join(lowtide.command("run", "--quiet", "--"))}
            os.execve("/bin/bash", ["bash", "--norc", "-i"], env)
        self.until("PROMPT>")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def until(self, text, seconds=15):
        seen = b""
        deadline = time.monotonic() + seconds
        while text.encode() not in seen:
            assert time.monotonic() < deadline, seen.decode()
            if select.select([self.terminal], [], [], 0.1)[0]:
                seen += os.read(self.terminal, 4096)
        return seen.decode()

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


@pytest.fixture
def shell(lowtide):
    shell = Shell(lowtide)
    yield shell
    shell.close()


def test_a_background_job_that_reads_the_terminal_goes_on_in_the_foreground(shell):
    shell.type("$RUN cat &\n")
    time.sleep(1)
    shell.type("jobs\n")
    shell.until("Stopped")
    shell.type("fg\n")
    time.sleep(0.5)
    shell.type("hello\n")
    shell.until("hello\r\nhello\r\n")
    shell.type("\x04")
    shell.until("PROMPT>")
    shell.type("echo code=$?\n")
    shell.until("code=0")


def test_ctrl_c_ends_a_job_that_came_from_the_background(shell):
    shell.type("$RUN sleep 30 &\n")
    time.sleep(1)
    shell.type("fg\n")
    time.sleep(0.5)
    shell.type("\x03")
    shell.until("PROMPT>")
    shell.type("echo code=$?\n")
    shell.until("code=130")


def test_a_pager_beside_the_run_keeps_the_terminal(shell, lowtide):
    (lowtide.folder / "pager.sh").write_text('cat >/dev/null & read line </dev/tty; echo "pager got $line"\n')
    shell.type("$RUN sh -c 'echo x; sleep 1' | sh pager.sh\n")
    time.sleep(0.7)
    shell.type("q\n")
    assert "Stopped" not in shell.until("pager got q")


@pytest.mark.parametrize("line", ["sh script.sh", "sh script.sh | cat"])
def test_ctrl_z_stops_the_whole_job_and_fg_goes_on(shell, lowtide, line):
    (lowtide.folder / "script.sh").write_text("$RUN sh -c 'echo ready; sleep 1; echo trained'; echo script goes on\n")
    shell.type(line + "\n")
    shell.until("ready\r")
    time.sleep(0.3)  # past dash's vfork for sleep, in which it cannot be stopped, lowtide or not
    shell.type("\x1a")
    shell.until("Stopped")
    shell.type("fg\n")
    shell.until("trained\r")
    shell.until("script goes on")
