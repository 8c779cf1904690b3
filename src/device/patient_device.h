// Discovery and control of devices whose driver may hang.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/time.h"
#include "device/power_device.h"

namespace lowtide {

// Limits, Limit and SetLimit run on a thread of their own and are given up after `patience` with
// kDeadlineExceeded; while a call hangs, further ones are refused at once. Read is passed on as it
// is: see Meter.
class PatientDevice final : public PowerDevice {
 public:
  // `device` must outlive every call, also one that hangs: see Hangs.
  PatientDevice(PowerDevice& device, Seconds patience);

  const DeviceInfo& Info() const override { return device_.Info(); }
  Result<Reading> Read(MonoTime now) override { return device_.Read(now); }
  Result<Reading> ReadEnergy(MonoTime now) override { return device_.ReadEnergy(now); }
  Result<PowerLimits> Limits() override;
  Result<Watts> Limit() override;
  Status SetLimit(Watts limit) override;

  // A call has not come back. As long as that is so, the process must leave by _exit.
  bool Hangs() const;

 private:
  struct Shared;  // outlives an abandoned thread

  template <class T>
  Result<T> Call(std::function<Result<T>(PowerDevice&)> call);

  PowerDevice& device_;
  Seconds patience_;
  std::shared_ptr<Shared> shared_;
};

// What `backend` finds; nothing when it has not come back within `patience`. It then hangs on a
// thread that keeps it alive, and the process must leave by _exit.
std::optional<Discovery> DiscoverWithin(const std::shared_ptr<DeviceBackend>& backend,
                                        Seconds patience);

}  // namespace lowtide
