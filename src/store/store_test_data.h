// Records for tests, with values that differ in every field.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/time.h"
#include "store/records.h"
#include "store/store.h"

namespace lowtide {

inline TimePoint At(const char* text) { return *ParseTime(text); }

// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lowtide-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& Path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline RunRecord SomeRun(std::string run_id) {
  RunRecord run;
  run.run_id = std::move(run_id);
  run.name = "train.py";
  run.command = {"python", "train.py", "--name", "a \"b\""};
  run.working_directory = "/home/u";
  run.host = "node1";
  run.started_at = At("2026-11-30T12:00:00.250Z");
  run.writer = *ThisProcess();
  run.zone = "DE";
  run.policy = "chase";
  run.settings_json = R"({"eta":0.5})";
  run.grid_start = At("2021-07-01T00:00:00Z");
  run.time_scale = 60;
  return run;
}

inline RunUpdate SomeUpdate() {
  RunUpdate update;
  ComponentRecord gpu;
  gpu.index = 0;
  gpu.kind = "gpu";
  gpu.name = "NVIDIA A40";
  gpu.uuid = "GPU-1";
  gpu.backend = "nvml";
  gpu.driver = "535.1";
  gpu.status = Provenance::kMeasured;
  gpu.method = "nvml energy counter";
  gpu.note = "MIG: whole GPU measured";
  gpu.energy = Joules(1234.5);
  gpu.host_energy = Joules(2000);
  gpu.disagreement_pct = 0.75;
  gpu.gaps = Seconds(1.5);
  ComponentRecord dram;
  dram.index = 1;
  dram.kind = "dram";
  dram.status = Provenance::kMissing;
  dram.note = "energy_uj is not readable";
  dram.counted = false;
  update.components = {gpu, dram};
  update.samples = {{0, 1000, 1, 250.25, 300}, {0, 1001, 1, 251.5, std::nullopt}};
  EpochRecord epoch;
  epoch.index = 3;
  epoch.started_at = At("2026-11-30T12:00:01Z");
  epoch.ended_at = At("2026-11-30T12:00:03Z");
  epoch.duration = Seconds(2.125);
  epoch.energy = Joules(501.75);
  epoch.carbon = Grams(0.05);
  epoch.energy_without_intensity = Joules(1.5);
  epoch.power_limit = Watts(275);
  epoch.steps = 40;
  epoch.metrics = {{"accuracy", 0.875}, {"loss", 0.5}};
  update.epochs = {epoch};
  update.decisions = {{At("2026-11-30T12:00:02Z"), Watts(250), "dirty", GramsPerKwh(512), true},
                      {At("2026-11-30T12:00:03Z"), std::nullopt, "kept", std::nullopt, false}};
  update.intensity = {{At("2021-07-01T00:00:00Z"), At("2021-07-01T01:00:00Z"), GramsPerKwh(431.5),
                       "trace:x.csv:ci", "average", "lifecycle", "measured"}};
  update.events = {{At("2026-11-30T12:00:02.5Z"), "warning", "GPU 1 lost"}};
  update.curve = {{300, 5, 280}, {250, 4.5, 240}};
  TotalsRecord totals;
  totals.duration = Seconds(2.5);
  totals.energy = Joules(1234.5);
  totals.energy_known = true;
  totals.carbon = Grams(0.125);
  totals.energy_without_intensity = Joules(1.5);
  totals.energy_with_estimated_intensity = Joules(2.5);
  update.totals = totals;
  return update;
}

}  // namespace lowtide
