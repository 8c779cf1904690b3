// What the fake providers serve, computed here: the formulas of series.py.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/time.h"
#include "base/units.h"

namespace lowtide::fake_series {

inline constexpr double kEstimateError = 3;    // an estimated value is that much too high
inline constexpr double kMarginalAbove = 150;  // the average
inline constexpr double kDirectShare = 0.75;   // of lifecycle emissions

constexpr std::uint32_t Fnv1a32(std::string_view text) {
  std::uint32_t value = 0x811C9DC5U;
  for (const char c : text) {
    value = (value ^ static_cast<unsigned char>(c)) * 0x01000193U;
  }
  return value;
}

// The zone's average in [from, to), which begins and ends on a multiple of five minutes. `key` is
// Electricity Maps' key; a region of Great Britain is "GB-13".
inline GramsPerKwh Lifecycle(std::string_view key, TimePoint from, TimePoint to) {
  using namespace std::chrono_literals;
  const std::int64_t first = from.time_since_epoch() / 5min;
  const std::int64_t end = to.time_since_epoch() / 5min;
  double sum = 0;
  for (std::int64_t n = first; n < end; ++n) {
    sum += static_cast<double>(std::abs(n % 288 - 144)) / 2 + static_cast<double>(7 * n % 13);
  }
  return GramsPerKwh(120 + Fnv1a32(key) % 200 + sum / static_cast<double>(end - first));
}

inline GramsPerKwh Direct(std::string_view key, TimePoint from, TimePoint to) {
  return Lifecycle(key, from, to) * kDirectShare;
}

inline GramsPerKwh Marginal(std::string_view key, TimePoint from, TimePoint to) {
  return Lifecycle(key, from, to) + GramsPerKwh(kMarginalAbove);
}

// What a forecast issued at `issued` (on a step) is too high by in the slot that begins at `from`.
inline GramsPerKwh ForecastError(TimePoint from, TimePoint issued, std::chrono::milliseconds step) {
  return GramsPerKwh(static_cast<double>((5 * ((from - issued) / step) + 3) % 11 - 5));
}

}  // namespace lowtide::fake_series
