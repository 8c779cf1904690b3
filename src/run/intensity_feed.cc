#include "run/intensity_feed.h"

#include <algorithm>

namespace lowtide {
namespace {

// How long a slot is kept for late intervals before it is dropped from memory.
constexpr auto kKeep = std::chrono::hours(48);

}  // namespace

void IntensityFeed::Add(const IntensitySeries& series, TimePoint end) {
  for (const auto& slot : series.slots) {
    const TimePoint from = known_.empty() ? slot.from : std::max(slot.from, known_.back().to);
    const TimePoint to = std::min(slot.to, end);
    if (from >= to) continue;
    Label label{series.origin};
    label.origin.kind = series.KindOf(slot);
    if (!known_.empty() && known_.back().to == from && known_.back().value == slot.value &&
        labels_.back() == label) {
      known_.back().to = to;
      continue;
    }
    known_.push_back({from, to, slot.value});
    labels_.push_back(std::move(label));
  }
}

void IntensityFeed::FillWithForecast(TimePoint from, TimePoint to) {
  const auto forecast = source_->Forecast(from, to, to);
  if (!forecast) return;  // many sources have none
  IntensitySeries filling{forecast->origin, {}, forecast->estimated};
  for (const auto& slot : forecast->slots) {
    if (slot.to <= from) continue;
    filling.slots.push_back({std::max(slot.from, from), slot.to, slot.value});
  }
  // No further than now: the history may have come by the next time.
  Add(filling, to);
}

void IntensityFeed::FetchUpTo(TimePoint to) {
  if (fetched_ && to <= fetched_to_) return;
  const auto history = source_->History(fetched_to_, to, to);
  if (history) {
    // What is announced beyond the moment of asking counts once that time has come.
    Add(*history, TimePoint::max());
    fetched_ = true;
  } else if (history.error().message != last_problem_) {
    last_problem_ = history.error().message;
    new_problem_ = last_problem_;
  }
  const TimePoint reached = known_.empty() ? fetched_to_ : std::max(fetched_to_, known_.back().to);
  if (reached < to) FillWithForecast(reached, to);
  const TimePoint filled = known_.empty() ? TimePoint::min() : known_.back().to;
  if (history) {
    fetched_to_ = std::max(to, filled);
  } else {
    fetched_to_ = std::max(fetched_to_, filled);
  }
  const auto old = std::ranges::find_if(known_, [&](const auto& s) { return s.to + kKeep >= to; });
  labels_.erase(labels_.begin(), labels_.begin() + (old - known_.begin()));
  known_.erase(known_.begin(), old);
}

void IntensityFeed::Use(std::size_t index) {
  const Sample<GramsPerKwh>& slot = known_[index];
  const IntensityOrigin& origin = labels_[index].origin;
  const std::string_view kind = KindName(origin.kind);
  if (!used_.empty()) {
    IntensityRecord& last = used_.back();
    if (slot.from >= last.from && slot.to <= last.to) return;
    if (slot.from <= last.to && slot.value == last.value && kind == last.kind &&
        origin.source == last.source) {
      last.to = slot.to;
      return;
    }
  }
  used_.push_back({slot.from, slot.to, slot.value, origin.source,
                   std::string(SignalName(origin.signal)), std::string(BasisName(origin.basis)),
                   std::string(kind)});
}

IntensityFeed::Answer IntensityFeed::Over(TimePoint from, TimePoint to) {
  if (source_ == nullptr) return {};
  // Slots are half-open: a moment is looked up as the millisecond that it begins.
  to = std::max(to, from + std::chrono::milliseconds(1));
  FetchUpTo(to);
  const auto mean = MeanOver(known_, from, to);
  Answer answer{mean.value, mean.coverage, false};
  const auto first = std::ranges::upper_bound(known_, from, {}, &Sample<GramsPerKwh>::to);
  for (auto it = first; it != known_.end() && it->from < to; ++it) {
    const auto index = static_cast<std::size_t>(it - known_.begin());
    const IntensityKind kind = labels_[index].origin.kind;
    answer.estimated =
        answer.estimated || kind == IntensityKind::kEstimated || kind == IntensityKind::kForecast;
    Use(index);
  }
  return answer;
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
