#include "plan/power_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lowtide {
namespace {

constexpr double kSameLimitW = 0.5;
constexpr double kMaxLimitW = 1e5;
constexpr double kMinDrawW = 1e-6;
constexpr double kMinThroughput = 1e-12;
constexpr double kMaxThroughput = 1e12;

// Comparisons are written so that a NaN fails them.
Status CheckPoint(const PowerPoint& point, int gpus) {
  const auto bad = [&](std::string_view what, double value, std::string_view allowed) {
    return Fail(Code::kInvalidArgument,
                fmt::format("power curve: at limit {:g} W: {} is {:g}; allowed is {}",
                            point.limit.v, what, value, allowed));
  };
  if (!(point.limit.v > 0 && point.limit.v <= kMaxLimitW)) {
    return bad("the limit", point.limit.v, "above 0 W up to 100 kW");
  }
  if (!(point.throughput_per_s >= kMinThroughput && point.throughput_per_s <= kMaxThroughput)) {
    return bad("the throughput", point.throughput_per_s, "1e-12 to 1e12 a second");
  }
  if (!(point.draw.v >= kMinDrawW && point.draw.v <= kMaxLimitW * gpus)) {
    return bad("the draw", point.draw.v, "above 0 W up to 100 kW a GPU");
  }
  return {};
}

}  // namespace

const PowerPoint* PowerCurve::Find(Watts limit) const {
  const auto it = std::ranges::min_element(
      points, {}, [limit](const PowerPoint& p) { return std::abs(p.limit.v - limit.v); });
  if (it == points.end() || !(std::abs(it->limit.v - limit.v) <= kSameLimitW)) return nullptr;
  return &*it;
}

Result<PowerCurve> MakePowerCurve(std::string device, std::string job, int gpus,
                                  std::vector<PowerPoint> points) {
  if (gpus < 1 || gpus > kMaxGpus) {
    return Fail(Code::kInvalidArgument,
                fmt::format("power curve: {} GPUs; allowed is 1 to {}", gpus, kMaxGpus));
  }
  if (points.empty()) return Fail(Code::kInvalidArgument, "power curve: it has no points");
  for (const auto& point : points) LOWTIDE_TRY_STATUS(CheckPoint(point, gpus));
  std::ranges::sort(points, std::greater{}, [](const PowerPoint& p) { return p.limit.v; });
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i - 1].limit.v - points[i].limit.v <= kSameLimitW) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("power curve: limit {:g} W appears more than once (limits within "
                              "{} W count as the same)",
                              points[i].limit.v, kSameLimitW));
    }
  }
  return PowerCurve{std::move(device), std::move(job), gpus, std::move(points)};
}

PowerPoint Interpolate(const PowerCurve& curve, Watts limit) {
  if (limit >= curve.Highest().limit) return curve.Highest();
  if (limit <= curve.Lowest().limit) return curve.Lowest();
  std::size_t below = 1;
  while (curve.points[below].limit > limit) ++below;
  const PowerPoint& high = curve.points[below - 1];
  const PowerPoint& low = curve.points[below];
  const double share = (limit - low.limit) / (high.limit - low.limit);
  return {limit, std::lerp(low.throughput_per_s, high.throughput_per_s, share),
          Watts(std::lerp(low.draw.v, high.draw.v, share))};
}

PowerCurve ScaleToGpus(const PowerCurve& curve, int gpus) {
  PowerCurve out = curve;
  const double factor = static_cast<double>(gpus) / static_cast<double>(curve.gpus);
  out.gpus = gpus;
  for (auto& point : out.points) {
    point.throughput_per_s *= factor;
    point.draw = point.draw * factor;
  }
  return out;
}

}  // namespace lowtide
