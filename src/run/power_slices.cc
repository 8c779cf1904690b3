#include "run/power_slices.h"

#include <algorithm>
#include <map>

#include "base/time.h"

namespace lowtide {
namespace {

// Power over a shorter time would be noise: energy of a whole poll over the edge of a second.
constexpr double kShortestSliceS = 0.25;
// Slices further apart than this many spans have a gap between them.
constexpr double kGapSpans = 1.5;

struct Sum {
  int span_s = 0;
  double total_j = 0;
  double gpu_j = 0;
  double limit_w = 0;
  int gpus = 0;
  int limits = 0;
};

}  // namespace

std::vector<PowerSlice> PowerOverTime(const RunData& run) {
  std::map<int, const ComponentRecord*> components;
  for (const ComponentRecord& c : run.components) components[c.index] = &c;
  std::map<std::int64_t, Sum> sums;
  for (const SampleRecord& s : run.samples) {
    const auto component = components.find(s.component);
    if (component == components.end() || !component->second->counted) continue;
    Sum& sum = sums[s.unix_s];
    sum.span_s = std::max(sum.span_s, s.span_s);
    sum.total_j += s.energy_j;
    if (component->second->kind != "gpu") continue;
    sum.gpu_j += s.energy_j;
    ++sum.gpus;
    if (s.limit_w) {
      sum.limit_w += *s.limit_w;
      ++sum.limits;
    }
  }
  const double start = UnixSeconds(run.record.started_at);
  const double end = start + run.totals.duration.count();
  std::vector<PowerSlice> out;
  for (const auto& [unix_s, sum] : sums) {
    const auto second = static_cast<double>(unix_s);
    PowerSlice slice;
    slice.from_s = std::max(second, start);
    slice.to_s = std::min(second + sum.span_s, end);
    const double length = slice.to_s - slice.from_s;
    if (length < kShortestSliceS) continue;
    slice.total_w = sum.total_j / length;
    if (sum.gpus > 0) slice.gpu_w = sum.gpu_j / length;
    if (sum.limits > 0 && sum.limits == sum.gpus) slice.limit_w = sum.limit_w;
    out.push_back(slice);
  }
  return out;
}

std::vector<PowerBucket> DownSample(const std::vector<PowerSlice>& slices, double from_s,
                                    double to_s, int buckets) {
  std::vector<PowerBucket> out;
  if (!(to_s > from_s) || buckets < 1) return out;
  int current = -1;
  double weight = 0;
  double gpu_weight = 0;
  const PowerSlice* previous = nullptr;
  for (const PowerSlice& slice : slices) {
    const double middle = (slice.from_s + slice.to_s) / 2;
    if (middle < from_s || middle >= to_s) continue;
    const int index = static_cast<int>((middle - from_s) / (to_s - from_s) * buckets);
    const double length = slice.to_s - slice.from_s;
    const bool gap =
        previous != nullptr && slice.from_s - previous->to_s > kGapSpans * std::max(1.0, length);
    if (index != current || gap) {
      out.push_back({slice.from_s, slice.to_s, 0, slice.total_w, slice.total_w, std::nullopt,
                     std::nullopt, gap});
      current = index;
      weight = 0;
      gpu_weight = 0;
    }
    PowerBucket& bucket = out.back();
    bucket.to_s = slice.to_s;
    bucket.low_w = std::min(bucket.low_w, slice.total_w);
    bucket.high_w = std::max(bucket.high_w, slice.total_w);
    bucket.mean_w = (bucket.mean_w * weight + slice.total_w * length) / (weight + length);
    weight += length;
    if (slice.gpu_w) {
      bucket.gpu_w =
          (bucket.gpu_w.value_or(0) * gpu_weight + *slice.gpu_w * length) / (gpu_weight + length);
      gpu_weight += length;
    }
    bucket.limit_w = slice.limit_w;
    previous = &slice;
  }
  return out;
}

}  // namespace lowtide
