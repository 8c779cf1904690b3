// Decides the power limit of a run, again and again: profiles the job when its power curve is not
// known, then asks the policy at every epoch or period, with the intensity forecast for what comes.
// Owns no thread and no device: a real run and a simulated one drive the same object.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "forecast/forecaster.h"
#include "grid/grid_clock.h"
#include "grid/source.h"
#include "plan/limit_profiler.h"
#include "plan/policy.h"
#include "run/limit_guard.h"
#include "store/records.h"

namespace lowtide {

struct ControllerOptions {
  GridClock grid;
  Policy policy;
  std::optional<Seconds> period;  // nothing: decide at every epoch
  ProfilerOptions profiler;
  std::string device_model;  // of the curve that is profiled
  std::string job;
  int gpus = 1;
  // The job's curve where it is known from the start; nothing: see below.
  std::optional<PowerCurve> curve;
  // Asked once, at the first epoch or step, when the job has said what it is (its batch size): the
  // curve of an earlier run of it. May be empty. It is not asked when the curve is to be measured
  // anew, and what it gives is passed over where the profile would tell more
  // (LimitProfiler::Suffices).
  std::function<std::optional<PowerCurve>()> find_curve;
  ProfileMode profile = ProfileMode::kAuto;
};

// Not thread-safe.
class Controller {
 public:
  struct Moment {
    MonoTime mono;
    TimePoint utc;
  };
  // The running total of the run's GPU energy, read now; nothing when it cannot be told.
  using EnergyProbe = std::function<std::optional<Joules>()>;

  // `control` null: nothing can be set, and every decision says so. `source` and `forecaster` may
  // be null together. All must outlive the controller.
  Controller(ControllerOptions options, LimitControl* control, const Source* source,
             const Forecaster* forecaster, EnergyProbe probe);

  // Before the command starts: a policy that needs no profile decides now.
  void Start(Moment now);
  void OnEpochBegin(Moment now);
  void OnEpochEnd(Moment now, Seconds duration);
  void OnStep(Moment now, int count);
  // Call about every second: decides when a period has passed.
  void Step(Moment now);
  // The command has ended: what was profiled so far is kept.
  void Finish();

  // A curve that was measured in this run.
  struct MeasuredCurve {
    PowerCurve curve;
    // Worth keeping for later runs. A profile that found one limit of use is better made again.
    bool complete = false;
  };

  // What has been decided, what went wrong, and what else is to be known, since the last call.
  std::vector<DecisionRecord> TakeDecisions() { return std::exchange(decisions_, {}); }
  std::vector<std::string> TakeNotices() { return std::exchange(notices_, {}); }
  std::vector<std::string> TakeRemarks() { return std::exchange(remarks_, {}); }
  // Once, when profiling has ended before the command.
  std::optional<MeasuredCurve> TakeMeasuredCurve() {
    return std::exchange(measured_, std::nullopt);
  }
  const std::optional<PowerCurve>& Curve() const { return options_.curve; }
  bool Profiling() const { return profiler_.has_value() && !profiler_->Done(); }

 private:
  bool NeedsCurve() const;
  // Looks for the curve or starts to measure it, once. True when it was found just now.
  bool PrepareCurve();
  std::optional<LimitProfiler> MakeProfiler();
  void TellWindows();
  void Act(const ProfilerAction& action, Moment now);
  void DecideNow(Moment now);
  std::optional<GramsPerKwh> ForecastFor(Moment now, Seconds ahead, std::string& how);
  // False when the limit is not in force.
  bool Apply(Watts limit, DecisionRecord record);

  ControllerOptions options_;
  LimitControl* control_;
  const Source* source_;
  const Forecaster* forecaster_;
  EnergyProbe probe_;

  std::optional<LimitProfiler> profiler_;
  std::size_t profiler_notes_ = 0;
  std::optional<MeasuredCurve> measured_;
  std::optional<Watts> decided_;
  MonoTime changed_at_;
  std::optional<MonoTime> last_decision_;
  std::optional<Seconds> epoch_duration_;
  bool prepared_ = false;
  bool refused_ = false;  // limits cannot be set: told once, not tried again
  int failures_ = 0;      // of setting a limit, one after the other
  std::vector<DecisionRecord> decisions_;
  std::vector<std::string> notices_;
  std::vector<std::string> remarks_;
  std::string last_forecast_problem_;
};

}  // namespace lowtide
