#include "grid/intensity.h"

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

}  // namespace lowtide
