"""Runs the real lowtide program with real child processes; only the GPU is a fake library."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOWTIDE_BUILD", ROOT / "build" / "dev")).resolve()
PROGRAM = BUILD / "bin" / "lowtide"

# A test run in the background of a script starts with these ignored, and its children with it.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Lowtide:
    """The program in a home of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.state = folder / "state"
        self.env = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("LOWTIDE_", "CUDA_", "SLURM_", "XDG_"))
        }
        self.env.update(
            HOME=str(folder),
            LOWTIDE_STATE_DIR=str(self.state),
            LOWTIDE_NVML_LIBRARY=str(folder / "no_such_library.so"),
            LOWTIDE_POWERCAP_ROOT=str(folder / "no_powercap"),
            PYTHONPATH=str(ROOT / "python"),
        )

    def command(self, *args):
        return [str(PROGRAM), *map(str, args)]

    def start(self, *args, **kwargs):
        kwargs.setdefault("env", self.env)
        kwargs.setdefault("cwd", self.folder)
        return subprocess.Popen(self.command(*args), **kwargs)

    def call(self, *args, **kwargs):
        kwargs.setdefault("timeout", 60)
        kwargs.setdefault("env", self.env)
        kwargs.setdefault("cwd", self.folder)
        kwargs.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(self.command(*args), capture_output=True, text=True, **kwargs)

    def report(self, *args, code=0):
        """Runs `lowtide run ARGS` and returns its JSON report."""
        path = self.folder / "report.json"
        done = self.call("run", "--json-report", path, *args)
        assert done.returncode == code, done.stderr
        return json.loads(path.read_text())

    def show(self, run="last"):
        done = self.call("runs", "show", run, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


class FakeGpus:
    """The fake NVML library, its machine in a state file that all processes share."""

    def __init__(self, lowtide, scenario):
        self.state = lowtide.folder / "gpus.state"
        path = lowtide.folder / "gpus.json"
        path.write_text(json.dumps(scenario))
        self.env = {
            "LOWTIDE_NVML_LIBRARY": str(BUILD / "lib" / "libfake_nvml.so"),
            "LOWTIDE_FAKE_NVML": str(path),
            "LOWTIDE_FAKE_NVML_STATE": str(self.state),
        }
        lowtide.env.update(self.env)
        lowtide.env["FAKE_NVML_CTL"] = str(BUILD / "bin" / "fake_nvml_ctl")
        self.full_env = lowtide.env
        self.control("limits")  # makes the state file

    def control(self, *args):
        done = subprocess.run(
            [self.full_env["FAKE_NVML_CTL"], *map(str, args)],
            env=self.full_env,
            capture_output=True,
            text=True,
            timeout=20,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def limits_w(self):
        return [float(line.split()[-1]) / 1000 for line in self.control("limits").split("\n") if line]

    def true_energy_j(self):
        lines = self.control("true-energy").split("\n")
        return [float(line.split()[-1]) / 1000 for line in lines if line]


@pytest.fixture
def lowtide(tmp_path):
    assert PROGRAM.exists(), f"{PROGRAM} is not built"
    return Lowtide(tmp_path)


@pytest.fixture
def fake_gpus(lowtide):
    return lambda scenario: FakeGpus(lowtide, scenario)


@pytest.fixture
def trainer(tmp_path):
    """A training script that slows itself as the fake GPU would under its limit."""
    path = tmp_path / "trainer.py"
    path.write_text(TRAINER)
    return [sys.executable, str(path)]


TRAINER = '''
import os, subprocess, sys, time
import lowtide

epochs, steps, step_s = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
done = sys.argv[4] if len(sys.argv) > 4 else None
control = os.environ.get("FAKE_NVML_CTL")
disturbed = range(*map(int, os.environ.get("DISTURBED_STEPS", "0-0").split("-")))  # four times as long

def speed():
    if not control:
        return 1.0
    out = subprocess.run([control, "relative-speed", "0"], capture_output=True, text=True).stdout
    return float(out)

for epoch in lowtide.epochs(range(epochs)):
    relative = speed()
    for step in range(steps):
        if step % 5 == 0:
            relative = speed()
        time.sleep(step_s / relative * (4 if epoch * steps + step in disturbed else 1))
        lowtide.step()
    lowtide.log(loss=1.0 / (epoch + 1))
if done:
    open(done, "w").write("done")
print("trained", epochs, "epochs")
'''


def wait_for(condition, seconds=10, what="condition"):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"{what} did not come true within {seconds} s")
