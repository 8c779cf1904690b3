// UTC time and monotonic time are different types: the first is for the grid, the second for
// durations. They never convert into each other.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace lowtide {

// A moment in UTC, to the millisecond.
using TimePoint = std::chrono::sys_time<std::chrono::milliseconds>;

// Tag for the monotonic clock; it has no now() on purpose: time comes from a Clock.
struct MonotonicClockTag {
  using rep = std::chrono::nanoseconds::rep;
  using period = std::chrono::nanoseconds::period;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<MonotonicClockTag>;
  static constexpr bool is_steady = true;
};
using MonoTime = MonotonicClockTag::time_point;

constexpr Seconds ToSeconds(std::chrono::nanoseconds d) { return Seconds(d); }
// Clamped to +-4e9 s (126 years), so that a sum with a clock's reading cannot overflow.
constexpr std::chrono::nanoseconds ToNanoseconds(Seconds s) {
  constexpr Seconds kBound(4e9);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::clamp(s, -kBound, kBound));
}
constexpr std::chrono::milliseconds ToMilliseconds(Seconds s) {
  return std::chrono::round<std::chrono::milliseconds>(s);
}
constexpr double UnixSeconds(TimePoint t) {
  return static_cast<double>(t.time_since_epoch().count()) / 1000.0;
}
constexpr std::int64_t UnixMillis(TimePoint t) { return t.time_since_epoch().count(); }
constexpr TimePoint FromUnixMillis(std::int64_t ms) {
  return TimePoint(std::chrono::milliseconds(ms));
}

// Parses RFC 3339 ("2026-11-30T12:00:00.250Z", "+01:00" offsets) and the two shorter spellings
// that grid data use: no seconds ("2021-07-01T00:00Z") and a space instead of "T". An offset is
// required unless kAssumeUtc (some published traces leave it out). Seconds of 60 are refused,
// digits beyond the millisecond dropped, and the year is 0000..9999 in UTC.
enum class Offset : std::uint8_t { kRequired, kAssumeUtc };
Result<TimePoint> ParseTime(std::string_view text, Offset offset = Offset::kRequired);

// "2026-11-30T12:00:00Z", with ".250" when there are milliseconds.
std::string FormatTime(TimePoint t);

// "90s", "15m", "1h", "1h30m", "60d", "250ms"; a bare number is refused, as is a negative one.
Result<Seconds> ParseDuration(std::string_view text);

// "0.25s", "42.1s", "3m05s", "2h14m", "3d04h": for people.
std::string FormatDuration(Seconds d);

}  // namespace lowtide
