// The blend (forecast/hourly_forecast.h) of whatever history a source has kept, and yesterday
// corrected by the latest reading (forecast/day_persistence.h) where that is too short.
#pragma once

#include <optional>

#include "forecast/day_persistence.h"
#include "forecast/forecaster.h"
#include "forecast/hourly.h"

namespace lowtide {

// Learns from at most the last four years of what the source has kept, together with the last two
// days as the source tells them; asks the source for nothing after `now`. Each call learns anew, in
// about 0.2 s of one core for three years.
//  - What is known already is passed on as it is; hourly slots follow from the end of the latest
//    reading on.
//  - Day-persistence answers instead when the history is shorter than HoursNeeded (93 days for four
//    days ahead), when its latest reading is more than a day old, when less than half of it is
//    known, or when `to` is more than 13 days ahead. The origin's source text says which method was
//    used and why.
//  - Weather that does not cover the history and the hours asked for, and a generation mix that
//    does not cover the history, are left out, and that is said.
//  - Constants and yearly averages forecast themselves, and keep their kind.
class LearnedForecast final : public Forecaster {
 public:
  LearnedForecast() = default;
  explicit LearnedForecast(std::optional<Weather> weather, std::optional<GenerationMix> mix = {})
      : weather_(std::move(weather)), mix_(std::move(mix)) {}

  std::string_view Name() const override { return "blend"; }

  // Errors: those of DayPersistence and of the source.
  Result<IntensitySeries> Predict(const Source& source, TimePoint from, TimePoint to,
                                  TimePoint now) const override;
  Result<BandedForecast> PredictBand(const Source& source, TimePoint from, TimePoint to,
                                     TimePoint now) const override;

 private:
  Result<BandedForecast> Fallback(const Source& source, TimePoint from, TimePoint to, TimePoint now,
                                  const std::string& why) const;

  DayPersistence fallback_;
  std::optional<Weather> weather_;
  std::optional<GenerationMix> mix_;
};

}  // namespace lowtide
