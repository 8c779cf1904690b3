// What a run is told and what it is made of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "device/meter.h"
#include "device/power_device.h"
#include "forecast/forecaster.h"
#include "grid/source.h"
#include "plan/limit_profiler.h"
#include "plan/policy.h"
#include "run/ledger.h"
#include "run/signals.h"
#include "store/store.h"

namespace lowtide {

class SimulatedGpu;
class JobShare;
class JobUsage;

struct RunConfig {
  std::string name;
  std::vector<std::string> command;
  std::string working_directory;
  std::string host;
  std::string zone;
  std::string policy_text;    // as the user gave it
  std::string settings_json;  // what the numbers depend on, for the record
  std::optional<std::int64_t> batch_size;

  Policy policy;
  // Set when MaxCarbonIntensity is the maximum over a window that ends at the start.
  std::optional<Seconds> max_intensity_window;
  // How often the policy decides; nothing: at every epoch.
  std::optional<Seconds> period;
  std::optional<PowerCurve> curve;  // given by the user; nothing: kept from a past run, or profiled
  ProfileMode profile = ProfileMode::kAuto;
  ProfilerOptions profiler;
  enum class Sharing : std::uint8_t { kRefuse, kForce };
  Sharing shared_gpus = Sharing::kRefuse;  // whether the limit of a MIG or shared GPU may be set

  LedgerOptions ledger;
  MeterOptions meter;
  std::optional<TimePoint> grid_start;  // nothing: now
  double time_scale = 1;

  std::filesystem::path limits_folder;   // journals of power limits
  std::filesystem::path runtime_folder;  // made for the socket, removed at the end
  std::filesystem::path program;         // lowtide itself, for the watchdog
};

// What a run is made of. Pointers may be null where stated.
struct RunParts {
  Clock* clock = nullptr;
  SignalQueue* signals = nullptr;
  Store* store = nullptr;  // null: the run is not kept (the store could not be opened)
  std::vector<std::unique_ptr<PowerDevice>> devices;
  std::vector<DeviceProblem> problems;
  SimulatedGpu* simulated = nullptr;       // one of `devices`, or null
  JobUsage* job_usage = nullptr;           // null: no CPU time of the job is known
  JobShare* job_share = nullptr;           // null: host energy cannot be shared out
  const Source* source = nullptr;          // null: no intensity
  const Forecaster* forecaster = nullptr;  // null exactly when `source` is
};

}  // namespace lowtide
