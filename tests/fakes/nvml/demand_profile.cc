#include "demand_profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace lowtide::fake_nvml {
namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;

double PeriodOf(const DemandProfile& profile) {
  double period = 0;
  for (const auto& s : profile.segments) period += s.duration_s;
  return period;
}

// The antiderivative of v -> clamp(v, low, high), from low.
double ClampPrimitive(double v, double low, double high) {
  if (v < low) return low * (v - low);
  if (v <= high) return (v * v - low * low) / 2;
  return (high * high - low * low) / 2 + high * (v - high);
}

// Over the first x seconds of a segment.
double SegmentEnergy(const Segment& s, double x, double low, double high) {
  const double slope = (s.to_w - s.from_w) / s.duration_s;
  if (std::abs(slope) * x < 1e-9) return std::clamp(s.from_w, low, high) * x;
  const double end = s.from_w + slope * x;
  return (ClampPrimitive(end, low, high) - ClampPrimitive(s.from_w, low, high)) / slope;
}

double SegmentsEnergy(const DemandProfile& profile, double t, double low, double high) {
  double sum = 0;
  for (const auto& s : profile.segments) {
    if (t <= 0) break;
    sum += SegmentEnergy(s, std::min(t, s.duration_s), low, high);
    t -= s.duration_s;
  }
  return sum;
}

// Over the first `angle` (at most one turn) of the sine.
double SineEnergy(const DemandProfile& p, double angle, double low, double high) {
  // Between these angles the clamp is in one of its three regimes.
  std::array<double, 6> cuts{0, angle, angle, angle, angle, angle};
  std::size_t n = 2;
  for (const double bound : {low, high}) {
    const double ratio = (bound - p.mean_w) / p.amplitude_w;
    if (!(ratio > -1 && ratio < 1)) continue;
    const double a = std::asin(ratio);
    for (const double cut : {a < 0 ? a + kTwoPi : a, std::numbers::pi - a}) {
      if (cut < angle) cuts[n++] = cut;
    }
  }
  std::sort(cuts.begin(), cuts.end());
  double sum = 0;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const double from = cuts[i];
    const double to = cuts[i + 1];
    const double middle = p.mean_w + p.amplitude_w * std::sin((from + to) / 2);
    if (middle <= low) {
      sum += low * (to - from);
    } else if (middle >= high) {
      sum += high * (to - from);
    } else {
      sum += p.mean_w * (to - from) + p.amplitude_w * (std::cos(from) - std::cos(to));
    }
  }
  return sum * p.period_s / kTwoPi;
}

}  // namespace

double DemandAt(const DemandProfile& profile, double t_s) {
  if (profile.kind == DemandProfile::Kind::kSine) {
    return profile.mean_w + profile.amplitude_w * std::sin(kTwoPi * t_s / profile.period_s);
  }
  double t = profile.repeat ? std::fmod(t_s, PeriodOf(profile)) : t_s;
  for (const auto& s : profile.segments) {
    if (t < s.duration_s) return s.from_w + (s.to_w - s.from_w) * t / s.duration_s;
    t -= s.duration_s;
  }
  return profile.segments.back().to_w;
}

double ClampedEnergy(const DemandProfile& profile, double t_s, double low_w, double high_w) {
  high_w = std::max(low_w, high_w);
  if (profile.kind == DemandProfile::Kind::kSine) {
    if (profile.amplitude_w == 0) return std::clamp(profile.mean_w, low_w, high_w) * t_s;
    const double turns = std::floor(t_s / profile.period_s);
    const double rest = std::clamp(t_s / profile.period_s - turns, 0.0, 1.0);
    return turns * SineEnergy(profile, kTwoPi, low_w, high_w) +
           SineEnergy(profile, kTwoPi * rest, low_w, high_w);
  }
  const double period = PeriodOf(profile);
  if (!profile.repeat) {
    const double after = std::max(0.0, t_s - period);
    return SegmentsEnergy(profile, std::min(t_s, period), low_w, high_w) +
           after * std::clamp(profile.segments.back().to_w, low_w, high_w);
  }
  const double turns = std::floor(t_s / period);
  return turns * SegmentsEnergy(profile, period, low_w, high_w) +
         SegmentsEnergy(profile, t_s - turns * period, low_w, high_w);
}

}  // namespace lowtide::fake_nvml
