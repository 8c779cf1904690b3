// The options of `lowtide run`, and the checked configuration they stand for.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "intensity_options.h"
#include "machine.h"
#include "run/session.h"

namespace CLI {
class App;
}

namespace lowtide::cli {

// As written; empty: not given.
struct RunFlags {
  std::string name;
  IntensityFlags intensity;
  std::string grid_time;
  double time_scale = 1;
  double pue = 0;  // 0: not given

  std::string policy = "none";
  double eta = -1;  // below 0: not given
  std::string selector = "zeus";
  std::string max_carbon_intensity = "750";
  std::string period;
  std::string min_dwell;
  double min_gain = -1;

  std::string power_curve;
  std::string profile = "auto";
  int wait_steps = 1;
  int warmup_steps = 10;
  int profile_steps = 40;
  double limit_step_w = 25;
  std::string min_window = "0s";
  double min_throughput_share = 0.6;

  std::string gpus;
  std::string simulate_gpu;
  bool force_shared = false;
  std::string cpu_energy = "share";
  double cpu_tdp_w = 0;
  int cpu_threads = 0;
  std::string sample_period = "100ms";

  std::string json_report;
  std::string html_report;
  bool quiet = false;
  bool no_store = false;
  bool json = false;
};

void AddRunOptions(CLI::App& app, RunFlags& flags);

MachineOptions MachineOptionsOf(const RunFlags& flags);

// Checks every option; errors name it, its value and what is allowed. `source` may be a NoSource.
Result<RunConfig> MakeRunConfig(const RunFlags& flags, std::vector<std::string> command,
                                const Machine& machine, const Source& source);

}  // namespace lowtide::cli
