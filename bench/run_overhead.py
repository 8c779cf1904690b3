#!/usr/bin/python3
"""What `lowtide run` costs beside a training: processor time, memory, start-up, accuracy.

usage: bench/run_overhead.py [--build build/release] [--codecarbon PROGRAM] [--json FILE]
                             [--runs N] [--window SECONDS] [--pairs N] [--part PART]...
docs/reference/benchmarks.md says what each line means.
"""

import argparse
import csv
import datetime
import json
import os
import pathlib
import sys
import tempfile

import scene

ROOT = pathlib.Path(__file__).resolve().parents[1]
GPUS = 8
SETTLE_S = 4  # after which start-up is over, codecarbon's too
CPU_BOUND_PCT = 0.1
MEMORY_BOUND_MB = 15
START_BOUND_MS = 30
PARTS = ("steady", "startup", "accuracy")


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.build = pathlib.Path(options.build).resolve()
        self.lowtide = str(self.build / "bin" / "lowtide")
        self.control = str(self.build / "bin" / "fake_nvml_ctl")
        self.codecarbon = str(pathlib.Path(options.codecarbon).absolute()) if options.codecarbon else ""
        self.rows = []
        self.ok = True

    def say(self, text):
        print(f"... {text}", file=sys.stderr, flush=True)

    def row(self, what, value, unit, bound=None, note=""):
        """One line of the table; `bound` is the most that is allowed."""
        within = None if bound is None else value <= bound
        self.ok = self.ok and within is not False
        self.rows.append(
            {"what": what, "value": value, "unit": unit, "bound": bound, "within": within, "note": note}
        )

    def scene(self, name, demand=scene.STEADY_DEMAND):
        """A fresh home with 8 GPUs: (folder, environment)."""
        folder = self.folder / name
        folder.mkdir()
        env = scene.with_gpus(scene.own_environment(folder), folder, self.build, GPUS, demand)
        return folder, env

    def lowtide_run(self, *command):
        return [self.lowtide, "run", "-q", "--", *command]

    def codecarbon_run(self, *command):
        return [
            self.codecarbon, "monitor", "--offline", "--country-iso-code", "FRA",
            "--measure-power-secs", "1", "--", *command,
        ]  # fmt: skip

    def codecarbon_env(self, env):
        lib = self.build / "lib"
        return env | {"LD_LIBRARY_PATH": f"{lib / 'nvml_for_python'}:{lib}"}

    # Processor time and memory while nothing but sampling happens.
    def steady(self):
        window = self.options.window
        length = str(int(SETTLE_S + window + 3))
        folder, env = self.scene("steady")
        tree = scene.PowercapTree(scene.memory_folder())
        env["LOWTIDE_POWERCAP_ROOT"] = str(tree.root)
        ticker = str(self.build / "bin" / "bench_ticker")
        counters = sorted(str(p) for p in tree.root.rglob("energy_uj"))
        library = env["LOWTIDE_NVML_LIBRARY"]
        programs = {
            "lowtide": (self.lowtide_run("sleep", length), env),
            "wake": ([ticker, length], env),
            "calls": ([ticker, length, library, *counters], env),
        }
        if self.codecarbon:
            argv = self.codecarbon_run("sleep", length)
            programs["codecarbon"] = (argv, self.codecarbon_env(env))
        cost = {name: [] for name in programs}
        for i in range(self.options.runs):
            for name, (argv, its_env) in programs.items():
                self.say(f"steady state {i + 1} of {self.options.runs}: {name}, {length} s")
                measured = scene.Steady(argv, its_env, folder, SETTLE_S, window)
                if measured.exit_code != 0:
                    log = (folder / "program.log").read_text()[-2000:]
                    raise SystemExit(f"{' '.join(argv)}: exit code {measured.exit_code}\n{log}")
                cost[name].append(measured)
        tree.close()

        def cpu(name):
            return scene.median([m.cpu_pct for m in cost[name]])

        def peak(name):
            return max(m.peak_mb for m in cost[name])

        def pss(name):
            return scene.median([m.pss_mb for m in cost[name]])

        def thread(name):
            return [m.thread_pct[name] for m in cost["lowtide"]]

        def spread(values):
            return f"{min(values):.3f} to {max(values):.3f}"

        sampling = thread("lowtide-meter")
        self.row("sampling, 10 Hz, 8 GPUs + RAPL", scene.median(sampling), "% of a core", CPU_BOUND_PCT,
                 spread(sampling))
        self.row("  of which: waking 10 times a second", cpu("wake"), "% of a core")
        self.row("  of which: fake NVML and file reads", cpu("calls") - cpu("wake"), "% of a core")
        self.row("books, marks, processes, 1 Hz", scene.median(thread("lowtide")), "% of a core")
        self.row("store, a synced commit a second", scene.median(thread("lowtide-store")), "% of a core")
        whole = [m.cpu_pct for m in cost["lowtide"]]
        self.row("the whole program", scene.median(whole), "% of a core", None, spread(whole))
        self.row("memory, peak resident", peak("lowtide"), "MB", MEMORY_BOUND_MB)
        self.row("memory, proportional share", pss("lowtide"), "MB")
        if self.codecarbon:
            self.row("codecarbon: processor, 1 Hz, 8 GPUs", cpu("codecarbon"), "% of a core", None,
                     f"{cpu('codecarbon') / cpu('lowtide'):.1f} x lowtide's")
            self.row("codecarbon: memory, peak resident", peak("codecarbon"), "MB", None,
                     f"{peak('codecarbon') / peak('lowtide'):.1f} x lowtide's")
            self.row("codecarbon: proportional share", pss("codecarbon"), "MB")

    # What a command that does nothing takes longer for being run under it.
    def startup(self):
        folder, env = self.scene("startup")
        without_gpus = env | {"LOWTIDE_NVML_LIBRARY": str(folder / "none.so")}
        without_gpus["LOWTIDE_POWERCAP_ROOT"] = str(folder / "no_powercap")
        tree = scene.PowercapTree(scene.memory_folder())
        with_all = env | {"LOWTIDE_POWERCAP_ROOT": str(tree.root)}
        cases = {
            "start and end, no GPU, no RAPL": (without_gpus, "existing"),
            "start and end, 8 GPUs + RAPL": (with_all, "existing"),
            "start and end, the first run ever": (with_all, "fresh"),
        }
        for name, (its_env, store) in cases.items():
            self.say(f"{name}: {self.options.pairs} pairs")
            its_env = its_env | {"LOWTIDE_STATE_DIR": str(folder / ("state-" + store))}
            differences, cpu = [], []
            for i in range(self.options.pairs + 1):
                if store == "fresh":
                    its_env["LOWTIDE_STATE_DIR"] = str(folder / f"state-fresh-{i}")
                bare = scene.once_ms(["true"], its_env, folder)
                ours = scene.once_ms(self.lowtide_run("true"), its_env, folder)
                if i > 0:  # the first one fills the caches, and makes the store
                    differences.append(ours[0] - bare[0])
                    cpu.append(ours[1] - bare[1])
            differences.sort()
            self.row(name, scene.median(differences), "ms", START_BOUND_MS,
                     f"90 % within {differences[int(0.9 * len(differences))]:.1f}; "
                     f"{scene.median(cpu):.1f} of processor")
        if self.codecarbon:
            self.say("start-up of codecarbon")
            its_env = self.codecarbon_env(env)
            times = [scene.once_ms(self.codecarbon_run("true"), its_env, folder) for _ in range(4)]
            self.row("codecarbon: start and end", scene.median([t[0] for t in times[1:]]), "ms", None,
                     f"{scene.median([t[1] for t in times[1:]]):.0f} of processor")
        tree.close()

    # Against the energy that the fake GPUs have really drawn during the command.
    def accuracy(self):
        folder, env = self.scene("accuracy", scene.MOVING_DEMAND)
        script = f"'{self.control}' true-energy >before; sleep 20; '{self.control}' true-energy >after"
        command = ["sh", "-c", script]

        def truth_j():
            def total(name):
                lines = (folder / name).read_text().split("\n")
                return sum(float(line.split()[-1]) for line in lines if line) / 1000

            return total("after") - total("before")

        self.say("accuracy of lowtide, 20 s")
        report = folder / "report.json"
        argv = self.lowtide_run(*command)
        argv[2:2] = ["--json-report", str(report)]
        self.finish(argv, env, folder)
        components = json.loads(report.read_text())["components"]
        energy = sum(c["energy_j"] for c in components if c["kind"] == "gpu")
        self.row("GPU energy, off the truth by", 100 * (energy / truth_j() - 1), "%", None, f"{energy:.0f} J")
        if not self.codecarbon:
            return
        self.say("accuracy of codecarbon, 20 s")
        self.finish(self.codecarbon_run(*command), self.codecarbon_env(env), folder)
        with open(folder / "emissions.csv", newline="") as file:
            energy = float(list(csv.DictReader(file))[-1]["gpu_energy"]) * 3.6e6
        self.row("codecarbon: off the truth by", 100 * (energy / truth_j() - 1), "%", None, f"{energy:.0f} J")

    def finish(self, argv, env, folder):
        measured = scene.Steady(argv, env, folder, 1, 1)
        if measured.exit_code != 0:
            raise SystemExit(f"{' '.join(argv)}: {(folder / 'program.log').read_text()[-2000:]}")

    def table(self):
        lines = []
        for r in self.rows:
            bound = ""
            if r["bound"] is not None:
                bound = f"{'within' if r['within'] else 'OVER'} {r['bound']:g}"
            lines.append(f"{r['what']:<38}{r['value']:>10.3f} {r['unit']:<12}{bound:<12}{r['note']}".rstrip())
        return "\n".join(lines)


def parse_arguments():
    parser = argparse.ArgumentParser(description="Measures what lowtide run costs.")
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--codecarbon", default="", help="codecarbon's program; without it, no comparison")
    parser.add_argument("--runs", type=int, default=3, help="runs of the steady state (default: 3)")
    parser.add_argument("--window", type=float, default=20, help="seconds each is watched (default: 20)")
    parser.add_argument("--pairs", type=int, default=40, help="pairs of starts (default: 40)")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--json", help="also write the table to this file")
    return parser.parse_args()


def main():
    options = parse_arguments()
    load_before = scene.load_average()
    with tempfile.TemporaryDirectory(prefix="lowtide-bench-") as folder:
        bench = Bench(options, pathlib.Path(folder))
        if not os.access(bench.lowtide, os.X_OK):
            raise SystemExit(f"{bench.lowtide} is not built: scripts/bench.sh builds it")
        for part in options.part or PARTS:
            getattr(bench, part)()
    print(bench.table())
    date = datetime.date.today().isoformat()
    load = f"{load_before:.1f} before, {scene.load_average():.1f} after"
    print(f"{date}, {os.cpu_count()} processors, load average {load}")
    if options.json:
        record = {"date": date, "processors": os.cpu_count(), "load": load, "rows": bench.rows}
        pathlib.Path(options.json).write_text(json.dumps(record, indent=2) + "\n")
    return 0 if bench.ok else 1


if __name__ == "__main__":
    sys.exit(main())
