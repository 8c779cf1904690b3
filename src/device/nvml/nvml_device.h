// One NVIDIA GPU as a PowerDevice.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "device/nvml/nvml_session.h"
#include "device/power_device.h"

namespace lowtide {

// Read() gives the energy counter and the instant power where the GPU has them, so that a meter can
// check one against the other; what the driver answers with a blank value is left out.
// - GPU lost, reset required, driver gone or unknown error: kUnavailable. The GPU may come back:
//   keep reading. NVML is initialised again after a driver reload, and from time to time while a
//   fault lasts (see NvmlSession), which can take seconds inside Read().
// - kDataLoss: the driver answers, but with blank values only. kUnimplemented: neither is offered.
// - `discontinuity`: the counter went back, or forward by more than the GPU can draw.
// Thread-safe: Read on one thread beside Limit and SetLimit on another.
class NvmlDevice final : public PowerDevice {
 public:
  // How long a fault lasts before NVML is initialised again on the chance that it helps.
  static constexpr Seconds kFaultPatience{10};

  // `label` names the GPU in messages: "GPU 3 (NVIDIA A40)".
  NvmlDevice(std::shared_ptr<NvmlSession> session, DeviceInfo info, std::string label);

  const DeviceInfo& Info() const override { return info_; }
  // Whether energy or power can be read now: kSuccess, or why not (kNoData: blank values). Learns
  // what the GPU offers and, for judging its counter, its highest limit.
  nvml::Return Probe();
  Result<Reading> Read(MonoTime now) override { return ReadWhat(Want::kAll, now); }
  Result<Reading> ReadEnergy(MonoTime now) override { return ReadWhat(Want::kEnergy, now); }
  Result<PowerLimits> Limits() override;
  Result<Watts> Limit() override;
  // In mW. Does nothing where the limit is that already; reads back what it has set.
  Status SetLimit(Watts limit) override;

 private:
  enum class Support : std::uint8_t { kUnknown, kYes, kNo };
  template <class T>
  struct Value {
    nvml::Return state = nvml::Return::kNotSupported;
    std::optional<T> value;  // nothing when the call failed or answered with a blank
  };
  struct LimitRange {
    unsigned int min_mw = 0;
    unsigned int max_mw = 0;
  };

  struct Observation {
    Value<unsigned long long> energy_mj;
    Value<double> power_mw;
    // The state that says most when there is no value; kSuccess: blanks.
    nvml::Return Fault() const;
  };

  // kEnergy: power only if there is no energy.
  enum class Want : std::uint8_t { kAll, kEnergy };

  Result<Reading> ReadWhat(Want want, MonoTime now);
  Observation Observe(Want want);
  Value<unsigned long long> ReadEnergyMj();
  Value<double> ReadPowerMw();
  Value<double> ReadInstantMw();
  // Whether the counter's step since the last reading cannot be energy that the GPU drew.
  bool IsImplausible(unsigned long long energy_mj, MonoTime now) const;
  // The error of a reading without a value; starts NVML again where that may help and is due.
  std::unexpected<Error> MakeFault(nvml::Return state, MonoTime now);
  Result<LimitRange> Range();
  Result<unsigned int> LimitMw(std::string_view doing);
  Error MakeError(nvml::Return r, std::string_view doing) const;

  const std::shared_ptr<NvmlSession> session_;  // devices may outlive the backend
  const DeviceInfo info_;
  const std::string label_;
  NvmlHandle handle_;

  std::atomic<unsigned int> max_limit_mw_{0};  // for plausibility only; 0: not known

  std::mutex read_mutex_;  // guards the rest
  std::uint64_t generation_ = 0;
  Support energy_ = Support::kUnknown;
  Support instant_ = Support::kUnknown;
  Support usage_ = Support::kUnknown;
  std::optional<unsigned long long> last_energy_mj_;
  MonoTime last_energy_at_{};
  std::optional<MonoTime> fault_since_;
};

}  // namespace lowtide
