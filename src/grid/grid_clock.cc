#include "grid/grid_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lowtide {
namespace {

constexpr double kFastest = 1e6;

std::chrono::milliseconds Scaled(std::chrono::milliseconds d, double factor) {
  // Far beyond any calendar, and far enough from the limits of the type to be added to a time.
  constexpr double kBound = 1e18;
  const double scaled = std::clamp(static_cast<double>(d.count()) * factor, -kBound, kBound);
  return std::chrono::milliseconds(std::llround(scaled));
}

}  // namespace

Status CheckTimeScale(double scale) {
  if (scale > 0 && scale <= kFastest) return {};
  return Fail(Code::kInvalidArgument,
              fmt::format("time scale {} is out of range; allowed are numbers above 0 and at most "
                          "{}",
                          scale, kFastest));
}

TimePoint GridClock::ToGrid(TimePoint real) const {
  return grid_start + Scaled(real - real_start, scale);
}

TimePoint GridClock::ToReal(TimePoint grid) const {
  return real_start + Scaled(grid - grid_start, 1 / scale);
}

}  // namespace lowtide
