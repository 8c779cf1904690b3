// A GPU that exists only as a measured power curve: it draws what the real one drew at its limit,
// and says by how much it would be slower, so that steering can be seen and tested with a real
// training process on a machine without a GPU. Always labelled simulated.
#pragma once

#include <mutex>

#include "base/clock.h"
#include "device/power_device.h"
#include "plan/power_curve.h"

namespace lowtide {

struct SimulatedGpuOptions {
  std::string model = "A40";
  PowerCurve curve;
  // Draw between steps. Measured curves do not give it; 30 W is what the A40's class idles at.
  Watts idle{30};
};

// Thread-safe.
class SimulatedGpu final : public PowerDevice {
 public:
  SimulatedGpu(Clock& clock, SimulatedGpuOptions options);

  const DeviceInfo& Info() const override { return info_; }
  Result<Reading> Read(MonoTime now) override;
  Result<PowerLimits> Limits() override;
  Result<Watts> Limit() override;
  Status SetLimit(Watts limit) override;

  enum class Load : std::uint8_t { kIdle, kWorking };
  void SetLoad(Load load);

  // How much longer a step takes under the current limit than under the highest: >= 1.
  double Slowdown() const;

 private:
  Watts DrawLocked() const;
  void AdvanceLocked(MonoTime now);

  Clock& clock_;
  SimulatedGpuOptions options_;
  DeviceInfo info_;
  mutable std::mutex mutex_;
  Watts limit_;
  Load load_ = Load::kIdle;
  MonoTime updated_;
  Joules energy_;
};

}  // namespace lowtide
