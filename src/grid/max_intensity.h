// MaxCarbonIntensity, the weight of time in the carbon-aware cost
// eta*CTA + (1-eta)*MaxPower*MaxCarbonIntensity*TTA: a number, or the highest intensity of the last
// days before the job.
#pragma once

#include <string_view>
#include <variant>

#include "base/result.h"
#include "grid/source.h"

namespace lowtide {

struct DynamicMaximum {
  Seconds window;
  bool operator==(const DynamicMaximum&) const = default;
};
using MaxCarbonIntensity = std::variant<GramsPerKwh, DynamicMaximum>;

// "750" (g/kWh; above 0, at most 5000) or "dynamic:60d" (a window of 1 hour to 3660 days).
// kInvalidArgument otherwise.
Result<MaxCarbonIntensity> ParseMaxCarbonIntensity(std::string_view text);

struct MaximumIntensity {
  GramsPerKwh value;
  TimePoint at;         // start of the (first) slot that has it; `now` for a number
  double coverage = 1;  // share of the window for which an intensity is known, in [0, 1]
};

// The highest intensity known in [now - window, now], the slot of `now` included. kUnavailable when
// nothing is known there; a part is enough, and `coverage` says how much.
Result<MaximumIntensity> MaximumOver(const Source& source, TimePoint now, Seconds window);

// The number itself, or MaximumOver its window.
Result<MaximumIntensity> Resolve(const MaxCarbonIntensity& maximum, const Source& source,
                                 TimePoint now);

}  // namespace lowtide
