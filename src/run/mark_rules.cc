#include "run/mark_rules.h"

#include <fmt/format.h>

namespace lowtide {

Result<MarkVerdict> MarkRules::Judge(ConnectionId connection, const Mark& mark) {
  if (const auto* hello = std::get_if<HelloMark>(&mark)) {
    local_ranks_.erase(connection);
    if (hello->local_rank) local_ranks_[connection] = *hello->local_rank;
    return MarkVerdict::kCount;
  }
  if (const auto it = local_ranks_.find(connection); it != local_ranks_.end() && it->second > 0) {
    return MarkVerdict::kIgnore;
  }
  if (const auto* begin = std::get_if<EpochBeginMark>(&mark)) {
    if (running_ == begin->epoch) return MarkVerdict::kIgnore;
    running_ = begin->epoch;
    any_epoch_ = true;
    return MarkVerdict::kCount;
  }
  if (const auto* end = std::get_if<EpochEndMark>(&mark)) return JudgeEpochEnd(*end);
  if (std::holds_alternative<MetricsMark>(mark) && !any_epoch_) {
    return Fail(Code::kInvalidArgument, "metrics, but no epoch has begun");
  }
  return MarkVerdict::kCount;
}

Result<MarkVerdict> MarkRules::JudgeEpochEnd(const EpochEndMark& end) {
  if (!running_) {
    return Fail(Code::kInvalidArgument,
                fmt::format("epoch_end for epoch {}, but no epoch is running", end.epoch));
  }
  if (*running_ != end.epoch) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("epoch_end for epoch {}, but epoch {} is running", end.epoch, *running_));
  }
  running_.reset();
  return MarkVerdict::kCount;
}

}  // namespace lowtide
