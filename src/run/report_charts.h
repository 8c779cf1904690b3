// The pictures of a report. Each is empty when there is nothing to show.
#pragma once

#include <string>

#include "run/report.h"

namespace lowtide {

// Power and power limit above the carbon intensity, over the grid's time.
std::string PowerChart(const Report& report);
// Energy and carbon of each epoch.
std::string EpochChart(const Report& report);
// Energy, carbon and time of this run beside those of its counterfactuals.
std::string CounterfactualChart(const Report& report);

// "full power (300 W)".
std::string CounterfactualLabel(const CounterfactualLine& line);

}  // namespace lowtide
