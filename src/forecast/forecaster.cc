#include "forecast/forecaster.h"

#include <algorithm>

namespace lowtide {

Result<ExpectedIntensity> MeanForecast(const Forecaster& forecaster, const Source& source,
                                       TimePoint from, TimePoint to, TimePoint now) {
  to = std::max(to, from + std::chrono::milliseconds(1));
  LOWTIDE_TRY(IntensitySeries series, forecaster.Predict(source, from, to, now));
  const auto mean = MeanOver(series.slots, from, to);
  return ExpectedIntensity{std::move(series.origin), mean.value, mean.coverage};
}

}  // namespace lowtide
