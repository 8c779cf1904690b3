#include "plan/limit_profiler.h"

#include <fmt/format.h>

#include <algorithm>

namespace lowtide {
namespace {

constexpr int kMaxAttempts = 3;
// A lower limit cannot make a job faster; by so much it is not noise either.
constexpr double kSlowStart = 1.05;
constexpr double kMaxLimits = 1000;
// A window this many times as long as asked for, and still without energy, is given up.
constexpr int kMaxWindowFactor = 10;
// The wait at an epoch's start must not eat more than a quarter of it.
constexpr int kEpochToWait = 4;

Status Check(const ProfilerOptions& o, Watts min, Watts max, int gpus) {
  const auto bad = [](std::string_view what, double value, std::string_view allowed) {
    return Fail(Code::kInvalidArgument,
                fmt::format("profiler: {} is {:g}; allowed is {}", what, value, allowed));
  };
  if (o.wait_steps < 0) return bad("the number of steps to wait", o.wait_steps, "0 or more");
  if (o.warmup_steps < 0) return bad("the number of warm-up steps", o.warmup_steps, "0 or more");
  if (o.profile_steps < 1) return bad("the number of measured steps", o.profile_steps, "1 or more");
  if (!(o.limit_step.v >= 1)) return bad("the step between limits", o.limit_step.v, "1 W or more");
  if (!(o.min_window.count() >= 0)) {
    return bad("the minimum window", o.min_window.count(), "0 s or more");
  }
  if (!(o.min_throughput_share >= 0 && o.min_throughput_share < 1)) {
    return bad("the least share of throughput", o.min_throughput_share, "0 to below 1");
  }
  if (gpus < 1 || gpus > kMaxGpus) return bad("the number of GPUs", gpus, "1 to 4096");
  if (!(min.v > 0 && min <= max)) {
    return bad("the lowest limit", min.v, fmt::format("above 0 up to the highest, {:g} W", max.v));
  }
  if (!((max - min) / o.limit_step < kMaxLimits)) {
    return bad("the step between limits", o.limit_step.v, "so large that there are below 1000");
  }
  return {};
}

std::vector<Watts> LimitsBetween(Watts min, Watts max, Watts step) {
  std::vector<Watts> limits;
  for (int i = 0; max - i * step > min; ++i) limits.push_back(max - i * step);
  // The last step may be a short one, but not so short that the curve takes both for the same.
  if (limits.size() > 1 && limits.back() - min < Watts(1)) limits.pop_back();
  if (limits.size() == 1 && limits.back() - min < Watts(1)) return limits;
  limits.push_back(min);
  return limits;
}

}  // namespace

Result<ProfileMode> ParseProfileMode(std::string_view text) {
  if (text == "auto") return ProfileMode::kAuto;
  if (text == "off") return ProfileMode::kOff;
  return Fail(
      Code::kInvalidArgument,
      fmt::format("'{}' is not a profiling mode; allowed are auto and off", text.substr(0, 64)));
}

Result<LimitProfiler> LimitProfiler::Make(const ProfilerOptions& options, Watts min, Watts max,
                                          int gpus, const Selector& selector) {
  LOWTIDE_TRY_STATUS(Check(options, min, max, gpus));
  double least_share = options.min_throughput_share;
  if (selector.kind == SelectorKind::kMaxSlowdown) {
    least_share = std::max(least_share, 1 / selector.max_slowdown);
  }
  return LimitProfiler(options, LimitsBetween(min, max, options.limit_step), gpus, least_share);
}

LimitProfiler::LimitProfiler(const ProfilerOptions& options, std::vector<Watts> limits, int gpus,
                             double least_share)
    : options_(options),
      limits_(std::move(limits)),
      gpus_(gpus),
      least_share_(least_share),
      skip_left_(options.wait_steps) {}

ProfilerAction LimitProfiler::OnEpochBegin(MonoTime now, std::optional<Joules> energy) {
  if (Done()) return {};
  OnEpochEnd();  // in case its mark was lost
  const bool short_epochs =
      last_epoch_steps_ && *last_epoch_steps_ < std::int64_t{kEpochToWait} * options_.wait_steps;
  skip_left_ = short_epochs ? 0 : options_.wait_steps;
  MoveBoundary(now, energy);
  if (state_ == State::kWaiting && skip_left_ == 0) return SetLimit();
  return {};
}

ProfilerAction LimitProfiler::OnStep(MonoTime now, std::optional<Joules> energy, int count) {
  if (Done() || count < 1) return {};
  epoch_steps_ += count;
  if (last_ && now < last_->at) {
    MoveBoundary(now, energy);
    return state_ == State::kMeasuring ? Retry("the clock went backwards") : ProfilerAction{};
  }
  const bool skipping = skip_left_ > 0;
  if (skipping) skip_left_ = std::max<std::int64_t>(0, skip_left_ - count);
  if (state_ == State::kMeasuring && !skipping) {
    steps_since_last_ += count;
    return Measure(now, energy);
  }
  MoveBoundary(now, energy);
  if (state_ == State::kWaiting && skip_left_ == 0) return SetLimit();
  if (state_ == State::kWarmup && !skipping) {
    warmup_left_ -= count;
    if (warmup_left_ <= 0) state_ = State::kMeasuring;
  }
  return {};
}

ProfilerAction LimitProfiler::OnEpochEnd() {
  if (epoch_steps_ > 0) last_epoch_steps_ = epoch_steps_;
  epoch_steps_ = 0;
  last_.reset();
  steps_since_last_ = 0;
  return {};
}

ProfilerAction LimitProfiler::Stop(std::string_view why) {
  if (Done()) return {};
  return Finish(fmt::format("stopped while {}: {}", Progress(), why));
}

std::string LimitProfiler::Progress() const {
  switch (state_) {
    case State::kWaiting: return "waiting for the first steps";
    case State::kWarmup: return fmt::format("warming up at {:g} W", CurrentLimit().v);
    case State::kMeasuring:
      return fmt::format("measuring {:g} W: {} of {} steps", CurrentLimit().v, window_.steps,
                         options_.profile_steps);
    case State::kDone: return ended_;
  }
  return {};
}

Result<PowerCurve> LimitProfiler::Curve(std::string device, std::string job) const {
  if (points_.empty()) {
    return Fail(Code::kUnavailable,
                fmt::format("no power curve: no limit was measured ({})", Progress()));
  }
  return MakePowerCurve(std::move(device), std::move(job), gpus_, points_);
}

void LimitProfiler::MoveBoundary(MonoTime now, std::optional<Joules> energy) {
  steps_since_last_ = 0;
  last_.reset();
  if (energy) last_ = Boundary{now, *energy};
}

ProfilerAction LimitProfiler::SetLimit() {
  window_ = {};
  warmup_left_ = options_.warmup_steps;
  state_ = warmup_left_ > 0 ? State::kWarmup : State::kMeasuring;
  return {ProfilerAction::Kind::kSetLimit, CurrentLimit()};
}

ProfilerAction LimitProfiler::Measure(MonoTime now, std::optional<Joules> energy) {
  if (!energy) return {};  // the steps wait for the next moment whose energy is known
  const auto begin = last_;
  const auto steps = steps_since_last_;
  MoveBoundary(now, energy);
  if (!begin) return {};  // nobody knows when these steps began
  if (*energy < begin->energy) return Retry("the energy went backwards");
  window_.steps += steps;
  window_.energy += *energy - begin->energy;
  window_.time += ToSeconds(now - begin->at);
  if (window_.steps < options_.profile_steps || window_.time < options_.min_window) return {};
  if (window_.energy.v > 0 && window_.time.count() > 0) return Close();
  if (window_.steps < std::int64_t{kMaxWindowFactor} * options_.profile_steps) return {};
  return Retry(fmt::format("no energy was counted over {} steps", window_.steps));
}

ProfilerAction LimitProfiler::Close() {
  const Watts limit = CurrentLimit();
  const PowerPoint point{limit, static_cast<double>(window_.steps) / window_.time.count(),
                         window_.energy / window_.time};
  if (again_) {
    points_.front() = point;
    return Finish(std::move(ended_));
  }
  points_.push_back(point);
  const double share = points_.back().throughput_per_s / points_.front().throughput_per_s;
  if (share < least_share_) {
    return End(
        fmt::format("ended at {:g} W: its throughput is {:.1f} % of that at {:g} W, below "
                    "the {:.1f} % still of use",
                    limit.v, 100 * share, points_.front().limit.v, 100 * least_share_));
  }
  return NextLimit();
}

ProfilerAction LimitProfiler::Retry(std::string_view why) {
  window_ = {};
  notes_.push_back(fmt::format("window at {:g} W discarded: {}", CurrentLimit().v, why));
  if (++attempts_ < kMaxAttempts) return {};
  if (again_) return Finish(std::move(ended_));
  if (index_ == 0) {
    return Finish(fmt::format("ended: the highest limit, {:g} W, could not be measured ({})",
                              CurrentLimit().v, why));
  }
  notes_.push_back(fmt::format("{:g} W left out after {} attempts", CurrentLimit().v, attempts_));
  return NextLimit();
}

ProfilerAction LimitProfiler::NextLimit() {
  attempts_ = 0;
  if (++index_ < limits_.size()) return SetLimit();
  return End(fmt::format("measured {} of {} limits", points_.size(), limits_.size()));
}

ProfilerAction LimitProfiler::End(std::string why) {
  const auto fastest = std::ranges::max_element(points_, {}, &PowerPoint::throughput_per_s);
  if (points_.empty() ||
      fastest->throughput_per_s < kSlowStart * points_.front().throughput_per_s) {
    return Finish(std::move(why));
  }
  notes_.push_back(
      fmt::format("{:g} W was slower than {:g} W, so the job was slow at its start: "
                  "{:g} W is measured once more",
                  points_.front().limit.v, fastest->limit.v, points_.front().limit.v));
  again_ = true;
  ended_ = std::move(why);
  index_ = 0;
  attempts_ = 0;
  return SetLimit();
}

ProfilerAction LimitProfiler::Finish(std::string why) {
  state_ = State::kDone;
  ended_ = std::move(why);
  return {ProfilerAction::Kind::kDone, Watts()};
}

}  // namespace lowtide
