// Grid time of a run that is moved in time or goes faster than real time: a trace of last year
// played at 3600 times the speed, say. Real time measures the energy, grid time finds the
// intensity.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/time.h"

namespace lowtide {

class GridClock {
 public:
  // Grid time starts at `grid_start` (default: `real_start`) when real time is `real_start`, and
  // goes `scale` times as fast. kInvalidArgument unless 0 < scale <= 1e6.
  static Result<GridClock> Make(TimePoint real_start,
                                std::optional<TimePoint> grid_start = std::nullopt,
                                double scale = 1);

  TimePoint RealStart() const { return real_start_; }
  TimePoint GridStart() const { return grid_start_; }
  double Scale() const { return scale_; }
  // Neither moved nor scaled: grid time is real time.
  bool IsReal() const { return real_start_ == grid_start_ && scale_ == 1; }

  // To the nearest millisecond; also before the start.
  TimePoint ToGrid(TimePoint real) const;
  TimePoint ToReal(TimePoint grid) const;
  Seconds ToGrid(Seconds real) const { return real * scale_; }
  Seconds ToReal(Seconds grid) const { return grid / scale_; }

 private:
  GridClock(TimePoint real_start, TimePoint grid_start, double scale)
      : real_start_(real_start), grid_start_(grid_start), scale_(scale) {}

  TimePoint real_start_;
  TimePoint grid_start_;
  double scale_;
};

}  // namespace lowtide
