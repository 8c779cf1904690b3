// The grid's clock of a run on record.
#pragma once

#include "grid/grid_clock.h"
#include "store/records.h"

namespace lowtide {

// A record with an impossible scale (a damaged store) gets the wall clock.
inline GridClock ClockOf(const RunRecord& run) {
  if (!CheckTimeScale(run.time_scale)) return GridClock{run.started_at, run.started_at, 1};
  return GridClock{run.started_at, run.grid_start, run.time_scale};
}

}  // namespace lowtide
