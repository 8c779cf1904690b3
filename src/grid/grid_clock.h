// The grid's time during a run. Usually it is the time; a run may also be placed at another moment
// (a past trace) and run faster, for demonstrations and tests.
#pragma once

#include "base/time.h"

namespace lowtide {

struct GridClock {
  TimePoint real_start;
  TimePoint grid_start;
  double scale = 1;  // > 0

  TimePoint ToGrid(TimePoint real) const {
    return grid_start + ToMilliseconds(Seconds(real - real_start) * scale);
  }
  TimePoint ToReal(TimePoint grid) const {
    return real_start + ToMilliseconds(Seconds(grid - grid_start) / scale);
  }
};

}  // namespace lowtide
