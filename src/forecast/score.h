// How good forecasts were, once the hours have passed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "forecast/hourly_forecast.h"
#include "grid/intensity.h"

namespace lowtide {

struct ForecastScore {
  std::size_t windows = 0;  // forecasts with at least one outcome
  std::size_t hours = 0;    // outcomes; an hour that is not known is none
  // Mean of |forecast - outcome| / outcome in percent, over each 24 h of lead and over all; nothing
  // where there is no outcome above 0.
  std::vector<std::optional<double>> mape_pct_by_day;
  std::optional<double> mape_pct;
  std::optional<double> mae;  // g/kWh
  // Percentage of outcomes inside the band, ends included; nothing where no forecast had a band.
  std::optional<double> coverage_pct;
};

// Forecasts that reach past the series' end are left out whole.
ForecastScore Score(const HourlySeries& intensity, std::span<const HourlyForecast> forecasts);

// A source's forecast as Score takes it: the hours from the first whole hour at or after its issue
// on, `horizon` at most, up to the first that it does not cover and to the series' end. Nothing
// when it covers none of `intensity`'s hours, or does not say when it was issued.
std::optional<HourlyForecast> AsHourlyForecast(const IntensitySeries& forecast,
                                               const HourlySeries& intensity, std::size_t horizon);

}  // namespace lowtide
