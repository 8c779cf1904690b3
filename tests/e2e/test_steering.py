"""Power limits of (fake) GPUs: set, restored, refused, found again after a crash."""

import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time

import pytest
from conftest import wait_for

ONE_GPU = {"gpus": [{"name": "NVIDIA A40", "demand": 290, "limit_mw": 280000, "idle_w": 30}]}
FAST_PROFILE = ["--profile-wait-steps", 0, "--profile-warmup-steps", 1, "--profile-steps", 4, "--min-dwell", "0s"]


def test_a_fixed_limit_is_set_during_the_run_and_gone_after_it(lowtide, fake_gpus):
    gpus = fake_gpus(ONE_GPU)
    seen = lowtide.folder / "seen"
    report = lowtide.report("--policy", "fixed:200", "--", "sh", "-c", f"$FAKE_NVML_CTL limits > {seen}")
    assert "200000" in seen.read_text()
    assert gpus.limits_w() == [280.0]
    assert report["decisions"][0]["power_limit_w"] == 200
    assert report["decisions"][0]["applied"] is True


def test_the_limit_comes_back_when_the_command_fails_or_is_missing(lowtide, fake_gpus):
    gpus = fake_gpus(ONE_GPU)
    assert lowtide.call("run", "--policy", "fixed:150", "--", "sh", "-c", "exit 3").returncode == 3
    assert gpus.limits_w() == [280.0]
    assert lowtide.call("run", "--policy", "fixed:150", "--", "no-such-program").returncode == 127
    assert gpus.limits_w() == [280.0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_limit_comes_back_after_a_signal(lowtide, fake_gpus, number):
    gpus = fake_gpus(ONE_GPU)
    process = lowtide.start("run", "--quiet", "--policy", "fixed:150", "--", "sleep", "30")
    wait_for(lambda: gpus.limits_w() == [150.0])
    process.send_signal(number)
    assert process.wait(timeout=20) == 128 + number
    assert gpus.limits_w() == [280.0]


def test_no_right_to_set_limits_is_said_once_and_energy_is_measured(lowtide, fake_gpus):
    scenario = {"gpus": [{**ONE_GPU["gpus"][0], "may_set_limits": False}]}
    gpus = fake_gpus(scenario)
    report = lowtide.report("--policy", "fixed:200", "--", "sleep", "0.5")
    assert gpus.limits_w() == [280.0]
    assert report["energy_kwh"] > 0
    refusals = [e for e in report["events"] if "cannot set the power limit" in e["message"]]
    assert len(refusals) == 1


def test_a_shared_gpu_is_measured_but_not_steered_unless_forced(lowtide, fake_gpus):
    mig = {"enabled": True, "instances": [{"uuid": "MIG-11111111-2222-3333-4444-555555555555", "gpu_instance": 1, "compute_instance": 0}]}
    gpus = fake_gpus({"gpus": [{**ONE_GPU["gpus"][0], "mig": mig}]})
    seen = lowtide.folder / "seen"
    command = ["--policy", "fixed:200", "--", "sh", "-c", f"$FAKE_NVML_CTL limits > {seen}; sleep 0.3"]
    report = lowtide.report(*command)
    assert "280000" in seen.read_text()
    assert report["energy_kwh"] > 0
    assert "MIG" in next(c for c in report["components"] if c["kind"] == "gpu")["note"]
    lowtide.report("--force-shared", *command)
    assert "200000" in seen.read_text()
    assert gpus.limits_w() == [280.0]


def test_profiling_finds_the_curve_and_keeps_it_for_the_next_run(lowtide, fake_gpus, trainer):
    fake_gpus(ONE_GPU)
    arguments = ["--name", "job", "--policy", "zeus", *FAST_PROFILE, "--", *trainer, 4, 25, 0.01]
    first = lowtide.report(*arguments)
    limits = [p["limit_w"] for p in first["power_curve"]]
    assert limits == sorted(limits, reverse=True)
    assert len(limits) >= 5 and limits[0] == 300
    throughput = [p["throughput_per_s"] for p in first["power_curve"]]
    assert throughput[0] > throughput[-1]
    assert {c["name"] for c in first["counterfactuals"]} >= {"full_power"}

    second = lowtide.report(*arguments)
    assert not any("warming up" in d["reason"] for d in second["decisions"])
    assert second["power_curve"] == first["power_curve"]

    anew = lowtide.report("--profile", "force", *arguments)
    assert any("warming up" in d["reason"] for d in anew["decisions"])
    assert anew["power_curve"] != first["power_curve"]
    assert lowtide.report(*arguments)["power_curve"] == anew["power_curve"]


def test_a_disturbed_window_does_not_end_profiling(lowtide, fake_gpus, trainer):
    fake_gpus(ONE_GPU)
    lowtide.env["DISTURBED_STEPS"] = "6-10"  # the four that are measured at 275 W
    report = lowtide.report("--name", "job", "--policy", "zeus", *FAST_PROFILE, "--", *trainer, 4, 25, 0.01)
    curve = report["power_curve"]
    assert [p["limit_w"] for p in curve[:2]] == [300, 275]
    assert len(curve) >= 5
    assert curve[1]["throughput_per_s"] > 0.6 * curve[0]["throughput_per_s"]
    for higher, lower in zip(curve, curve[1:]):
        assert lower["throughput_per_s"] <= higher["throughput_per_s"]
        assert lower["draw_w"] <= higher["draw_w"]
    said = [e["message"] for e in report["events"]]
    assert any("275 W had" in m and "measured once more" in m for m in said)
    assert any("300 W:" in m and "275 W:" in m and "steps/s" in m for m in said), "the windows as measured"


def test_a_curve_with_one_limit_of_use_is_not_kept(lowtide, fake_gpus, trainer):
    fake_gpus(ONE_GPU)
    arguments = ["--name", "job", "--policy", "zeus", *FAST_PROFILE, "--", *trainer, 4, 25, 0.01]
    lowtide.env["DISTURBED_STEPS"] = "6-100"
    disturbed = lowtide.report(*arguments)
    assert len(disturbed["power_curve"]) == 2
    assert any("is not kept" in e["message"] for e in disturbed["events"])
    del lowtide.env["DISTURBED_STEPS"]
    assert len(lowtide.report(*arguments)["power_curve"]) >= 5


def test_all_gpus_get_one_limit(lowtide, fake_gpus):
    gpus = fake_gpus({"gpus": [{"demand": 250}, {"demand": 200, "limit_mw": 270000}]})
    seen = lowtide.folder / "seen"
    lowtide.report("--policy", "fixed:175", "--", "sh", "-c", f"$FAKE_NVML_CTL limits > {seen}")
    assert seen.read_text().count("175000") == 2
    assert gpus.limits_w() == [300.0, 270.0]


def test_kill_9_at_ten_random_moments(lowtide, fake_gpus, trainer):
    """Limits back within 2 s each time, the training unharmed and finishing, the run readable."""
    gpus = fake_gpus(ONE_GPU)
    seed = int(os.environ.get("LOWTIDE_TEST_SEED", time.time_ns() % 1000000))
    print("seed", seed)  # shown when the test fails
    moments = random.Random(seed)
    for i in range(10):
        done = lowtide.folder / f"done{i}"
        process = lowtide.start(
            "run", "--quiet", "--name", f"job{i}", "--policy", "zeus", *FAST_PROFILE, "--", *trainer, 2, 20, 0.02, done,
            stdout=subprocess.DEVNULL,
        )
        wait_for(lambda: gpus.limits_w() != [280.0], what="the first change of the limit")
        time.sleep(moments.uniform(0, 0.6))
        assert process.poll() is None, "the run must still be going on"
        process.kill()
        killed = time.monotonic()
        process.wait()
        wait_for(lambda: gpus.limits_w() == [280.0], seconds=2, what=f"limit back after kill {i}")
        assert time.monotonic() - killed < 2
        wait_for(done.exists, seconds=20, what=f"training {i} to finish")
        run = lowtide.show()
        assert run["state"] == "interrupted"
        assert run["name"] == f"job{i}"
    assert not list((lowtide.state / "limits").glob("*.json"))


def watchdogs(lowtide):
    found = subprocess.run(
        ["pgrep", "-f", f"restore --watch-fd.*{lowtide.state}"], capture_output=True, text=True
    )
    return [int(pid) for pid in found.stdout.split()]


def test_a_killed_watchdog_is_started_anew(lowtide, fake_gpus):
    gpus = fake_gpus(ONE_GPU)
    process = lowtide.start("run", "--policy", "fixed:150", "--", "sleep", "20", stderr=subprocess.PIPE, text=True)
    wait_for(lambda: gpus.limits_w() == [150.0])
    wait_for(lambda: len(watchdogs(lowtide)) == 1)
    first = watchdogs(lowtide)
    os.kill(first[0], signal.SIGKILL)
    wait_for(lambda: watchdogs(lowtide) not in ([], first), seconds=5, what="another watchdog")
    process.kill()
    process.wait()
    wait_for(lambda: gpus.limits_w() == [280.0], seconds=2, what="the limit back")
    assert "started anew" in process.stderr.read()
    subprocess.run(["pkill", "-f", "^sleep 20$"])


def test_a_killed_run_leaves_no_folder_behind(lowtide):
    with tempfile.TemporaryDirectory(prefix="lt", dir="/tmp") as folder:  # a short path
        check_that_no_folder_is_left(lowtide, pathlib.Path(folder))


def check_that_no_folder_is_left(lowtide, runtime):
    lowtide.env["XDG_RUNTIME_DIR"] = str(runtime)
    process = lowtide.start("run", "--", "sleep", "1", stderr=subprocess.DEVNULL)
    wait_for(lambda: list(runtime.glob("lowtide-*/marks.sock")))
    process.kill()
    process.wait()
    assert list(runtime.glob("lowtide-*"))
    live = lowtide.start("run", "--", "sleep", "2", stderr=subprocess.DEVNULL)
    wait_for(lambda: (runtime / f"lowtide-{os.getuid()}-{live.pid}").exists())
    assert lowtide.call("run", "--", "true").returncode == 0
    assert [p.name for p in runtime.iterdir()] == [f"lowtide-{os.getuid()}-{live.pid}"]
    assert live.wait(timeout=20) == 0
    assert not list(runtime.iterdir())


def test_the_next_start_restores_what_a_power_loss_left(lowtide, fake_gpus):
    gpus = fake_gpus(ONE_GPU)
    process = lowtide.start("run", "--quiet", "--policy", "fixed:150", "--", "sleep", "5")
    wait_for(lambda: gpus.limits_w() == [150.0])
    # The whole machine goes down: nobody is left to restore.
    process.send_signal(signal.SIGSTOP)  # or it would start the watchdog anew
    for pid in watchdogs(lowtide):
        os.kill(pid, signal.SIGKILL)
    process.kill()
    process.wait()
    time.sleep(0.3)
    assert gpus.limits_w() == [150.0]
    assert lowtide.call("doctor", "--json").stdout.count('"abandoned_limits": true') == 1
    done = lowtide.call("run", "--", "true")
    assert done.returncode == 0
    assert "cut off" in done.stderr
    assert gpus.limits_w() == [280.0]


def test_restore_by_hand(lowtide, fake_gpus):
    gpus = fake_gpus(ONE_GPU)
    assert "no power limits" in lowtide.call("restore").stdout
    journal = lowtide.state / "limits" / "DEAD.json"
    journal.parent.mkdir(parents=True)
    uuid = lowtide.call("doctor", "--json").stdout.split('"uuid": "GPU-')[1].split('"')[0]
    journal.write_text(
        '{"run_id":"DEAD","pid":999999999,"start_ticks":1,"boot_id":"x","limits":'
        f'[{{"uuid":"GPU-{uuid}","original_w":260,"applied_w":[280]}}]}}'
    )
    done = lowtide.call("restore")
    assert done.returncode == 0
    assert "260" in done.stdout
    assert gpus.limits_w() == [260.0]


def test_two_runs_do_not_fight_over_a_gpu(lowtide, fake_gpus):
    gpus = fake_gpus(ONE_GPU)
    first = lowtide.start("run", "--quiet", "--policy", "fixed:150", "--", "sleep", "2")
    wait_for(lambda: gpus.limits_w() == [150.0])
    report = lowtide.report("--policy", "fixed:250", "--", "true")
    assert any("held by run" in e["message"] for e in report["events"])
    assert gpus.limits_w() == [150.0]
    assert first.wait(timeout=20) == 0
    assert gpus.limits_w() == [280.0]
