#include "grid/max_intensity.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/csv.h"

namespace lowtide {
namespace {

constexpr std::string_view kDynamic = "dynamic:";
constexpr Seconds kShortestWindow = std::chrono::hours(1);
constexpr Seconds kLongestWindow = std::chrono::days(3660);

}  // namespace

Result<MaxCarbonIntensity> ParseMaxCarbonIntensity(std::string_view text) {
  if (text.starts_with(kDynamic)) {
    const auto window = ParseDuration(text.substr(kDynamic.size()));
    if (window && *window >= kShortestWindow && *window <= kLongestWindow) {
      return DynamicMaximum{*window};
    }
  } else if (const auto number = ParseNumber(text);
             number && *number > 0 && *number <= kHighestIntensity.v) {
    return GramsPerKwh(*number);
  }
  return Fail(
      Code::kInvalidArgument,
      fmt::format("'{}' is not a maximum carbon intensity; expected a number above 0 and at "
                  "most {} g/kWh, or dynamic: and a window of 1h to 3660d, such as "
                  "dynamic:60d",
                  text.substr(0, 64), kHighestIntensity.v));
}

Result<MaximumIntensity> MaximumOver(const Source& source, TimePoint now, Seconds window) {
  const TimePoint from = now - ToMilliseconds(window);
  // The end is one tick past `now`, so that a slot starting just now counts.
  LOWTIDE_TRY(const Series<GramsPerKwh> known,
              KnownHistory(source, from, from, now + std::chrono::milliseconds(1), now));
  const auto highest =
      std::ranges::max_element(known, {}, [](const auto& slot) { return slot.value; });
  if (highest == known.end()) {
    return Fail(Code::kUnavailable,
                fmt::format("{}: no intensity is known between {} and {}, so their maximum is not; "
                            "give --max-carbon-intensity as a number",
                            source.Origin().source, FormatTime(from), FormatTime(now)));
  }
  return MaximumIntensity{highest->value, highest->from, MeanOver(known, from, now).coverage};
}

Result<MaximumIntensity> Resolve(const MaxCarbonIntensity& maximum, const Source& source,
                                 TimePoint now) {
  if (const auto* number = std::get_if<GramsPerKwh>(&maximum)) {
    return MaximumIntensity{*number, now, 1};
  }
  return MaximumOver(source, now, std::get<DynamicMaximum>(maximum).window);
}

}  // namespace lowtide
