// Runs for the tests of reports: a steered one with everything in it, and poor ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "store/records.h"

namespace lowtide {

inline TimePoint TimeOf(const char* text) { return *ParseTime(text); }

// What two GPUs draw together, and their throughput, at a limit.
inline CurvePointRecord CurvePoint(double limit) {
  return {limit, 10 - (300 - limit) * (300 - limit) / 8000, 2 * (limit * 0.9 + 5)};
}

// Two simulated GPUs, a measured CPU and a DRAM that is missing: 12 epochs of 100 s on a grid that
// is 60 times as fast; limits 300, 250 and 200 W as the intensity rises and falls.
inline RunData SteeredRun() {
  constexpr int kEpochs = 12;
  constexpr int kEpochSeconds = 100;
  constexpr double kPue = 1.25;
  RunData run;
  RunRecord& record = run.record;
  record.run_id = "01KBA1B2C3D4E5F6G7H8J9KMNP";
  record.name = "train.py";
  record.command = {"python", "train.py", "--tag", "a <b> & \"c\""};
  record.working_directory = "/home/u/job";
  record.host = "node1";
  record.started_at = TimeOf("2026-11-30T12:00:00Z");
  record.zone = "US-CAL-CISO";
  record.policy = "chase";
  record.settings_json =
      R"({"eta":0.5,"max_carbon_intensity_g_per_kwh":750,"pue":1.25,"cpu_energy":"share",)"
      R"("environment":{"os":"Linux-6.1","python_version":"3.11.2","cpu_count":16,)"
      R"("cpu_model":"AMD EPYC 7763, 2.45 GHz","ram_total_gb":64.5,"on_cloud":"N"},)"
      R"("country":{"iso_code":"USA","name":"United States","region":"california"},)"
      R"("versions":{"lowtide":"0.1.0"}})";
  record.grid_start = TimeOf("2021-07-01T06:00:00Z");
  record.time_scale = 60;
  run.state = RunState::kFinished;
  run.curve = {CurvePoint(300), CurvePoint(250), CurvePoint(200)};

  // An hour of the grid is a minute of the run.
  const auto intensity = [](int hour) { return 300 + 200 * std::sin(hour / 20.0 * 3.14159); };
  for (int hour = 0; hour < 20; ++hour) {
    IntensityRecord slot;
    slot.from = record.grid_start + std::chrono::hours(hour);
    slot.to = slot.from + std::chrono::hours(1);
    slot.value = GramsPerKwh(std::round(intensity(hour)));
    slot.source = "trace:CISO.csv:ci_lifecycle";
    slot.signal = "average";
    slot.basis = "lifecycle";
    slot.kind = hour < 10 ? "measured" : "estimated";
    run.intensity.push_back(slot);
  }
  const std::int64_t start = UnixMillis(record.started_at) / 1000;
  const auto limit_at = [&](int second) {
    const double now = run.intensity[static_cast<std::size_t>(second / 60)].value.v;
    return now > 450 ? 200.0 : (now > 380 ? 250.0 : 300.0);
  };
  double energy = 0;
  double carbon = 0;
  double estimated = 0;
  double gpu_energy = 0;
  double cpu_energy = 0;
  for (int e = 0; e < kEpochs; ++e) {
    EpochRecord epoch;
    epoch.index = e + 1;
    epoch.started_at = record.started_at + std::chrono::seconds(e * kEpochSeconds);
    epoch.ended_at = epoch.started_at + std::chrono::seconds(kEpochSeconds);
    epoch.duration = Seconds(kEpochSeconds);
    double epoch_carbon = 0;
    double steps = 0;
    for (int s = e * kEpochSeconds; s < (e + 1) * kEpochSeconds; ++s) {
      const double limit = limit_at(s);
      const CurvePointRecord point = CurvePoint(limit);
      const double gpu = point.draw_w / 2 + 4 * std::sin(s * 1.7);
      const double cpu = 42.5;
      run.samples.push_back({0, start + s, 1, gpu, limit});
      run.samples.push_back({1, start + s, 1, gpu, limit});
      run.samples.push_back({2, start + s, 1, cpu, std::nullopt});
      const double joules = 2 * gpu + cpu;
      const IntensityRecord& slot = run.intensity[static_cast<std::size_t>(s / 60)];
      gpu_energy += gpu;
      cpu_energy += cpu;
      energy += joules;
      epoch.energy += Joules(joules);
      epoch_carbon += (Joules(joules) * slot.value).v * kPue;
      if (slot.kind == "estimated") estimated += joules;
      steps += point.throughput_per_s * 0.95;
      epoch.power_limit = Watts(limit);
    }
    epoch.carbon = Grams(epoch_carbon);
    epoch.steps = static_cast<std::int64_t>(steps);
    epoch.metrics = {{"accuracy", 1 - 0.6 / (e + 1)}, {"loss", 2.3 / (e + 1)}};
    carbon += epoch_carbon;
    run.epochs.push_back(epoch);
  }
  std::ranges::sort(run.samples, {},
                    [](const SampleRecord& s) { return std::pair(s.component, s.unix_s); });
  for (int i = 0; i < 2; ++i) {
    ComponentRecord gpu;
    gpu.index = i;
    gpu.kind = "gpu";
    gpu.name = "NVIDIA A40";
    gpu.uuid = "SIM-" + std::to_string(i);
    gpu.backend = "simulated";
    gpu.status = Provenance::kSimulated;
    gpu.method = "power curve a40/resnet50/128";
    gpu.energy = Joules(gpu_energy);
    run.components.push_back(gpu);
  }
  ComponentRecord cpu;
  cpu.index = 2;
  cpu.kind = "cpu";
  cpu.name = "package-0";
  cpu.uuid = "rapl:package-0";
  cpu.backend = "rapl";
  cpu.status = Provenance::kMeasured;
  cpu.method = "rapl energy counter";
  cpu.note = "the job's share by CPU time";
  cpu.energy = Joules(cpu_energy);
  cpu.host_energy = Joules(cpu_energy * 2);
  run.components.push_back(cpu);
  ComponentRecord dram;
  dram.index = 3;
  dram.kind = "dram";
  dram.name = "dram-0";
  dram.status = Provenance::kMissing;
  dram.note = "energy_uj is not readable";
  run.components.push_back(dram);

  run.totals.duration = Seconds(kEpochs * kEpochSeconds);
  run.totals.energy = Joules(energy);
  run.totals.energy_known = true;
  run.totals.carbon = Grams(carbon);
  run.totals.energy_with_estimated_intensity = Joules(estimated);
  run.end = RunEnd{record.started_at + std::chrono::seconds(kEpochs * kEpochSeconds), 0};
  run.decisions = {{record.started_at, Watts(300), "clean now", GramsPerKwh(300), true},
                   {record.started_at + std::chrono::seconds(200), Watts(250),
                    "cost 812 < 830 at 300 W", GramsPerKwh(418), true},
                   {record.started_at + std::chrono::seconds(400), std::nullopt,
                    "kept: gain below 1 %", GramsPerKwh(470), false}};
  run.events = {{record.started_at + std::chrono::seconds(30), "warning", "GPU 1 <lost> & found"},
                {record.started_at + std::chrono::seconds(31), "info", "profiling is done"}};
  return run;
}

// Energy measured, no intensity at all, no epochs.
inline RunData RunWithoutIntensity() {
  RunData run = SteeredRun();
  run.record.zone.clear();
  run.record.policy = "none";
  run.record.settings_json = "{}";
  run.record.grid_start = run.record.started_at;
  run.record.time_scale = 1;
  run.intensity.clear();
  run.epochs.clear();
  run.decisions.clear();
  run.events.clear();
  run.curve.clear();
  run.totals.carbon.reset();
  run.totals.energy_without_intensity = run.totals.energy;
  run.totals.energy_with_estimated_intensity = Joules(0);
  run.end->exit_code = 7;
  return run;
}

// Nothing could be measured, and lowtide was killed.
inline RunData RunWithoutEnergy() {
  RunData run;
  run.record.run_id = "01KBA1B2C3D4E5F6G7H8J9KMNQ";
  run.record.name = "sh";
  run.record.command = {"sh", "-c", "sleep 60"};
  run.record.started_at = TimeOf("2026-11-30T12:00:00Z");
  run.record.grid_start = run.record.started_at;
  run.record.policy = "none";
  run.record.zone = "DE";
  run.state = RunState::kInterrupted;
  ComponentRecord gpu;
  gpu.kind = "gpu";
  gpu.name = "GPU";
  gpu.status = Provenance::kMissing;
  gpu.note = "libnvidia-ml.so.1 was not found";
  run.components.push_back(gpu);
  run.totals.duration = Seconds(42);
  EpochRecord epoch;
  epoch.index = 1;
  epoch.started_at = run.record.started_at;
  epoch.duration = Seconds(40);
  epoch.metrics = {{"loss", std::nan("")}};
  run.epochs.push_back(epoch);
  return run;
}

}  // namespace lowtide
