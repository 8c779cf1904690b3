// One run: starts the command, measures it, steers it, keeps the books, and leaves everything as it
// was found. Owns the poll loop; the meter has the only other thread.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "device/meter.h"
#include "device/power_device.h"
#include "forecast/forecaster.h"
#include "grid/grid_clock.h"
#include "grid/source.h"
#include "plan/limit_profiler.h"
#include "plan/policy.h"
#include "run/ledger.h"
#include "run/limit_guard.h"
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

// What is worth telling while a run goes on. Called on the session's thread.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void OnEpochEnd(const EpochRecord& epoch, std::optional<std::int64_t> total_epochs) = 0;
  virtual void OnDecision(const DecisionRecord& decision) = 0;
  virtual void OnEvent(const EventRecord& event) = 0;
};

struct RunOutcome {
  std::string run_id;
  int exit_code = 1;
  // The command could not be started: 127 or 126 is in exit_code, and the record says why.
  std::optional<Error> start_error;
  // Everything about the run, read back from the store; when there is no store, as kept in memory.
  RunData data;
  // A call of a driver or of the store hangs: leave with _exit, destructors would wait for it.
  bool must_exit_hard = false;
};

// Runs the command to its end. Never fails as a whole: what cannot be done is an event of the run.
RunOutcome RunCommand(RunConfig config, RunParts parts, RunObserver& observer);

}  // namespace lowtide
