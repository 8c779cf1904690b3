#include "device/rapl/rapl_zone.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace lowtide {
namespace {

constexpr double kMicro = 1e6;

}  // namespace

double RaplCounter::AllowedUj(MonoTime from, MonoTime to) const {
  const Seconds elapsed = std::max(Seconds(0), ToSeconds(to - from)) + kStampSlack;
  return (limits_.max_power * elapsed).v * kMicro;
}

bool RaplCounter::IsPlausible(const Value& from, const Value& to) const {
  return to.uj >= from.uj && static_cast<double>(to.uj - from.uj) <= AllowedUj(from.at, to.at);
}

RaplCounter::Step RaplCounter::Accept(const Value& value, std::uint64_t delta_uj) {
  total_uj_ += delta_uj;
  last_ = value;
  suspect_.reset();
  return {Joules(static_cast<double>(total_uj_) / kMicro), false};
}

RaplCounter::Step RaplCounter::Restart(const Value& value) {
  Step step = Accept(value, 0);
  step.discontinuity = true;
  return step;
}

Result<RaplCounter::Step> RaplCounter::Advance(MonoTime at, std::uint64_t raw_uj) {
  const Value value{at, raw_uj};
  if (limits_.range_uj && raw_uj > *limits_.range_uj) {
    return Fail(Code::kDataLoss,
                fmt::format("energy counter reads {} uJ, beyond its range of {} uJ", raw_uj,
                            *limits_.range_uj));
  }
  if (!last_) return Accept(value, 0);

  const double allowed = AllowedUj(last_->at, at);
  if (allowed >= static_cast<double>(limits_.range_uj.value_or(kSmallestRangeUj))) {
    return Restart(value);
  }
  if (raw_uj < last_->uj) {
    if (!limits_.range_uj || last_->uj < *limits_.range_uj / 2) return Restart(value);
    const std::uint64_t delta = *limits_.range_uj - last_->uj + raw_uj;
    if (static_cast<double>(delta) > allowed) return Restart(value);
    return Accept(value, delta);
  }
  if (IsPlausible(*last_, value)) return Accept(value, raw_uj - last_->uj);
  if (suspect_ && IsPlausible(*suspect_, value)) return Restart(value);
  suspect_ = value;
  return Fail(Code::kDataLoss,
              fmt::format("energy counter rose by {:.6g} J in {:.6g} s, more than {:g} W can do",
                          static_cast<double>(raw_uj - last_->uj) / kMicro,
                          ToSeconds(at - last_->at).count(), limits_.max_power.v));
}

std::optional<std::uint64_t> ParseMicrojoules(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  for (const char* c = end; c != text.data() + text.size(); ++c) {
    if (*c != '\n' && *c != ' ' && *c != '\t' && *c != '\r') return std::nullopt;
  }
  return value;
}

}  // namespace lowtide
