// What a source itself forecasts, and day-persistence (forecast/day_persistence.h) where it
// forecasts nothing: the forecast of the coming epoch, whatever the run's source is.
#pragma once

#include "forecast/day_persistence.h"
#include "forecast/forecaster.h"

namespace lowtide {

// Stateless.
class SourceForecast final : public Forecaster {
 public:
  std::string_view Name() const override { return "source"; }

  // What is known already of [from, to) as it is, and after it the source's own forecast, where it
  // says anything of that time. Errors: those of
  // DayPersistence, behind the source's own where it has forecasts and could not give one.
  Result<IntensitySeries> Predict(const Source& source, TimePoint from, TimePoint to,
                                  TimePoint now) const override;

 private:
  DayPersistence fallback_;
};

}  // namespace lowtide
