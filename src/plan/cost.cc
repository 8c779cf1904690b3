#include "plan/cost.h"

#include <fmt/format.h>

#include <algorithm>

namespace lowtide {
namespace {

// The first of the cheapest, in falling order of limits, as Zeus's list order has it.
template <class Cost>
const PowerPoint& Cheapest(const PowerCurve& curve, Cost cost) {
  return *std::ranges::min_element(curve.points, {}, cost);
}

const PowerPoint& LowestWithin(const PowerCurve& curve, double factor) {
  const double longest_s = factor * TimePerUnit(curve.Highest()).count();
  const PowerPoint* chosen = &curve.Highest();
  for (const auto& point : curve.points) {
    if (TimePerUnit(point).count() <= longest_s) chosen = &point;
  }
  return *chosen;
}

}  // namespace

Joules ZeusCost(Joules energy, Seconds time, Watts max_power, double eta) {
  return eta * energy + (1 - eta) * (max_power * time);
}

Grams CarbonCost(Joules energy, Seconds time, Watts max_power, GramsPerKwh intensity,
                 const CarbonWeights& weights) {
  return weights.eta * (energy * intensity) +
         (1 - weights.eta) * (max_power * time * weights.max_intensity);
}

std::string Describe(const Selector& selector) {
  switch (selector.kind) {
    case SelectorKind::kEnergy: return "energy";
    case SelectorKind::kTime: return "time";
    case SelectorKind::kZeus: return fmt::format("zeus (eta {:g})", selector.eta);
    case SelectorKind::kMaxSlowdown: return fmt::format("max-slowdown {:g}", selector.max_slowdown);
  }
  return {};
}

Joules ZeusCostPerUnit(const PowerCurve& curve, const PowerPoint& point, double eta) {
  return ZeusCost(EnergyPerUnit(point), TimePerUnit(point), curve.MaxPower(), eta);
}

Grams CarbonCostPerUnit(const PowerCurve& curve, const PowerPoint& point, GramsPerKwh intensity,
                        const CarbonWeights& weights) {
  return CarbonCost(EnergyPerUnit(point), TimePerUnit(point), curve.MaxPower(), intensity, weights);
}

const PowerPoint& SelectLimit(const PowerCurve& curve, const Selector& selector) {
  switch (selector.kind) {
    case SelectorKind::kEnergy:
      return Cheapest(curve, [](const PowerPoint& p) { return EnergyPerUnit(p).v; });
    case SelectorKind::kTime:
      return Cheapest(curve, [](const PowerPoint& p) { return TimePerUnit(p).count(); });
    case SelectorKind::kZeus:
      return Cheapest(
          curve, [&](const PowerPoint& p) { return ZeusCostPerUnit(curve, p, selector.eta).v; });
    case SelectorKind::kMaxSlowdown: return LowestWithin(curve, selector.max_slowdown);
  }
  return curve.Highest();
}

const PowerPoint& SelectCarbonAware(const PowerCurve& curve, GramsPerKwh intensity,
                                    const CarbonWeights& weights) {
  return Cheapest(curve, [&](const PowerPoint& p) {
    return CarbonCostPerUnit(curve, p, intensity, weights).v;
  });
}

}  // namespace lowtide
