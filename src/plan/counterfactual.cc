#include "plan/counterfactual.h"

#include <algorithm>

namespace lowtide {
namespace {

// Below this share of unknown time, what is missing is rounding.
constexpr double kNothingMissing = 1e-9;

}  // namespace

MeanResult<GramsPerKwh> IntensityView::Mean(TimePoint from, TimePoint to) const {
  if (constant) return {constant, 1.0};
  if (series != nullptr) return MeanOver(*series, from, to);
  return {};
}

Counterfactual ReplayAtPoint(const PowerPoint& point, const Work& work,
                             const IntensityView& intensity, std::string name) {
  Counterfactual out;
  out.name = std::move(name);
  out.limit = point.limit;
  out.duration = work.units * TimePerUnit(point);
  out.energy = point.draw * out.duration;
  const auto mean =
      intensity.Mean(work.start, work.start + ToMilliseconds(out.duration * work.time_scale));
  out.missing_share = 1 - mean.coverage;
  if (mean.value && out.missing_share <= kNothingMissing) {
    out.missing_share = 0;
    out.carbon = out.energy * *mean.value;
  }
  return out;
}

Counterfactual ReplayAtLimit(const PowerCurve& curve, Watts limit, const Work& work,
                             const IntensityView& intensity, std::string name) {
  const PowerPoint* const point = curve.Find(limit);
  return ReplayAtPoint(point != nullptr ? *point : Interpolate(curve, limit), work, intensity,
                       std::move(name));
}

Counterfactual FullPower(const PowerCurve& curve, const Work& work,
                         const IntensityView& intensity) {
  return ReplayAtPoint(curve.Highest(), work, intensity, "full_power");
}

std::optional<Counterfactual> BestConstantLimit(const PowerCurve& curve, const Work& work,
                                                const IntensityView& intensity, Seconds longest) {
  std::vector<Counterfactual> candidates;
  for (const auto& point : curve.points) {
    if (work.units * TimePerUnit(point) > longest * (1 + 1e-9)) continue;
    candidates.push_back(ReplayAtPoint(point, work, intensity, "best_constant_limit"));
  }
  if (candidates.empty()) return std::nullopt;
  const bool all_known =
      std::ranges::all_of(candidates, [](const Counterfactual& c) { return c.carbon.has_value(); });
  return *std::ranges::min_element(candidates, {}, [&](const Counterfactual& c) {
    return all_known ? c.carbon->v : c.energy.v;
  });
}

}  // namespace lowtide
