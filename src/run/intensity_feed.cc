#include "run/intensity_feed.h"

#include <algorithm>

namespace lowtide {
namespace {

// How long a slot is kept for late intervals before it is dropped from memory.
constexpr auto kKeep = std::chrono::hours(48);

}  // namespace

void IntensityFeed::FetchUpTo(TimePoint to) {
  if (fetched_ && to <= fetched_to_) return;
  auto history = source_->History(fetched_to_, to, to);
  if (!history) {
    if (history.error().message != last_problem_) {
      last_problem_ = history.error().message;
      new_problem_ = last_problem_;
    }
    return;
  }
  origin_ = history->origin;
  for (const auto& slot : history->slots) {
    const TimePoint slot_from = known_.empty() ? slot.from : std::max(slot.from, known_.back().to);
    if (slot_from >= slot.to) continue;
    // What is announced beyond the moment of asking counts once that time has come.
    known_.push_back({slot_from, slot.to, slot.value});
  }
  fetched_ = true;
  fetched_to_ = known_.empty() ? to : std::max(to, known_.back().to);
  while (!known_.empty() && known_.front().to + kKeep < to) known_.erase(known_.begin());
}

void IntensityFeed::Use(const Sample<GramsPerKwh>& slot) {
  if (!used_.empty()) {
    IntensityRecord& last = used_.back();
    if (slot.from >= last.from && slot.to <= last.to) return;
    if (slot.from <= last.to && slot.value == last.value) {
      last.to = slot.to;
      return;
    }
  }
  used_.push_back({slot.from, slot.to, slot.value, origin_.source,
                   std::string(SignalName(origin_.signal)), std::string(BasisName(origin_.basis)),
                   std::string(KindName(origin_.kind))});
}

IntensityFeed::Answer IntensityFeed::Over(TimePoint from, TimePoint to) {
  if (source_ == nullptr) return {};
  // Slots are half-open: a moment is looked up as the millisecond that it begins.
  to = std::max(to, from + std::chrono::milliseconds(1));
  FetchUpTo(to);
  const auto mean = MeanOver(known_, from, to);
  const auto first = std::ranges::upper_bound(known_, from, {}, &Sample<GramsPerKwh>::to);
  for (auto it = first; it != known_.end() && it->from < to; ++it) Use(*it);
  return {mean.value, mean.coverage, origin_.kind == IntensityKind::kEstimated};
}

std::vector<IntensityRecord> IntensityFeed::TakeUsed() {
  if (used_.empty()) return {};
  std::vector<IntensityRecord> taken = used_;
  used_.erase(used_.begin(), used_.end() - 1);  // the last one may still grow
  return taken;
}

std::optional<std::string> IntensityFeed::TakeProblem() {
  return std::exchange(new_problem_, std::nullopt);
}

}  // namespace lowtide
