// The devices of this machine, opened for a verb.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "device/power_device.h"
#include "device/proc/host_cpu.h"
#include "device/proc/job_usage.h"
#include "device/simulated/simulated_gpu.h"

namespace lowtide::cli {

struct MachineOptions {
  std::optional<std::string> gpus;  // --gpus
  std::string simulate_gpu;         // --simulate-gpu; empty: real GPUs
  std::optional<double> cpu_tdp_w;  // --cpu-tdp
  std::optional<int> cpu_threads;   // --cpu-threads
};

// What a run says of the machine it ran on; goes into the record's settings.
struct HostFacts {
  std::string os;
  std::string cpu_model;
  int cpu_count = 0;
  double ram_total_gb = 0;
};

struct Machine {
  std::vector<std::unique_ptr<PowerDevice>> devices;
  std::vector<DeviceProblem> problems;
  std::vector<std::string> warnings;  // odd values of --gpus' relatives, and what was made of them
  std::vector<std::string> notes;
  SimulatedGpu* simulated = nullptr;
  std::unique_ptr<JobUsage> job_usage;
  std::unique_ptr<HostCpu> host_cpu;
  HostFacts facts;
  // A driver call has not come back: leave by _exit.
  bool driver_hangs = false;
};

// Every GPU that the options and the environment select, CPU packages and DRAM by RAPL, and by
// model where RAPL is absent. kInvalidArgument for a malformed --gpus or --simulate-gpu.
Result<Machine> OpenMachine(Clock& clock, const MachineOptions& options);

// The GPUs alone, all of them: to put limits back.
std::vector<std::unique_ptr<PowerDevice>> OpenGpus();

}  // namespace lowtide::cli
