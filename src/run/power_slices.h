// A run's power over time, reduced to what a picture can show.
#pragma once

#include <optional>
#include <vector>

#include "store/records.h"

namespace lowtide {

// All components over one sample (a second, or a minute). Times are Unix seconds of the run.
struct PowerSlice {
  double from_s = 0;
  double to_s = 0;
  double total_w = 0;             // counted components
  std::optional<double> gpu_w;    // GPUs alone; nothing when there is none
  std::optional<double> limit_w;  // sum of the GPUs' limits; nothing when one is unknown
};

// In the order of time. Samples are cut at the run's start and end; a rest too short to divide by
// is left out.
std::vector<PowerSlice> PowerOverTime(const RunData& run);

// Slices whose middles share a bucket. `low` and `high` keep every peak.
struct PowerBucket {
  double from_s = 0;
  double to_s = 0;
  double mean_w = 0;  // weighted with time
  double low_w = 0;
  double high_w = 0;
  std::optional<double> gpu_w;    // mean
  std::optional<double> limit_w;  // of the last slice
  // No sample for longer than a sample's span before this one.
  bool after_gap = false;
};

// At most `buckets` over [from_s, to_s), in the order of time.
std::vector<PowerBucket> DownSample(const std::vector<PowerSlice>& slices, double from_s,
                                    double to_s, int buckets);

}  // namespace lowtide
