// The answer of energy-charts' /co2eq.
#pragma once

#include <string_view>

#include "grid/providers/payload.h"

namespace lowtide {

enum class EnergyChartsValues : std::uint8_t {
  kActual,    // `co2eq` alone; where it is null, `co2eq_forecast` marked as estimated
  kForecast,  // `co2eq_forecast` alone, not marked
};

// Parallel arrays `unix_seconds`, `co2eq`, `co2eq_forecast`, which must be equally long
// (kDataLoss). The step differs by country: a slot holds for the usual step of `unix_seconds`. A
// time for which both are null is missing. `deprecated: true` becomes a note. The answer does not
// name its country.
Result<Payload> ParseEnergyCharts(std::string_view text, EnergyChartsValues values);

}  // namespace lowtide
