// How much power the work on a fake GPU asks for over time, and its exact integral under a cap.
#pragma once

#include <vector>

namespace lowtide::fake_nvml {

// Linear from `from_w` to `to_w`; equal for a constant.
struct Segment {
  double duration_s = 0;  // > 0
  double from_w = 0;
  double to_w = 0;
};

struct DemandProfile {
  enum class Kind { kSegments, kSine };
  Kind kind = Kind::kSegments;
  std::vector<Segment> segments;  // kSegments: not empty
  bool repeat = true;             // kSegments: else the last value stays
  double mean_w = 0;              // kSine: mean_w + amplitude_w * sin(2 pi t / period_s)
  double amplitude_w = 0;
  double period_s = 1;
};

// Watts asked for at scenario time t >= 0.
double DemandAt(const DemandProfile& profile, double t_s);

// Integral over [0, t] of clamp(demand, low, high) in joules, in closed form: no step size.
double ClampedEnergy(const DemandProfile& profile, double t_s, double low_w, double high_w);

}  // namespace lowtide::fake_nvml
