// What was measured of a job at one power limit, and the power curve that follows from it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"
#include "base/units.h"
#include "plan/power_curve.h"

namespace lowtide {

// Steps at one limit, with their time and the energy of all GPUs. All four are above 0.
struct PowerWindow {
  Watts limit;  // of one GPU
  std::int64_t steps = 0;
  Seconds time{0};
  Joules energy;
};

// The window by itself.
PowerPoint PointOf(const PowerWindow& window);

// The points of `windows` (falling limits) once noise is taken out: as the limit falls, neither
// throughput nor draw may rise. It is the isotonic regression, least squares weighted by time, by
// pooling adjacent violators (R. Barlow et al., Statistical Inference under Order Restrictions,
// 1972): windows that contradict each other get the throughput, or draw, of all of them taken as
// one long window. Windows in order stay exactly as they were measured.
std::vector<PowerPoint> MonotonePoints(std::span<const PowerWindow> windows);

}  // namespace lowtide
