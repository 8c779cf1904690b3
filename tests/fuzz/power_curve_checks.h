// What holds for every power curve that a reader lets through.
#pragma once

#include <cmath>
#include <cstdlib>

#include "plan/cost.h"
#include "plan/power_curve_reader.h"

namespace lowtide {

inline void Must(bool holds) {
  if (!holds) __builtin_trap();
}

inline void CheckCurve(const Result<PowerCurve>& curve) {
  if (!curve) {
    Must(!curve.error().message.empty());
    return;
  }
  Must(!curve->points.empty() && curve->gpus >= 1 && curve->gpus <= kMaxGpus);
  for (std::size_t i = 1; i < curve->points.size(); ++i) {
    Must(curve->points[i - 1].limit > curve->points[i].limit);
  }
  for (const auto& point : curve->points) {
    Must(std::isfinite(ZeusCostPerUnit(*curve, point, 0.5).v));
    Must(EnergyPerUnit(point).v > 0 && TimePerUnit(point).count() > 0);
    Must(curve->Find(point.limit) != nullptr);
  }
  for (const auto kind : {SelectorKind::kEnergy, SelectorKind::kTime, SelectorKind::kZeus,
                          SelectorKind::kMaxSlowdown}) {
    Must(curve->Find(SelectLimit(*curve, {kind, 0.5, 1.1}).limit) != nullptr);
  }
}

}  // namespace lowtide
