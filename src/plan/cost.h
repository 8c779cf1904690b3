// What one work unit costs at each power limit, and which limit costs least.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"
#include "plan/power_curve.h"

namespace lowtide {

// Zeus's cost (You et al., NSDI 2023): eta*E + (1-eta)*MaxPower*t. `eta` in [0, 1]; `max_power` is
// the highest limit of one GPU times the number of GPUs.
Joules ZeusCost(Joules energy, Seconds time, Watts max_power, double eta);

// The same with carbon in place of energy: eta*E*CI + (1-eta)*MaxPower*MaxCI*t,
// the cost of carbon-aware Zeus (Chase, arXiv 2303.02508).
struct CarbonWeights {
  double eta = 0.5;                // in [0, 1]
  GramsPerKwh max_intensity{750};  // MaxCI, positive
};
Grams CarbonCost(Joules energy, Seconds time, Watts max_power, GramsPerKwh intensity,
                 const CarbonWeights& weights);

// Zeus's four ways to choose a limit.
enum class SelectorKind : std::uint8_t {
  kEnergy,       // least energy
  kTime,         // least time
  kZeus,         // least ZeusCost
  kMaxSlowdown,  // lowest limit with time <= factor x time at the highest limit
};

struct Selector {
  SelectorKind kind = SelectorKind::kZeus;
  double eta = 0.5;           // kZeus
  double max_slowdown = 1.1;  // kMaxSlowdown; at least 1
};

// "energy", "time", "zeus (eta 0.5)", "max-slowdown 1.1".
std::string Describe(const Selector& selector);

// Per work unit. MaxPower is the curve's.
Joules ZeusCostPerUnit(const PowerCurve& curve, const PowerPoint& point, double eta);
Grams CarbonCostPerUnit(const PowerCurve& curve, const PowerPoint& point, GramsPerKwh intensity,
                        const CarbonWeights& weights);

// The point of the curve that the selector chooses; of equals, the highest limit.
const PowerPoint& SelectLimit(const PowerCurve& curve, const Selector& selector);

// Eq. 6 of Chase: argmin over p of [eta*draw(p)*CI + (1-eta)*MaxPower*MaxCI] / throughput(p); of
// equals, the highest limit.
const PowerPoint& SelectCarbonAware(const PowerCurve& curve, GramsPerKwh intensity,
                                    const CarbonWeights& weights);

}  // namespace lowtide
