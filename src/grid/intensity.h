// Carbon intensity always says what it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/series.h"
#include "base/units.h"

namespace lowtide {

// The greatest intensity that is taken for one; no grid or plant comes near it. Above it a number
// is another quantity or unit (megawatt hours, grams per MWh), so readers refuse it.
inline constexpr GramsPerKwh kHighestIntensity{5000};

struct Zone {
  std::string key;  // Electricity Maps' key ("DE", "US-CAL-CISO"); empty when unknown
};

enum class Signal : std::uint8_t { kAverage, kMarginal };
enum class Basis : std::uint8_t { kLifecycle, kDirect, kUnstated };
enum class IntensityKind : std::uint8_t {
  kMeasured,
  kEstimated,
  kForecast,
  kYearlyAverage,
  kConstant
};

std::string_view SignalName(Signal signal);  // "average", "marginal"
std::string_view BasisName(Basis basis);     // "lifecycle", "direct", "unstated"
std::string_view KindName(
    IntensityKind kind);  // "measured", "estimated", "forecast", "yearly_average", "constant"

// Where a series comes from; travels with every answer into the report.
struct IntensityOrigin {
  std::string
      source;  // "trace:ERCO.csv:ci_lifecycle", "yearly:DEU:2023 (Our World in Data / Ember)"
  Zone zone;
  Signal signal = Signal::kAverage;
  Basis basis = Basis::kUnstated;
  IntensityKind kind = IntensityKind::kMeasured;
};

struct IntensitySeries {
  IntensityOrigin origin;
  Series<GramsPerKwh> slots;  // gaps stay gaps
  // Beginnings, ascending, of the slots that the source itself calls estimates.
  std::vector<TimePoint> estimated{};
  // Of a forecast: the band that is to hold the outcome 8 times of 10. Empty where there is none.
  Series<GramsPerKwh> p10{};
  Series<GramsPerKwh> p90{};
  // When it was fetched (the youngest of the slots), and for a forecast when it was issued; nothing
  // where it came over no network.
  std::optional<TimePoint> fetched_at{};
  std::optional<TimePoint> issued_at{};

  // What the slot is: the origin's kind, or an estimate.
  IntensityKind KindOf(const Sample<GramsPerKwh>& slot) const {
    const bool estimate = origin.kind == IntensityKind::kMeasured &&
                          std::binary_search(estimated.begin(), estimated.end(), slot.from);
    return estimate ? IntensityKind::kEstimated : origin.kind;
  }
};

// The slots, and those of the band, that touch [from, to), whole.
IntensitySeries Touching(const IntensitySeries& series, TimePoint from, TimePoint to);

struct IntensityReading {
  IntensityOrigin origin;
  Sample<GramsPerKwh> slot;
  std::optional<TimePoint> fetched_at{};  // as of a series
};

}  // namespace lowtide
