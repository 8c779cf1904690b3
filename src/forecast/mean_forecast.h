// The one number that the carbon-aware cost asks for: the intensity expected over the coming epoch.
#pragma once

#include <optional>

#include "forecast/forecaster.h"

namespace lowtide {

struct ExpectedIntensity {
  IntensityOrigin origin;
  std::optional<GramsPerKwh> value;  // time-weighted mean of what is covered; nothing if none is
  double coverage = 0;               // covered share of [from, to), in [0, 1]
};

// The mean of the forecast made at `now` over [from, to); at `from` itself when the interval is
// empty. Errors of Predict.
Result<ExpectedIntensity> MeanForecast(const Forecaster& forecaster, const Source& source,
                                       TimePoint from, TimePoint to, TimePoint now);

}  // namespace lowtide
