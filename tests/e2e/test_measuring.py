"""What a run reports of energy, carbon and progress."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import ROOT, wait_for

LOAD = "import time; end = time.monotonic() + {0}\nwhile time.monotonic() < end: pass"


def gpu(report):
    return next(c for c in report["components"] if c["kind"] == "gpu")


@pytest.mark.parametrize("counter", [True, False])
@pytest.mark.parametrize("count", [1, 2, 8])
def test_energy_is_within_one_percent_of_the_truth(lowtide, fake_gpus, counter, count):
    one = {"demand": {"law": "sine", "mean_w": 200, "amplitude_w": 60, "period_s": 1.7}, "energy_counter": counter}
    gpus = fake_gpus({"gpus": [one] * count})
    marks = lowtide.folder / "marks"
    # The truth over the child's life; the run is a little longer, so compare mean powers.
    script = f"$FAKE_NVML_CTL true-energy > {marks}.a; sleep 5; $FAKE_NVML_CTL true-energy > {marks}.b"
    report = lowtide.report("--", "sh", "-c", script)

    def total(path):
        return sum(float(line.split()[-1]) for line in path.read_text().split("\n") if line) / 1000

    truth = total(marks.with_suffix(".b")) - total(marks.with_suffix(".a"))
    samples_outside = report["duration_s"] - 5
    measured = sum(c["energy_j"] for c in report["components"] if c["kind"] == "gpu")
    assert measured == pytest.approx(truth, rel=0.01, abs=samples_outside * 270 * count)
    assert measured / report["duration_s"] / count == pytest.approx(200, rel=0.08)
    assert all(c["status"] == "measured" for c in report["components"] if c["kind"] == "gpu")
    method = gpu(report)["method"]
    assert ("energy counter" in method) if counter else ("integrated power" in method)
    del gpus


def test_cuda_visible_devices_chooses_what_counts(lowtide, fake_gpus):
    fake_gpus({"gpus": [{"demand": 100}, {"demand": 200}, {"demand": 300}]})
    lowtide.env["CUDA_VISIBLE_DEVICES"] = "1"
    report = lowtide.report("--", "sleep", "1")
    gpus = [c for c in report["components"] if c["kind"] == "gpu"]
    assert len(gpus) == 1
    assert gpus[0]["energy_j"] / report["duration_s"] == pytest.approx(200, rel=0.1)
    lowtide.env["CUDA_VISIBLE_DEVICES"] = ""
    assert not [c for c in lowtide.report("--", "true")["components"] if c["kind"] == "gpu" and c["uuid"]]
    uuid = gpus[0]["uuid"]
    lowtide.env["CUDA_VISIBLE_DEVICES"] = uuid
    assert [c["uuid"] for c in lowtide.report("--", "true")["components"] if c["kind"] == "gpu"] == [uuid]


def test_a_gpu_lost_in_the_run_is_a_state_not_an_end(lowtide, fake_gpus):
    fault = {"kind": "GPU_IS_LOST", "from_s": 0.8}
    fake_gpus({"gpus": [{"demand": 200, "faults": [fault]}, {"demand": 100}]})
    report = lowtide.report("--", "sleep", "2")
    assert report["exit_code"] == 0
    lost, well = [c for c in report["components"] if c["kind"] == "gpu"]
    assert lost["gaps_s"] > 0.5
    assert well["energy_j"] == pytest.approx(100 * report["duration_s"], rel=0.1)
    assert any("LOST" in e["message"] for e in report["events"])


def test_no_intensity_gives_energy_and_says_why_there_is_no_carbon(lowtide, fake_gpus):
    fake_gpus({"gpus": [{"demand": 200}]})
    report = lowtide.report("--", "sleep", "0.5")
    assert report["energy_kwh"] > 0
    assert report["carbon_g"] is None
    assert "no zone, trace or intensity given" in report["carbon_missing_reason"]


def test_a_trace_that_does_not_cover_the_run_is_missing_not_zero(lowtide, fake_gpus):
    fake_gpus({"gpus": [{"demand": 200}]})
    trace = lowtide.folder / "trace.csv"
    # A hole from 01:00 to 05:00.
    trace.write_text("time,DE\n2020-01-01T00:00Z,400\n2020-01-01T05:00Z,410\n2020-01-01T06:00Z,410\n")
    within = ["--trace", trace, "--zone", "DE", "--grid-time"]
    report = lowtide.report(*within, "2020-01-01T02:00Z", "--", "sleep", "0.5")
    assert report["energy_kwh"] > 0
    assert report["carbon_g"] is None
    assert report["intensity"]["missing_share"] == 1
    # The run outlasts the trace, which ends at 07:00.
    report = lowtide.report(*within, "2020-01-01T06:30Z", "--time-scale", 3600, "--", "sleep", "1.5")
    assert 0.3 < report["intensity"]["missing_share"] < 0.95
    assert report["carbon_g"] > 0
    # It begins where nothing is known: that is told at once.
    done = lowtide.call("run", *within, "2020-01-01T07:00Z", "--", "sleep", "5")
    assert done.returncode == 3
    assert "covers 2020-01-01T00:00:00Z to 2020-01-01T07:00:00Z" in done.stderr and "--grid-time" in done.stderr


def test_carbon_is_energy_times_intensity_times_pue(lowtide, fake_gpus):
    fake_gpus({"gpus": [{"demand": 200}]})
    report = lowtide.report("--intensity", 400, "--pue", 1.5, "--", "sleep", "0.5")
    assert report["carbon_g"] == pytest.approx(report["energy_kwh"] * 400 * 1.5)
    assert report["intensity"]["kind"] == "constant"
    assert report["pue"] == 1.5


def test_the_yearly_average_of_a_country_is_named(lowtide, fake_gpus):
    fake_gpus({"gpus": [{"demand": 200}]})
    report = lowtide.report("--zone", "DE", "--", "sleep", "0.3")
    assert report["intensity"]["kind"] == "yearly_average"
    assert "DEU" in report["intensity"]["source"] and "20" in report["intensity"]["source"]
    assert lowtide.call("run", "--zone", "XX", "--", "true").returncode == 3


def test_rapl_counts_the_jobs_share_and_shows_the_host(lowtide):
    root = lowtide.folder / "powercap"
    zone = root / "intel-rapl:0"
    zone.mkdir(parents=True)
    (zone / "name").write_text("package-0\n")
    (zone / "energy_uj").write_text("1000000\n")
    (zone / "max_energy_range_uj").write_text("262143328850\n")
    (zone / "enabled").write_text("1\n")
    lowtide.env["LOWTIDE_POWERCAP_ROOT"] = str(root)
    # A counter that rises by 20 W, and a job that keeps a processor busy meanwhile.
    script = (
        "import time, os\n"
        f"path = {str(zone / 'energy_uj')!r}\n"
        "start = time.monotonic()\n"
        "while time.monotonic() - start < 2.5:\n"
        "    uj = 1000000 + int((time.monotonic() - start) * 20e6)\n"
        "    fd = os.open(path, os.O_WRONLY); os.pwrite(fd, b'%d\\n' % uj, 0); os.close(fd)\n"
    )
    report = lowtide.report("--", sys.executable, "-c", script)
    cpu = next(c for c in report["components"] if c["kind"] == "cpu")
    assert cpu["status"] == "measured"
    assert cpu["host_energy_j"] == pytest.approx(50, rel=0.15)
    assert 0 < cpu["energy_j"] <= cpu["host_energy_j"]
    whole = lowtide.report("--cpu-energy", "host", "--", sys.executable, "-c", script)
    cpu = next(c for c in whole["components"] if c["kind"] == "cpu")
    assert cpu["energy_j"] == cpu["host_energy_j"]


def test_without_rapl_the_cpu_is_modelled_from_its_tdp(lowtide):
    report = lowtide.report("--cpu-tdp", 100, "--", sys.executable, "-c", LOAD.format(1.5))
    cpu = next(c for c in report["components"] if c["kind"] == "cpu")
    assert cpu["status"] == "modelled"
    assert cpu["energy_j"] > 0


def test_epochs_metrics_and_totals_add_up(lowtide, fake_gpus, trainer):
    fake_gpus({"gpus": [{"demand": 200}]})
    report = lowtide.report("--intensity", 400, "--", *trainer, 4, 10, 0.01)
    assert [e["index"] for e in report["epochs"]] == [0, 1, 2, 3]
    assert report["epochs"][3]["metrics"]["loss"] == 0.25
    in_epochs = sum(e["energy_j"] for e in report["epochs"])
    assert 0 < in_epochs <= report["energy_kwh"] * 3.6e6 * (1 + 1e-9)
    components = sum(c["energy_j"] for c in report["components"] if c["energy_j"] is not None)
    assert components == pytest.approx(report["energy_kwh"] * 3.6e6, rel=1e-9)
    for e in report["epochs"]:
        assert e["mean_power_w"] == pytest.approx(e["energy_j"] / e["duration_s"])


def test_the_run_on_record_is_what_was_reported(lowtide, fake_gpus, trainer):
    fake_gpus({"gpus": [{"demand": 200}]})
    report = lowtide.report("--intensity", 400, "--name", "job", "--", *trainer, 2, 10, 0.01)
    assert lowtide.show("last") == report
    assert lowtide.show(report["run_id"][:12]) == report


def test_a_simulated_gpu_draws_by_its_curve_and_slows_the_marked_steps(lowtide, trainer):
    fast = lowtide.report("--simulate-gpu", "A40", "--policy", "fixed:300", "--", *trainer, 2, 30, 0.02)
    slow = lowtide.report("--simulate-gpu", "A40", "--policy", "fixed:125", "--", *trainer, 2, 30, 0.02)
    assert gpu(fast)["status"] == "simulated"
    assert slow["epochs"][0]["duration_s"] > 1.3 * fast["epochs"][0]["duration_s"]
    assert slow["epochs"][0]["mean_power_w"] < 0.7 * fast["epochs"][0]["mean_power_w"]


def test_ranks_of_one_node_are_counted_once(lowtide, fake_gpus):
    fake_gpus({"gpus": [{"demand": 200}]})
    script = lowtide.folder / "rank.py"
    script.write_text(
        "import lowtide, time\nfor e in lowtide.epochs(range(3)):\n"
        "    for s in range(5):\n        time.sleep(0.02); lowtide.step()\n"
    )
    launch = lowtide.folder / "launch.sh"
    launch.write_text(
        f"for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r {sys.executable} {script} & done; wait\n"
    )
    report = lowtide.report("--", "sh", launch)
    assert len(report["epochs"]) == 3
    assert len([c for c in report["components"] if c["kind"] == "gpu"]) == 1


def test_after_kill_9_at_most_a_second_is_missing(lowtide, fake_gpus):
    fake_gpus({"gpus": [{"demand": 200}]})
    process = lowtide.start("run", "--quiet", "--intensity", "400", "--", "sleep", "6")
    time.sleep(3.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    run = lowtide.show()
    assert run["state"] == "interrupted"
    assert run["exit_code"] is None
    assert run["duration_s"] > 2.3
    assert run["energy_kwh"] * 3.6e6 == pytest.approx(200 * run["duration_s"], rel=0.1)
    assert run["carbon_g"] == pytest.approx(run["energy_kwh"] * 400)


def test_codecarbon_csv_has_its_38_columns(lowtide, fake_gpus):
    fake_gpus({"gpus": [{"demand": 200}]})
    lowtide.report("--intensity", 400, "--zone", "DE", "--", "sleep", "0.3")
    done = lowtide.call("runs", "export", "--all", "--format", "codecarbon")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 1 and len(rows[0]) == 38
    assert rows[0]["country_iso_code"] == "DEU" and rows[0]["country_name"] == "Germany"
    assert float(rows[0]["emissions"]) == pytest.approx(float(rows[0]["energy_consumed"]) * 0.4)


def test_the_html_report_is_one_page_without_the_network(lowtide, fake_gpus, trainer):
    fake_gpus({"gpus": [{"demand": 200}]})
    page = lowtide.folder / "report.html"
    lowtide.report("--intensity", 400, "--html-report", page, "--", *trainer, 2, 10, 0.02)
    text = page.read_text()
    assert "<svg" in text and "</html>" in text
    assert "http://" not in text.replace("http://www.w3.org/", "") and "<script src" not in text
    again = lowtide.folder / "again.html"
    assert lowtide.call("runs", "report", "last", "--html", again).returncode == 0
    assert again.read_text() == text


def test_the_digits_example_trains_under_lowtide(lowtide):
    report = lowtide.report(
        "--simulate-gpu", "A40", "--intensity", 400, "--", "/usr/bin/python3", ROOT / "examples" / "digits.py",
        "--epochs", 2, "--work", 1,
    )
    assert len(report["epochs"]) == 2
    assert report["epochs"][1]["metrics"]["accuracy"] > 0.3
