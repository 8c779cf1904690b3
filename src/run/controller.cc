#include "run/controller.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lowtide {
namespace {

// How far ahead the first epoch is forecast, whose length is not known yet: grid time.
constexpr Seconds kUnknownEpoch{1800};
// After so many failures in a row a GPU is not going to take a limit.
constexpr int kMostFailures = 3;

}  // namespace

Controller::Controller(ControllerOptions options, LimitControl* control, const Source* source,
                       const Forecaster* forecaster, EnergyProbe probe)
    : options_(std::move(options)),
      control_(control),
      source_(source),
      forecaster_(forecaster),
      probe_(std::move(probe)) {}

bool Controller::NeedsCurve() const {
  return options_.policy.kind == PolicyKind::kZeus || options_.policy.kind == PolicyKind::kChase;
}

void Controller::Start(Moment now) {
  if (options_.policy.kind == PolicyKind::kNone) return;
  if (!NeedsCurve() || options_.curve) {
    prepared_ = true;
    DecideNow(now);
  }
}

bool Controller::PrepareCurve() {
  if (prepared_) return false;
  prepared_ = true;
  if (options_.policy.kind == PolicyKind::kNone) return false;
  const bool measure = options_.profile != ProfileMode::kOff && control_ != nullptr;
  if (options_.find_curve && !(measure && options_.profile == ProfileMode::kForce)) {
    options_.curve = options_.find_curve();
  }
  if (options_.curve && !measure) return true;
  if (measure) profiler_ = MakeProfiler();
  if (options_.curve) {
    if (!profiler_ || profiler_->Suffices(*options_.curve)) {
      profiler_.reset();
      return true;
    }
    remarks_.emplace_back(
        "that power curve has too few limits or does not go down far enough, so it is measured "
        "anew");
    options_.curve.reset();
  }
  if (options_.profile == ProfileMode::kOff) {
    notices_.emplace_back(
        "the job's power curve is not known and profiling is off: its limit is left alone");
  }
  return false;
}

std::optional<LimitProfiler> Controller::MakeProfiler() {
  const PowerLimits range = control_->Range();
  const Selector selector =
      options_.policy.kind == PolicyKind::kZeus ? options_.policy.selector : Selector{};
  auto profiler =
      LimitProfiler::Make(options_.profiler, range.min, range.max, options_.gpus, selector);
  if (profiler) return *std::move(profiler);
  notices_.push_back("cannot profile power limits: " + profiler.error().message);
  return std::nullopt;
}

void Controller::OnEpochBegin(Moment now) {
  const bool found = PrepareCurve();
  if (Profiling()) {
    Act(profiler_->OnEpochBegin(now.mono, probe_()), now);
  } else if (!options_.period || found) {
    DecideNow(now);
  }
}

void Controller::OnEpochEnd(Moment now, Seconds duration) {
  epoch_duration_ = duration;
  if (Profiling()) Act(profiler_->OnEpochEnd(), now);
}

void Controller::OnStep(Moment now, int count) {
  if (PrepareCurve()) DecideNow(now);
  if (Profiling()) Act(profiler_->OnStep(now.mono, probe_(), count), now);
}

void Controller::Step(Moment now) {
  if (Profiling() || !options_.period || !last_decision_) return;
  if (ToSeconds(now.mono - *last_decision_) * options_.grid.scale >= *options_.period) {
    DecideNow(now);
  }
}

void Controller::Finish() {
  if (!Profiling()) return;
  profiler_->Stop("the command has ended");
  if (auto curve = profiler_->Curve(options_.device_model, options_.job)) {
    options_.curve = *std::move(curve);
  }
}

void Controller::Act(const ProfilerAction& action, Moment now) {
  for (; profiler_notes_ < profiler_->Notes().size(); ++profiler_notes_) {
    notices_.push_back("profiling: " + profiler_->Notes()[profiler_notes_]);
  }
  switch (action.kind) {
    case ProfilerAction::Kind::kNothing: return;
    case ProfilerAction::Kind::kSetLimit: {
      DecisionRecord record{now.utc, action.limit, profiler_->Progress(), std::nullopt, true};
      if (!Apply(action.limit, std::move(record))) profiler_->Stop("a power limit was refused");
      return;
    }
    case ProfilerAction::Kind::kDone: break;
  }
  auto curve = profiler_->Curve(options_.device_model, options_.job);
  if (!curve) {
    notices_.push_back("profiling gave no power curve: " + curve.error().message);
    return;
  }
  TellWindows();
  const bool complete = profiler_->Suffices(*curve);
  if (!complete) {
    notices_.push_back(
        fmt::format("profiling: {}; a power curve with one limit of use is not kept, and the next "
                    "run measures anew",
                    profiler_->Progress()));
  }
  options_.curve = *curve;
  measured_ = MeasuredCurve{*std::move(curve), complete};
  // The profiler's last limit is nobody's choice: the decision that follows is the first.
  DecideNow(now);
}

// As measured: the power curve has them made monotone.
void Controller::TellWindows() {
  std::vector<std::string> windows;
  for (const PowerPoint& p : profiler_->Points()) {
    windows.push_back(
        fmt::format("{:g} W: {:.4g} steps/s at {:.1f} W", p.limit.v, p.throughput_per_s, p.draw.v));
  }
  remarks_.push_back(
      fmt::format("profiling: {} ({})", profiler_->Progress(), fmt::join(windows, "; ")));
}

std::optional<GramsPerKwh> Controller::ForecastFor(Moment now, Seconds ahead, std::string& how) {
  if (source_ == nullptr || forecaster_ == nullptr) return std::nullopt;
  const TimePoint from = options_.grid.ToGrid(now.utc);
  const TimePoint to = from + ToMilliseconds(ahead);
  auto mean = MeanForecast(*forecaster_, *source_, from, to, from);
  if (!mean) {
    if (mean.error().message != last_forecast_problem_) {
      last_forecast_problem_ = mean.error().message;
      notices_.push_back("no forecast of the carbon intensity: " + last_forecast_problem_);
    }
    return std::nullopt;
  }
  how = mean->origin.source;
  return mean->value;
}

void Controller::DecideNow(Moment now) {
  last_decision_ = now.mono;
  Situation situation;
  situation.curve = options_.curve ? &*options_.curve : nullptr;
  situation.current = decided_;
  situation.since_change = ToSeconds(now.mono - changed_at_);
  std::string how;
  if (options_.policy.kind == PolicyKind::kChase) {
    const Seconds ahead = options_.period   ? *options_.period
                          : epoch_duration_ ? *epoch_duration_ * options_.grid.scale
                                            : kUnknownEpoch;
    situation.forecast = ForecastFor(now, ahead, how);
  }
  const Decision decision = Decide(options_.policy, situation);
  if (decision.outcome == Outcome::kNoLimit || !decision.limit) return;
  DecisionRecord record{now.utc, decision.limit, decision.reason, situation.forecast, true};
  if (decision.outcome == Outcome::kHeld && decided_) {
    decisions_.push_back(std::move(record));
    return;
  }
  if (Apply(*decision.limit, std::move(record)) || control_ == nullptr) {
    if (!decided_ || *decided_ != *decision.limit) changed_at_ = now.mono;
    decided_ = decision.limit;
  }
}

bool Controller::Apply(Watts limit, DecisionRecord record) {
  record.applied = false;
  if (control_ != nullptr && !refused_) {
    const auto status = control_->Set(limit);
    record.applied = status.has_value();
    failures_ = status ? 0 : failures_ + 1;
    if (!status) {
      // A GPU that is away for a moment comes back; a right that is missing does not.
      refused_ = status.error().code != Code::kUnavailable || failures_ >= kMostFailures;
      notices_.push_back(
          fmt::format("cannot set the power limit to {:.0f} W, so it is left alone {}: {}", limit.v,
                      refused_ ? "for the rest of the run" : "until the next decision",
                      status.error().message));
    }
  }
  const bool applied = record.applied;
  decisions_.push_back(std::move(record));
  return applied;
}

}  // namespace lowtide
