"""A machine that is not there: fake GPUs and a fake RAPL tree, and what a process on it costs.

Costs are processor time to the nanosecond, not wall time, wherever that is possible: what else the
computer does then matters little.
"""

import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import time

PACKAGE_W = (80.0, 95.0)
DRAM_W = (12.0, 9.0)
WRITE_EVERY_S = 0.02


def memory_folder():
    """A fresh folder in memory, as sysfs is: on a disk every read would also note its time."""
    return pathlib.Path(tempfile.mkdtemp(prefix="lowtide-bench-", dir="/dev/shm"))


class PowercapTree:
    """Two packages with DRAM, as Linux shows them; a thread moves the counters on."""

    def __init__(self, root):
        self.root = root
        self.counters = []  # (file descriptor, watts)
        for i in (0, 1):
            package = root / f"intel-rapl:{i}"
            self._add(package, f"package-{i}", PACKAGE_W[i])
            self._add(package / f"intel-rapl:{i}:0", "dram", DRAM_W[i])
        self._stop = threading.Event()
        self._start = time.monotonic()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _add(self, folder, name, watts):
        folder.mkdir(parents=True)
        for file, text in (("name", name), ("enabled", "1"), ("max_energy_range_uj", "262143328850")):
            (folder / file).write_text(text + "\n")
        (folder / "energy_uj").write_text("%012d\n" % 1_000_000)
        self.counters.append((os.open(folder / "energy_uj", os.O_WRONLY), watts))

    def _write(self):
        while not self._stop.wait(WRITE_EVERY_S):
            elapsed = time.monotonic() - self._start
            for descriptor, watts in self.counters:
                os.pwrite(descriptor, b"%012d\n" % int(1_000_000 + watts * 1e6 * elapsed), 0)

    def close(self):
        self._stop.set()
        self._thread.join()
        for descriptor, _ in self.counters:
            os.close(descriptor)
        shutil.rmtree(self.root, ignore_errors=True)


def own_environment(folder):
    """The environment without settings of the user's, and with a home in `folder`."""
    prefixes = ("LOWTIDE_", "CUDA_", "SLURM_", "XDG_", "CODECARBON_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(prefixes)}
    env["HOME"] = str(folder)
    env["LOWTIDE_STATE_DIR"] = str(folder / "state")
    return env


# What a GPU may ask for. A constant costs the fake library least.
STEADY_DEMAND = 200
MOVING_DEMAND = {"law": "sine", "mean_w": 200, "amplitude_w": 80, "period_s": 7}


def with_gpus(env, folder, build, gpus, demand):
    """The fake NVML library with `gpus` GPUs, and what makes codecarbon look for them."""
    (folder / "gpus.json").write_text(json.dumps({"gpus": [{"demand": demand}] * gpus}))
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    (bin_folder / "nvidia-smi").write_text("#!/bin/sh\nexit 0\n")
    (bin_folder / "nvidia-smi").chmod(0o755)
    return env | {
        "PATH": f"{bin_folder}:/usr/bin:/bin",
        "LOWTIDE_NVML_LIBRARY": str(build / "lib" / "libfake_nvml.so"),
        "LOWTIDE_FAKE_NVML": str(folder / "gpus.json"),
        "LOWTIDE_FAKE_NVML_STATE": str(folder / "gpus.state"),
    }


def cpu_s(pid):
    """Processor time of `pid` so far, in seconds: all its threads, those that have ended too."""
    # The process's own clock, as clock_getcpuclockid(3) makes its number.
    return time.clock_gettime((~pid << 3) | 2)


def threads_s(pid):
    """Processor time of each living thread so far, in seconds, by its name."""
    seconds = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        nanoseconds = int((task / "schedstat").read_text().split()[0])
        seconds[name] = seconds.get(name, 0) + nanoseconds / 1e9
    return seconds


def memory_mb(pid):
    """The most that was resident, and the share that is the process's own (PSS), in MB (1e6)."""

    def kb(file, key):
        for line in pathlib.Path(f"/proc/{pid}/{file}").read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1])
        raise KeyError(key)

    return kb("status", "VmHWM") * 1024 / 1e6, kb("smaps_rollup", "Pss") * 1024 / 1e6


class Steady:
    """What a program costs once it runs: from `settle_s` after its start, for `window_s`."""

    def __init__(self, argv, env, cwd, settle_s, window_s):
        log = open(cwd / "program.log", "ab")
        process = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            time.sleep(settle_s)
            cpu, threads, at = cpu_s(process.pid), threads_s(process.pid), time.monotonic()
            time.sleep(window_s)
            cpu, after, at = cpu_s(process.pid) - cpu, threads_s(process.pid), time.monotonic() - at
            self.cpu_pct = 100 * cpu / at
            self.thread_pct = {name: 100 * (s - threads.get(name, 0)) / at for name, s in after.items()}
            self.peak_mb, self.pss_mb = memory_mb(process.pid)
            self.exit_code = process.wait(timeout=60)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
            log.close()


def once_ms(argv, env, cwd):
    """Wall and processor time from start to end, in ms; the children's included."""
    devnull = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, devnull, fd) for fd in (0, 1, 2)]
    back = os.getcwd()
    os.chdir(cwd)
    try:
        start = time.perf_counter()
        pid = os.posix_spawnp(argv[0], argv, env, file_actions=actions)
        _, status, used = os.wait4(pid, 0)
        wall = time.perf_counter() - start
    finally:
        os.chdir(back)
        os.close(devnull)
    if status != 0:
        raise RuntimeError(f"{' '.join(argv)}: ended with status {status}")
    return 1e3 * wall, 1e3 * (used.ru_utime + used.ru_stime)


def median(values):
    return statistics.median(values)


def load_average():
    return float(pathlib.Path("/proc/loadavg").read_text().split()[0])
