// Forecasts of an hourly series by each method, with their bands, as of many issues at once: what a
// score needs. A single forecast is the case of one issue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "forecast/hourly.h"
#include "forecast/ridge.h"

namespace lowtide {

enum class ForecastMethod : std::uint8_t {
  kPersistence,  // the youngest known value of the same hour of the day
  kWeekly,       // the youngest known value of the same hour of the week
  kRidge,        // forecast/ridge.h, learned once
  kBlend,        // forecast/ridge.h, learned anew every week, corrected by its latest errors
};

std::string_view MethodName(ForecastMethod method);  // "persistence", "weekly", "ridge", "blend"
Result<ForecastMethod> ParseMethod(std::string_view text);

// Hours of history that a method needs before an issue: 168 for persistence and weekly; for ridge
// and blend four weeks of lags, 60 days of training issues, and the horizon.
std::size_t HoursNeeded(ForecastMethod method, std::size_t horizon);

inline constexpr std::size_t kMaxHorizon = kMaxLead;

struct HourlyRequest {
  const HourlySeries* intensity = nullptr;
  const Weather* weather = nullptr;    // for ridge and blend; null: without
  const GenerationMix* mix = nullptr;  // for blend; null: without
  ForecastMethod method = ForecastMethod::kBlend;
  // Hours below it may be learned from at first. Ridge never learns again; blend does every week
  // from here on, each time from what was known by then.
  std::size_t train_until = 0;
  std::vector<std::size_t> issues;  // hours, ascending, from train_until to the series' end
  std::size_t horizon = 96;         // hours
  PhaseListener phase;              // may be empty
};

// Below 270 days of history the mix is not looked at: its terms are too many for so few days, and
// made forecasts of the earlier periods worse (by 4 to 8 % below 200 days).
inline constexpr std::size_t kFewestMixHours = std::size_t{270} * 24;

// Whether there is a mix, a method that knows of it, and enough to learn from.
bool UsesMix(const HourlyRequest& request);

struct HourlyForecast {
  std::size_t issue = 0;
  std::vector<double> mid;  // g/kWh, one per hour from `issue` on
  // The band that holds 80 % of the outcomes, from the errors made at earlier issues whose outcome
  // was known; empty while there are fewer than about 20 such issues.
  std::vector<double> low;
  std::vector<double> high;
};

// A forecast per issue, which depends on nothing of the intensity or the mix from that issue on.
// Intensities below 1 g/kWh are taken for 1. Errors: kInvalidArgument for a horizon outside
// 1..kMaxHorizon or issues out of order; kUnavailable when the history is shorter than HoursNeeded
// or the weather or the mix does not cover it, naming what is there and what is needed.
Result<std::vector<HourlyForecast>> ForecastHours(const HourlyRequest& request);

}  // namespace lowtide
