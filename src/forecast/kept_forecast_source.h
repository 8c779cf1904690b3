// Stands in for sources that do not answer: forecasts from what they have said before.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "forecast/learned_forecast.h"
#include "grid/source.h"

namespace lowtide {

// Thread-safe. Asks nobody: reads only what `sources` keep (Source::Kept), the first of them that
// is enough for a forecast. A forecast is made once an hour.
class KeptForecastSource final : public Source {
 public:
  // At least one; all of one signal, in the order in which they are preferred; they outlive this.
  explicit KeptForecastSource(std::vector<const Source*> sources);

  // Kind: forecast. Answers name the source whose history was used, and the method.
  const IntensityOrigin& Origin() const override { return origin_; }

  // A forecast of what is past already, too, where nobody has told of it.
  Result<IntensitySeries> History(TimePoint from, TimePoint to, TimePoint now) const override;
  Result<IntensityReading> Latest(TimePoint now) const override;
  // With its band where the method has one (forecast/learned_forecast.h). kUnavailable when nothing
  // that is kept is young enough, with the reason for each source.
  Result<IntensitySeries> Forecast(TimePoint from, TimePoint to, TimePoint now) const override;

 private:
  Result<IntensitySeries> Make(TimePoint from, TimePoint to, TimePoint now) const;

  std::vector<const Source*> sources_;
  IntensityOrigin origin_;
  LearnedForecast forecaster_;

  struct Made {
    TimePoint hour;  // in which it was made
    TimePoint from;
    TimePoint to;
    IntensitySeries series;
  };
  mutable std::mutex mutex_;
  mutable std::optional<Made> made_;
};

}  // namespace lowtide
