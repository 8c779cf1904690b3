// Stands where no intensity is known, so that the rest of a run needs no special case: every
// question is answered by the reason.
#pragma once

#include <string>
#include <utility>

#include "grid/source.h"

namespace lowtide {

class NoSource final : public Source {
 public:
  NoSource(Zone zone, std::string reason) : reason_(std::move(reason)) {
    origin_.source = "none";
    origin_.zone = std::move(zone);
  }

  const IntensityOrigin& Origin() const override { return origin_; }
  // Empty.
  Result<IntensitySeries> History(TimePoint /*from*/, TimePoint /*to*/,
                                  TimePoint /*now*/) const override {
    return IntensitySeries{origin_, {}};
  }
  // kNotFound with the reason.
  Result<IntensityReading> Latest(TimePoint /*now*/) const override {
    return Fail(Code::kNotFound, reason_);
  }
  Result<IntensitySeries> Forecast(TimePoint /*from*/, TimePoint /*to*/,
                                   TimePoint /*now*/) const override {
    return Fail(Code::kNotFound, reason_);
  }

  const std::string& Reason() const { return reason_; }

 private:
  IntensityOrigin origin_;
  std::string reason_;
};

}  // namespace lowtide
