// A job that runs exactly as its power curve says, for tests of the profiler.
#pragma once

#include <functional>
#include <optional>

#include "plan/limit_profiler.h"
#include "plan/power_curve.h"

namespace lowtide {

// Limits 300..100 W by 25; throughput 1/s at 300 W and in proportion below; draws 5 W below limit.
inline PowerCurve LinearCurve() {
  std::vector<PowerPoint> points;
  for (int w = 300; w >= 100; w -= 25) points.push_back({Watts(w), w / 300.0, Watts(w - 5)});
  return MakePowerCurve("", "", 1, std::move(points)).value();
}

struct SyntheticJob {
  explicit SyntheticJob(PowerCurve truth) : curve(std::move(truth)), limit(curve.Lowest().limit) {}

  PowerCurve curve;
  Watts limit;  // before profiling sets one, any
  MonoTime now{};
  Joules energy{1000};
  Seconds between_epochs{7};  // at another draw than that of a step
  bool energy_moves = true;
  std::function<bool(int step)> energy_known;
  // How many times as long a step takes because of something else; the GPU draws as before.
  std::function<double(int step)> slowed;
  int steps_done = 0;

  ProfilerAction BeginEpoch(LimitProfiler& profiler) {
    return Obey(profiler.OnEpochBegin(now, energy));
  }

  ProfilerAction Step(LimitProfiler& profiler, int count = 1) {
    const PowerPoint point = Interpolate(curve, limit);
    const double times = slowed ? slowed(steps_done) : 1;
    Pass(count * times * TimePerUnit(point), point.draw);
    steps_done += count;
    const bool known = !energy_known || energy_known(steps_done);
    return Obey(profiler.OnStep(now, known ? std::optional(energy) : std::nullopt, count));
  }

  // Up to `epochs` of `steps_of(epoch)` steps, until the profiler is done.
  void Train(LimitProfiler& profiler, int epochs, const std::function<int(int)>& steps_of) {
    for (int epoch = 0; epoch < epochs && !profiler.Done(); ++epoch) {
      BeginEpoch(profiler);
      for (int i = steps_of(epoch); i > 0 && !profiler.Done(); --i) Step(profiler);
      profiler.OnEpochEnd();
      Pass(between_epochs, Watts(40));
    }
  }

 private:
  void Pass(Seconds time, Watts draw) {
    now += ToNanoseconds(time);
    if (energy_moves) energy += draw * time;
  }
  ProfilerAction Obey(ProfilerAction action) {
    if (action.kind == ProfilerAction::Kind::kSetLimit) limit = action.limit;
    return action;
  }
};

}  // namespace lowtide
