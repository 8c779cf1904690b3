// Grid time of a run that is moved in time or goes faster than real time: a trace of last year
// played at 3600 times the speed, say. Real time measures the energy, grid time finds the
// intensity.
#pragma once

#include "base/result.h"
#include "base/time.h"

namespace lowtide {

// Grid time is `grid_start` when real time is `real_start`, and goes `scale` times as fast. `scale`
// is above 0 (CheckTimeScale).
struct GridClock {
  TimePoint real_start;
  TimePoint grid_start = real_start;
  double scale = 1;

  // To the nearest millisecond; also before the start.
  TimePoint ToGrid(TimePoint real) const;
  TimePoint ToReal(TimePoint grid) const;

  // Neither moved nor scaled: grid time is real time.
  bool IsReal() const { return real_start == grid_start && scale == 1; }
};

// kInvalidArgument unless 0 < scale <= 1e6.
Status CheckTimeScale(double scale);

}  // namespace lowtide
