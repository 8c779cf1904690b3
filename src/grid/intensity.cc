#include "grid/intensity.h"

#include <algorithm>
#include <iterator>

namespace lowtide {

std::string_view SignalName(Signal signal) {
  switch (signal) {
    case Signal::kAverage: return "average";
    case Signal::kMarginal: return "marginal";
  }
  return "average";
}

std::string_view BasisName(Basis basis) {
  switch (basis) {
    case Basis::kLifecycle: return "lifecycle";
    case Basis::kDirect: return "direct";
    case Basis::kUnstated: return "unstated";
  }
  return "unstated";
}

std::string_view KindName(IntensityKind kind) {
  switch (kind) {
    case IntensityKind::kMeasured: return "measured";
    case IntensityKind::kEstimated: return "estimated";
    case IntensityKind::kForecast: return "forecast";
    case IntensityKind::kYearlyAverage: return "yearly_average";
    case IntensityKind::kConstant: return "constant";
  }
  return "estimated";
}

IntensitySeries Touching(const IntensitySeries& series, TimePoint from, TimePoint to) {
  const auto touching = [&](const Series<GramsPerKwh>& slots) {
    Series<GramsPerKwh> out;
    std::ranges::copy_if(slots, std::back_inserter(out),
                         [&](const auto& slot) { return slot.to > from && slot.from < to; });
    return out;
  };
  return {series.origin,        touching(series.slots), series.estimated, touching(series.p10),
          touching(series.p90), series.fetched_at,      series.issued_at};
}

}  // namespace lowtide
