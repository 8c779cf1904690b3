// The fake machine: a scenario, and its state, which several processes may share.
#pragma once

#include <pthread.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "scenario.h"

namespace lowtide::fake_nvml {

// The NVML functions that are counted per GPU.
inline constexpr std::array kFunctionNames = {
    "nvmlDeviceGetHandleByIndex",
    "nvmlDeviceGetHandleByUUID",
    "nvmlDeviceGetName",
    "nvmlDeviceGetUUID",
    "nvmlDeviceGetPciInfo",
    "nvmlDeviceGetIndex",
    "nvmlDeviceGetTotalEnergyConsumption",
    "nvmlDeviceGetPowerUsage",
    "nvmlDeviceGetFieldValues",
    "nvmlDeviceGetPowerManagementLimit",
    "nvmlDeviceGetPowerManagementLimitConstraints",
    "nvmlDeviceGetPowerManagementDefaultLimit",
    "nvmlDeviceGetEnforcedPowerLimit",
    "nvmlDeviceSetPowerManagementLimit",
    "nvmlDeviceGetMigMode",
    "nvmlDeviceGetMaxMigDeviceCount",
    "nvmlDeviceGetMigDeviceHandleByIndex",
    "nvmlDeviceGetComputeRunningProcesses",
};
std::optional<std::size_t> FunctionByName(std::string_view name);

// From this moment on the GPU draws under this limit; `energy_mj` is what it drew before.
struct Anchor {
  std::int64_t at_ns = 0;
  double energy_mj = 0;
  std::uint32_t limit_mw = 0;
  std::uint32_t busy = 0;
};

// In the shared file; plain data only.
struct SharedGpu {
  static constexpr std::size_t kAnchors = 64;
  std::uint64_t anchor_count = 0;  // the newest is anchors[(anchor_count - 1) % kAnchors]
  std::array<Anchor, kAnchors> anchors{};
  double counter_base_mj = 0;        // what the counter started from, after a reset
  std::uint64_t resets_applied = 0;  // bit per fault
  std::uint64_t calls = 0;
  std::array<std::uint64_t, kFunctionNames.size()> function_calls{};
};

struct SharedState {
  std::uint64_t magic = 0;
  pthread_mutex_t mutex{};       // process-shared and robust: its owner may be killed
  std::int64_t start_ns = 0;     // CLOCK_MONOTONIC at scenario time 0
  std::int64_t virtual_ns = -1;  // scenario time where it is set by hand
  std::uint64_t reloads = 0;
  std::uint64_t scripted_reloads = 0;
  std::int64_t driver_down_until_ns = 0;
  std::uint32_t gpu_count = 0;
  std::array<SharedGpu, kMaxGpus> gpus{};
};

class World {
 public:
  // `state_path` empty: private memory. A file that another process made is joined: limits, energy
  // and time go on.
  static Result<std::unique_ptr<World>> Open(Scenario scenario, const std::string& state_path);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Scenario time 0 is when the state was made. Setting it makes time stand still until it is set
  // again; it cannot go back (false).
  std::int64_t NowNs();
  bool SetTimeNs(std::int64_t ns);

  const Scenario& Spec() const { return scenario_; }
  unsigned int GpuCount() const { return static_cast<unsigned int>(scenario_.gpus.size()); }

  // Counts a call; kSuccess, or the state that a fault scripts for it.
  nvml::Return Call(unsigned int gpu, std::size_t function, std::int64_t init_ns);

  double TrueEnergyMj(unsigned int gpu);
  // As the driver would give them now, faults included.
  unsigned long long CounterMj(unsigned int gpu);
  unsigned int InstantMw(unsigned int gpu);
  unsigned int UsageMw(unsigned int gpu);
  double DemandW(unsigned int gpu);
  unsigned int LimitMw(unsigned int gpu);
  // No checks: the caller has made them.
  void SetLimitMw(unsigned int gpu, unsigned int mw);
  bool Busy(unsigned int gpu);
  void SetBusy(unsigned int gpu, bool busy);
  // (limit / demand) ^ speed_exponent, at most 1.
  double RelativeSpeed(unsigned int gpu);
  std::uint64_t Calls(unsigned int gpu, std::optional<std::size_t> function);

  // Grows with each reload of the driver: who initialised before must do so again.
  std::uint64_t Reloads();
  bool DriverDown();
  void ReloadDriver(double down_s);

 private:
  // Counts the call; the fault that it meets, or null.
  const Fault* FaultOf(unsigned int gpu, std::size_t function, std::int64_t init_ns);
  class Lock;

  World(Scenario scenario, SharedState* state, bool shared)
      : scenario_(std::move(scenario)), state_(state), shared_(shared) {}

  static void Initialise(SharedState& state, const Scenario& scenario);
  std::int64_t Now() const;  // the rest below needs the lock
  void ApplyDue(std::int64_t now);
  void Reload(std::int64_t at_ns, double down_s);
  const Anchor& AnchorAt(unsigned int gpu, std::int64_t t_ns) const;
  const Anchor& Newest(unsigned int gpu) const;
  void Push(unsigned int gpu, std::int64_t at_ns, unsigned int limit_mw, bool busy);
  double EnergyMj(unsigned int gpu, std::int64_t t_ns) const;
  double DrawW(unsigned int gpu, std::int64_t t_ns) const;
  bool Active(const Fault& fault, unsigned int gpu, std::int64_t now) const;
  bool Blank(unsigned int gpu, std::int64_t now) const;

  const Scenario scenario_;
  SharedState* const state_;
  const bool shared_;
};

}  // namespace lowtide::fake_nvml
