// Half-open UTC slots [from, to), each with a value. Slots may have any length; what no slot
// covers is a gap and stays one.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"

namespace lowtide {

template <class T>
struct Sample {
  TimePoint from;
  TimePoint to;
  T value;
};

// Invariant of every Series handed around: ordered by `from`, non-empty slots, no overlap.
template <class T>
using Series = std::vector<Sample<T>>;

template <class T>
bool IsWellFormed(std::span<const Sample<T>> series) {
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series[i].from >= series[i].to) return false;
    if (i > 0 && series[i - 1].to > series[i].from) return false;
  }
  return true;
}
template <class T>
bool IsWellFormed(const Series<T>& series) {
  return IsWellFormed(std::span<const Sample<T>>(series));
}

// The slot that covers `t`, or nullptr in a gap. O(log n).
template <class T>
const Sample<T>* SlotAt(const Series<T>& series, TimePoint t) {
  auto it = std::upper_bound(series.begin(), series.end(), t,
                             [](TimePoint time, const Sample<T>& s) { return time < s.from; });
  if (it == series.begin()) return nullptr;
  --it;
  return t < it->to ? &*it : nullptr;
}

// Time-weighted mean over [from, to) of what is covered, with the covered share in [0, 1]. An empty
// interval asks for the slot at `from`.
template <class T>
struct MeanResult {
  std::optional<T> value;  // nothing when no part is covered
  double coverage = 0;
};

template <class T>
MeanResult<T> MeanOver(const Series<T>& series, TimePoint from, TimePoint to) {
  MeanResult<T> out;
  if (from >= to) {
    if (const auto* slot = SlotAt(series, from)) return {slot->value, 1.0};
    return out;
  }
  auto it = std::upper_bound(series.begin(), series.end(), from,
                             [](TimePoint time, const Sample<T>& s) { return time < s.to; });
  double covered_ms = 0;
  T sum{};
  for (; it != series.end() && it->from < to; ++it) {
    const auto ms = static_cast<double>((std::min(it->to, to) - std::max(it->from, from)).count());
    sum = sum + it->value * ms;
    covered_ms += ms;
  }
  if (covered_ms <= 0) return out;
  out.value = sum / covered_ms;
  out.coverage = covered_ms / static_cast<double>((to - from).count());
  return out;
}

}  // namespace lowtide
