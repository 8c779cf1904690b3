// Corrects forecasts by the errors of earlier ones, and gives them a band.
//
// Per lead, over issues a day apart: b is the mean of the past errors (logarithms), each weighing
// 10 % more than the one before; the forecast is multiplied by exp(0.3 b) if `correct`. The band is
// split-conformal: the 10 % and 90 % quantiles of the last 60 errors of the corrected forecasts at
// this lead and those an hour off, times a factor per day of lead that grows while outcomes miss
// the band more often than 20 % and shrinks while they miss it less (adaptive conformal inference,
// Gibbs and Candes, NeurIPS 2021). An error counts from the issue on at which its outcome is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "forecast/features.h"
#include "forecast/ridge.h"

namespace lowtide {

enum class Correction : std::uint8_t { kNone, kByPastErrors };

struct Band {
  ForecastTable low;
  ForecastTable high;
  std::vector<std::uint8_t> known;  // per issue: whether it has a band
};

// `issues` are exactly 24 h apart, in the rows of `forecasts`, which are corrected in place. Bands
// are made from the issue `first_band` on; the factors start there.
Band Calibrate(const FeatureTable& table, const std::vector<std::size_t>& issues,
               Correction correction, std::size_t first_band, ForecastTable& forecasts);

}  // namespace lowtide
