#include "plan/limit_profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace lowtide {
namespace {

constexpr int kMaxAttempts = 3;
// A lower limit cannot make a job faster; by so much it is not noise either.
constexpr double kSlower = 1.05;
// Limits this close are the same one, whatever rounds them.
constexpr Watts kSameLimit{1};
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
  if (limits.size() > 1 && limits.back() - min < kSameLimit) limits.pop_back();
  if (limits.size() == 1 && limits.back() - min < kSameLimit) return limits;
  limits.push_back(min);
  return limits;
}

}  // namespace

Result<ProfileMode> ParseProfileMode(std::string_view text) {
  if (text == "auto") return ProfileMode::kAuto;
  if (text == "force") return ProfileMode::kForce;
  if (text == "off") return ProfileMode::kOff;
  return Fail(Code::kInvalidArgument,
              fmt::format("'{}' is not a profiling mode; allowed are auto, force and off",
                          text.substr(0, 64)));
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
  ended_ = fmt::format("stopped while {}: {}", Progress(), why);
  return Finish();
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

std::vector<PowerPoint> LimitProfiler::Points() const {
  std::vector<PowerPoint> points;
  points.reserve(measured_.size());
  for (const Measured& m : measured_) points.push_back(PointOf(m.window));
  return points;
}

Result<PowerCurve> LimitProfiler::Curve(std::string device, std::string job) const {
  if (measured_.empty()) {
    return Fail(Code::kUnavailable,
                fmt::format("no power curve: no limit was measured ({})", Progress()));
  }
  std::vector<PowerWindow> windows;
  windows.reserve(measured_.size());
  for (const Measured& m : measured_) windows.push_back(m.window);
  return MakePowerCurve(std::move(device), std::move(job), gpus_, MonotonePoints(windows));
}

bool LimitProfiler::Suffices(const PowerCurve& curve) const {
  if (curve.points.size() >= limits_.size()) return true;
  const PowerPoint& lowest = curve.Lowest();
  const bool useless = lowest.throughput_per_s < least_share_ * curve.Highest().throughput_per_s;
  if (!useless && lowest.limit - limits_.back() >= kSameLimit) return false;
  return curve.points.size() - (useless ? 1 : 0) >= 2;
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
  attempts_ = 0;
  window_.limit = CurrentLimit();
  if (again_) return CloseAgain();
  measured_.push_back({window_});
  return GoOnOrEnd();
}

// What comes between (other processes, a cold cache, a slow disk) only ever makes a job slower, so
// that of two windows the faster one says more about the limit.
ProfilerAction LimitProfiler::CloseAgain() {
  Measured& measured = measured_[*std::exchange(again_, std::nullopt)];
  const double before = ShareOf(measured);
  measured.settled = true;
  if (PointOf(window_).throughput_per_s > PointOf(measured.window).throughput_per_s) {
    measured.window = window_;
  }
  if (ending_) return End();
  if (ShareOf(measured) >= least_share_) {
    notes_.push_back(fmt::format(
        "{:g} W had {:.1f} % of the throughput at {:g} W, but {:.1f} % "
        "when it was measured once more, which counts",
        window_.limit.v, 100 * before, measured_.front().window.limit.v, 100 * ShareOf(measured)));
  }
  return GoOnOrEnd();
}

ProfilerAction LimitProfiler::GoOnOrEnd() {
  const Measured& latest = measured_.back();
  if (ShareOf(latest) >= least_share_) return NextLimit();
  if (!latest.settled) {
    // The limit is in force already, and the job warm.
    again_ = measured_.size() - 1;
    window_ = {};
    return {};
  }
  ended_ = fmt::format(
      "ended at {:g} W: its throughput is {:.1f} % of that at {:g} W, below the {:.1f} % still of "
      "use",
      latest.window.limit.v, 100 * ShareOf(latest), measured_.front().window.limit.v,
      100 * least_share_);
  return End();
}

ProfilerAction LimitProfiler::Retry(std::string_view why) {
  window_ = {};
  notes_.push_back(fmt::format("window at {:g} W discarded: {}", CurrentLimit().v, why));
  if (++attempts_ < kMaxAttempts) return {};
  if (again_) {  // its first window has to do
    attempts_ = 0;
    measured_[*std::exchange(again_, std::nullopt)].settled = true;
    return ending_ ? End() : GoOnOrEnd();
  }
  if (index_ == 0) {
    ended_ = fmt::format("ended: the highest limit, {:g} W, could not be measured ({})",
                         CurrentLimit().v, why);
    return Finish();
  }
  notes_.push_back(fmt::format("{:g} W left out after {} attempts", CurrentLimit().v, attempts_));
  return NextLimit();
}

ProfilerAction LimitProfiler::NextLimit() {
  attempts_ = 0;
  if (++index_ < limits_.size()) return SetLimit();
  ended_ = fmt::format("measured {} of {} limits", measured_.size(), limits_.size());
  return End();
}

ProfilerAction LimitProfiler::End() {
  ending_ = true;
  const auto share = [this](const Measured& m) { return ShareOf(m); };
  for (auto m = measured_.begin(); m != measured_.end(); ++m) {
    if (m->settled) continue;
    const auto fastest = std::ranges::max_element(m, measured_.end(), {}, share);
    if (ShareOf(*fastest) < kSlower * ShareOf(*m)) continue;
    const bool first = m == measured_.begin();
    notes_.push_back(
        fmt::format("{:g} W was slower than {:g} W, so {}: {:g} W is measured once more",
                    m->window.limit.v, fastest->window.limit.v,
                    first ? "the job was slow at its start" : "something else slowed the job down",
                    m->window.limit.v));
    again_ = static_cast<std::size_t>(m - measured_.begin());
    return SetLimit();
  }
  return Finish();
}

ProfilerAction LimitProfiler::Finish() {
  state_ = State::kDone;
  return {ProfilerAction::Kind::kDone, Watts()};
}

// Of the throughput at the highest limit.
double LimitProfiler::ShareOf(const Measured& measured) const {
  return PointOf(measured.window).throughput_per_s /
         PointOf(measured_.front().window).throughput_per_s;
}

}  // namespace lowtide
