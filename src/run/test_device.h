// A device for tests: holds a limit, remembers what was asked of it, fails when told to.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "device/power_device.h"

namespace lowtide {

class TestDevice final : public PowerDevice {
 public:
  explicit TestDevice(std::string uuid, Provenance provenance = Provenance::kMeasured) {
    info_.uuid = std::move(uuid);
    info_.name = "test " + info_.uuid;
    info_.backend = "test";
    info_.provenance = provenance;
  }

  const DeviceInfo& Info() const override { return info_; }
  Result<Reading> Read(MonoTime now) override {
    return Reading{now, Joules(0), std::nullopt, false};
  }
  Result<PowerLimits> Limits() override { return limits; }
  Result<Watts> Limit() override { return limit; }
  Status SetLimit(Watts watts) override {
    if (refuse) return Fail(Code::kPermissionDenied, "root is needed to set a power limit");
    if (watts < limits.min || watts > limits.max) {
      return Fail(Code::kInvalidArgument, fmt::format("{} W is out of range", watts.v));
    }
    history.push_back(watts);
    limit = watts;
    if (lose_answer) return Fail(Code::kUnavailable, "GPU is lost");
    return {};
  }

  PowerLimits limits{Watts(100), Watts(300), Watts(300)};
  Watts limit{300};
  bool refuse = false;
  bool lose_answer = false;  // a limit is set, but the driver fails right after it
  std::vector<Watts> history;

 private:
  DeviceInfo info_;
};

}  // namespace lowtide
