// How fast one job runs and what it draws at each power limit.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace lowtide {

struct PowerPoint {
  Watts limit;                  // of one GPU
  double throughput_per_s = 0;  // work units (steps, or epochs) per second, all GPUs together
  Watts draw;                   // of all GPUs together, mean while working
};

// Points in strictly falling order of limit, at least one; throughput and draw positive.
struct PowerCurve {
  std::string device;  // GPU model, or empty
  std::string job;     // "imagenet/resnet50/128/adadelta", or empty
  int gpus = 1;        // how many GPUs `throughput_per_s` and `draw` cover
  std::vector<PowerPoint> points;

  const PowerPoint& Highest() const { return points.front(); }
  const PowerPoint& Lowest() const { return points.back(); }
  // The point of exactly that limit (to 0.5 W), or nullptr.
  const PowerPoint* Find(Watts limit) const;
  // Highest limit x gpus: the MaxPower of Zeus's cost.
  Watts MaxPower() const { return points.front().limit * static_cast<double>(gpus); }
};

inline constexpr int kMaxGpus = 4096;

// Sorts the points and checks the invariants above; errors name the offending limit. Values no
// machine can have (limits above 100 kW a GPU, throughputs outside 1e-12..1e12 a second) are
// errors too, so that costs stay finite.
Result<PowerCurve> MakePowerCurve(std::string device, std::string job, int gpus,
                                  std::vector<PowerPoint> points);

// The point at `limit` by linear interpolation in the limit; clamped to the ends.
PowerPoint Interpolate(const PowerCurve& curve, Watts limit);

// The same job spread over `gpus` GPUs, throughput and draw in proportion: an assumption (perfect
// scaling), to be labelled as one. `gpus` is in 1..kMaxGpus.
PowerCurve ScaleToGpus(const PowerCurve& curve, int gpus);

// One work unit at this point.
inline Seconds TimePerUnit(const PowerPoint& point) { return Seconds(1 / point.throughput_per_s); }
inline Joules EnergyPerUnit(const PowerPoint& point) { return point.draw * TimePerUnit(point); }

}  // namespace lowtide
