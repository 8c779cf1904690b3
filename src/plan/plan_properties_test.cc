// Properties that hold for every power curve, intensity and epoch length.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "plan/counterfactual.h"
#include "plan/limit_plan.h"
#include "plan/limit_profiler.h"
#include "plan/synthetic_job_for_tests.h"

namespace lowtide {
namespace {

const TimePoint kStart = ParseTime("2026-06-01T00:00:00Z").value();

double Between(double low, double high) {
  return low + (high - low) * *rc::gen::inRange(0, 1'000'001) / 1e6;
}

// Limits 25 W apart. Throughput rises with the limit, and draw is convex in throughput: every
// further unit of throughput costs more watts than the one before.
PowerCurve ConvexCurve() {
  const int count = *rc::gen::inRange(1, 12);
  std::vector<PowerPoint> points;
  double throughput = Between(0.05, 2);
  double draw = Between(40, 120);
  double slope = 0;
  for (int i = 0; i < count; ++i) {
    points.push_back({Watts(100 + 25 * i), throughput, Watts(draw)});
    const double more = Between(0.001, 0.5);
    slope += Between(0.1, 200);
    throughput += more;
    draw += slope * more;
  }
  return MakePowerCurve("", "", *rc::gen::inRange(1, 9), std::move(points)).value();
}

Series<GramsPerKwh> SeriesWithGaps() {
  Series<GramsPerKwh> series;
  TimePoint at = kStart - std::chrono::minutes(*rc::gen::inRange(0, 120));
  const int count = *rc::gen::inRange(0, 40);
  for (int i = 0; i < count; ++i) {
    at += std::chrono::minutes(*rc::gen::inRange(0, 4) == 0 ? *rc::gen::inRange(1, 90) : 0);
    const TimePoint to = at + std::chrono::minutes(*rc::gen::inRange(1, 90));
    series.push_back({at, to, GramsPerKwh(Between(0, 900))});
    at = to;
  }
  return series;
}

Policy AnyPolicy(const PowerCurve& curve) {
  Policy policy;
  policy.kind = *rc::gen::element(PolicyKind::kNone, PolicyKind::kFixed, PolicyKind::kZeus,
                                  PolicyKind::kChase);
  policy.fixed_limit = Watts(Between(curve.Lowest().limit.v, curve.Highest().limit.v));
  policy.selector = {*rc::gen::element(SelectorKind::kEnergy, SelectorKind::kTime,
                                       SelectorKind::kZeus, SelectorKind::kMaxSlowdown),
                     Between(0, 1), Between(1, 3)};
  policy.weights = {Between(0, 1), GramsPerKwh(Between(1, 900))};
  policy.hysteresis = {Seconds(Between(0, 7200)), Between(0, 0.02)};
  return policy;
}

TEST(PlanProperties, ChaseNeverRaisesTheLimitAsTheIntensityRises) {
  EXPECT_TRUE(rc::check([] {
    const PowerCurve curve = ConvexCurve();
    const CarbonWeights weights{Between(0, 1), GramsPerKwh(Between(1, 900))};
    Watts last = curve.Highest().limit;
    for (int step = 0; step <= 80; ++step) {
      const GramsPerKwh intensity(12.5 * step);
      const Watts limit = SelectCarbonAware(curve, intensity, weights).limit;
      RC_ASSERT(limit <= last);
      last = limit;
    }
  }));
}

TEST(PlanProperties, TotalsAreThoseOfTheSlotsAndTheWorkIsDone) {
  EXPECT_TRUE(rc::check([] {
    LimitPlanRequest request;
    request.curve = ConvexCurve();
    request.policy = AnyPolicy(request.curve);
    request.duration = Seconds(Between(1, 86400));
    request.start = kStart;
    const auto series = SeriesWithGaps();
    request.intensity.series = &series;
    if (*rc::gen::arbitrary<bool>()) request.period = Seconds(Between(60, 7200));
    const auto plan = MakeLimitPlan(request);
    RC_ASSERT(plan.has_value());
    Joules energy;
    Grams carbon;
    bool all_known = true;
    double work = 0;
    TimePoint at = kStart;
    for (const auto& slot : plan->slots) {
      RC_ASSERT(slot.from == at);
      RC_ASSERT(slot.to > slot.from);
      at = slot.to;
      energy += slot.energy;
      work += slot.work;
      const auto mean = MeanOver(series, slot.from, slot.to);
      all_known = all_known && slot.carbon.has_value();
      if (slot.carbon) {
        carbon += *slot.carbon;
        RC_ASSERT(std::abs(mean.value->v - slot.intensity->v) < 1e-3);
      }
    }
    const double wanted = request.duration.count() * request.curve.Highest().throughput_per_s;
    RC_ASSERT(at == plan->finishes_at);
    RC_ASSERT(std::abs(work - wanted) <= 1e-9 * wanted);
    RC_ASSERT(std::abs((plan->energy - energy).v) <= 1e-9 * energy.v);
    RC_ASSERT(std::abs((plan->known_carbon - carbon).v) <= 1e-9 * carbon.v);
    RC_ASSERT(plan->carbon.has_value() == all_known);
  }));
}

TEST(PlanProperties, AReplayAtTheHighestLimitIsFullPower) {
  EXPECT_TRUE(rc::check([] {
    const PowerCurve curve = ConvexCurve();
    const auto series = SeriesWithGaps();
    const IntensityView view{std::nullopt, &series};
    const Work work{Between(1, 1e5), kStart, Between(0.1, 100)};
    const auto full = FullPower(curve, work, view);
    const auto replay = ReplayAtLimit(curve, curve.Highest().limit, work, view, "replay");
    RC_ASSERT(replay.energy == full.energy);
    RC_ASSERT(replay.carbon == full.carbon);
    RC_ASSERT(replay.duration == full.duration);
    // And nothing that must be as fast is better than the best constant limit.
    const auto best = BestConstantLimit(curve, work, view, 2 * full.duration);
    RC_ASSERT(best.has_value());
    if (best->carbon && full.carbon) RC_ASSERT(best->carbon->v <= full.carbon->v);
  }));
}

TEST(PlanProperties, AMeasuredCurveIsMonotoneWhateverDisturbsTheJob) {
  EXPECT_TRUE(rc::check([] {
    const PowerCurve truth = ConvexCurve();
    ProfilerOptions options;
    options.profile_steps = *rc::gen::inRange(1, 50);
    auto profiler =
        LimitProfiler::Make(options, truth.Lowest().limit, truth.Highest().limit, truth.gpus)
            .value();
    SyntheticJob job(truth);
    const double worst = Between(1, 5);
    job.slowed = [worst](int) { return *rc::gen::inRange(0, 4) == 0 ? Between(1, worst) : 1.0; };
    job.Train(profiler, 1000, [](int) { return 200; });
    RC_ASSERT(profiler.Done());
    const PowerCurve curve = profiler.Curve("", "").value();
    const auto raw = profiler.Points();
    RC_ASSERT(curve.points.size() == raw.size());
    bool monotone = true;
    for (std::size_t i = 1; i < raw.size(); ++i) {
      RC_ASSERT(curve.points[i].throughput_per_s <= curve.points[i - 1].throughput_per_s);
      RC_ASSERT(curve.points[i].draw <= curve.points[i - 1].draw);
      monotone = monotone && raw[i].throughput_per_s <= raw[i - 1].throughput_per_s &&
                 raw[i].draw <= raw[i - 1].draw;
    }
    if (monotone) {
      for (std::size_t i = 0; i < raw.size(); ++i) {
        RC_ASSERT(curve.points[i].throughput_per_s == raw[i].throughput_per_s);
        RC_ASSERT(curve.points[i].draw == raw[i].draw);
      }
    }
  }));
}

TEST(PlanProperties, TheProfilerRecoversTheCurveWhateverTheEpochLengths) {
  EXPECT_TRUE(rc::check([] {
    const PowerCurve truth = ConvexCurve();
    ProfilerOptions options;
    options.wait_steps = *rc::gen::inRange(0, 5);
    options.warmup_steps = *rc::gen::inRange(0, 15);
    options.profile_steps = *rc::gen::inRange(1, 50);
    options.min_throughput_share = 0;
    auto profiler =
        LimitProfiler::Make(options, truth.Lowest().limit, truth.Highest().limit, truth.gpus)
            .value();
    SyntheticJob job(truth);
    job.between_epochs = Seconds(Between(0, 100));
    const int longest = *rc::gen::inRange(2, 200);
    job.Train(profiler, 100'000, [&](int) { return *rc::gen::inRange(1, longest); });
    RC_ASSERT(profiler.Done());
    RC_ASSERT(profiler.Points().size() == truth.points.size());
    for (std::size_t i = 0; i < truth.points.size(); ++i) {
      const PowerPoint found = profiler.Points()[i];
      RC_ASSERT(found.limit == truth.points[i].limit);
      RC_ASSERT(std::abs(found.throughput_per_s / truth.points[i].throughput_per_s - 1) < 1e-6);
      RC_ASSERT(std::abs(found.draw / truth.points[i].draw - 1) < 1e-6);
    }
  }));
}

}  // namespace
}  // namespace lowtide
