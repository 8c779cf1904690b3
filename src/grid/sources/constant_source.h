// One intensity for all times: what the user said, or a yearly average.
#pragma once

#include <utility>

#include "grid/source.h"

namespace lowtide {

class ConstantSource final : public Source {
 public:
  ConstantSource(IntensityOrigin origin, GramsPerKwh value)
      : origin_(std::move(origin)), value_(value) {}

  const IntensityOrigin& Origin() const override { return origin_; }
  // One slot, [from, to); empty when that lies wholly after `now` or is empty.
  Result<IntensitySeries> History(TimePoint from, TimePoint to, TimePoint now) const override;
  // The slot is the UTC day of `now`.
  Result<IntensityReading> Latest(TimePoint now) const override;
  // The same value for all of [from, to): it is its own forecast.
  Result<IntensitySeries> Forecast(TimePoint from, TimePoint to, TimePoint now) const override;

 private:
  IntensityOrigin origin_;
  GramsPerKwh value_;
};

}  // namespace lowtide
