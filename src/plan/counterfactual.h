// What the same work would have cost at one constant limit.
#pragma once

#include <optional>
#include <string>

#include "base/series.h"
#include "plan/plan.h"
#include "plan/power_curve.h"

namespace lowtide {

// Intensity over time, as a plan or a replay sees it. `constant` wins over `series`; neither: the
// intensity is unknown. Borrows `series`.
struct IntensityView {
  std::optional<GramsPerKwh> constant;
  const Series<GramsPerKwh>* series = nullptr;

  // Time-weighted mean over [from, to) and the share of it that is known.
  MeanResult<GramsPerKwh> Mean(TimePoint from, TimePoint to) const;
};

// A job as a replay needs it.
struct Work {
  double units = 0;  // in the curve's work units, positive
  TimePoint start;   // in grid time
  // Grid time that passes in one second of the job: above 1 on an accelerated run.
  double time_scale = 1;
};

// The work at one point of the curve: energy = draw x duration, carbon = energy x the time-weighted
// mean intensity of the grid time it takes.
Counterfactual ReplayAtPoint(const PowerPoint& point, const Work& work,
                             const IntensityView& intensity, std::string name);

// The work at `limit`, interpolated in the curve.
Counterfactual ReplayAtLimit(const PowerCurve& curve, Watts limit, const Work& work,
                             const IntensityView& intensity, std::string name);

// "full_power": the highest limit from the start.
Counterfactual FullPower(const PowerCurve& curve, const Work& work, const IntensityView& intensity);

// "best_constant_limit": of the curve's limits that finish within `longest`, the one with the least
// carbon; with the least energy if the carbon of any of them is unknown. Of equals, the highest.
// Nothing when no limit is that fast. A rounding of 1e-9 of `longest` is forgiven.
std::optional<Counterfactual> BestConstantLimit(const PowerCurve& curve, const Work& work,
                                                const IntensityView& intensity, Seconds longest);

}  // namespace lowtide
