// What a fake machine has and what happens to it, from a JSON file (see README.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "demand_profile.h"
#include "device/nvml/nvml_abi.h"

namespace lowtide::fake_nvml {

inline constexpr unsigned int kMaxGpus = 16;

struct MigInstance {
  std::string uuid;
  unsigned int gpu_instance = 0;
  unsigned int compute_instance = 0;
};

struct Fault {
  enum class Kind {
    kError,          // calls return `error`
    kBlank,          // energy and power succeed with blank values
    kFrozenCounter,  // the counter stands still, then jumps on
    kCounterBack,    // the counter is `by_j` lower from `from_s` on (or while the window lasts)
    kCounterReset,   // the counter starts from 0 at `from_s`
  };
  Kind kind = Kind::kError;
  nvml::Return error = nvml::Return::kSuccess;
  double from_s = 0;
  std::optional<double> to_s;  // until; without it for ever
  // By calls to this GPU (counted from 1, of `functions` only where given) instead of by time.
  std::optional<std::uint64_t> from_call;
  std::optional<std::uint64_t> to_call;  // inclusive
  std::vector<std::string> functions;    // kError: empty means all
  bool sticky = false;  // also after `to_s`, until the process initialises NVML again
  double by_j = 0;
  double hang_s = 0;  // kError: the call returns only after this long, of real time
};

struct GpuSpec {
  std::string name = "NVIDIA A40";
  std::string uuid;
  std::string pci_bus_id;
  unsigned int min_limit_mw = 100'000;
  unsigned int max_limit_mw = 300'000;
  unsigned int default_limit_mw = 300'000;
  unsigned int limit_mw = 300'000;
  double idle_w = 25;
  bool busy = true;
  bool energy_counter = true;
  bool power_reading = true;
  bool instant_power = true;
  bool power_limits = true;
  bool may_set_limits = true;
  bool ignores_limits = false;  // accepts a new limit and keeps the old one
  double counter_period_s = 0.1;
  double power_period_s = 0.02;
  double power_noise_w = 0;  // standard deviation
  std::uint64_t noise_seed = 1;
  double power_usage_window_s = 0;  // nvmlDeviceGetPowerUsage: mean over this, 0 for now
  bool mig_capable = false;
  bool mig_enabled = false;
  std::vector<MigInstance> mig;
  unsigned int compute_processes = 0;
  DemandProfile demand;
  std::vector<Fault> faults;
};

struct DriverReload {
  double at_s = 0;
  double down_s = 0;  // nvmlInit says DRIVER_NOT_LOADED meanwhile
};

struct Scenario {
  std::string driver_version = "550.54.15";
  nvml::Return init_error = nvml::Return::kSuccess;
  nvml::Return count_error = nvml::Return::kSuccess;
  double speed_exponent = 1.0 / 3.0;
  std::vector<DriverReload> driver_reloads;  // in order of time
  std::vector<GpuSpec> gpus;
};

// Errors name the GPU and the key; unknown keys are errors.
Result<Scenario> ParseScenario(std::string_view text, std::string_view name);

// "GPU_IS_LOST" -> kGpuIsLost.
std::optional<nvml::Return> ReturnByName(std::string_view name);

}  // namespace lowtide::fake_nvml
