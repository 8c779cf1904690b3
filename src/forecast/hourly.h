// Intensity and weather on an hourly grid: what the learned forecasts work on.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/series.h"
#include "base/time.h"
#include "base/units.h"

namespace lowtide {

// Value k holds in [start + k h, start + (k+1) h). `start` is a whole UTC hour.
struct HourlySeries {
  TimePoint start;
  std::vector<std::optional<double>> values;  // finite; nothing in a gap

  TimePoint TimeOf(std::size_t hour) const {
    return start + std::chrono::hours(static_cast<std::int64_t>(hour));
  }
};

// The longest series that is taken: 30 years.
inline constexpr std::size_t kMaxHours = std::size_t{30} * 366 * 24;

// Time-weighted means of [from, to), both rounded down to whole hours. An hour is known when slots
// cover at least half of it. Empty when `from` >= `to`. kInvalidArgument above kMaxHours.
Result<HourlySeries> ToHourly(const Series<GramsPerKwh>& slots, TimePoint from, TimePoint to);

// Hourly numbers without gaps, one vector per column, all as long as each other.
struct HourlyColumns {
  TimePoint start;
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;

  std::size_t Hours() const { return columns.empty() ? 0 : columns.front().size(); }
};

struct Weather : HourlyColumns {};

// What each kind of power station fed in, all in one unit, none below 0.
struct GenerationMix : HourlyColumns {};

// Reads CSV: a UTC time in the first column (as in grid/trace.h), at least one further column of
// numbers, rows an hour apart and ascending. A row of zeros only (where there
// is more than one variable), an empty or NaN cell, and an hour
// without a row (at most a week of them on end) are missing: they take the same hour of the day
// before, as published weather files mark a missing day by zeros. kInvalidArgument, naming file,
// line and column; kDataLoss when the first day has missing hours, for then there is no day before.
Result<Weather> ParseWeather(std::string_view text, std::string_view name);

// Reads those columns of a CSV whose names are kinds of power stations (IsGenerationColumn); it may
// have others. Values below 0 (pumps and batteries that take in) count as 0. Otherwise as
// ParseWeather; kNotFound when fewer than two columns are of such names.
Result<GenerationMix> ParseGenerationMix(std::string_view text, std::string_view name);

// Whether `name` is one of coal, hard_coal, lignite, gas, nat_gas, natural_gas, oil, petroleum,
// nuclear, hydro, wind, wind_onshore, wind_offshore, solar, biomass, geothermal, waste, other,
// unknown. In any case.
bool IsGenerationColumn(std::string_view name);

}  // namespace lowtide
