#include "plan/limit_profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/synthetic_job_for_tests.h"

namespace lowtide {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LimitProfiler Profiler(const ProfilerOptions& options = {}, const Selector& selector = {}) {
  return LimitProfiler::Make(options, Watts(100), Watts(300), 1, selector).value();
}

void ExpectSameCurve(const std::vector<PowerPoint>& points, const PowerCurve& truth) {
  ASSERT_EQ(points.size(), truth.points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].limit, truth.points[i].limit);
    EXPECT_NEAR(points[i].throughput_per_s / truth.points[i].throughput_per_s, 1, 1e-6);
    EXPECT_NEAR(points[i].draw / truth.points[i].draw, 1, 1e-6);
  }
}

TEST(LimitProfilerTest, GoesFromTheMaximumDownToTheMinimum) {
  EXPECT_THAT(Profiler().Limits(),
              ElementsAre(Watts(300), Watts(275), Watts(250), Watts(225), Watts(200), Watts(175),
                          Watts(150), Watts(125), Watts(100)));
  const auto uneven = LimitProfiler::Make({}, Watts(90), Watts(150), 1);
  EXPECT_THAT(uneven->Limits(), ElementsAre(Watts(150), Watts(125), Watts(100), Watts(90)));
  const auto close = LimitProfiler::Make({}, Watts(124.8), Watts(150), 1);
  EXPECT_THAT(close->Limits(), ElementsAre(Watts(150), Watts(124.8)));
  EXPECT_THAT(LimitProfiler::Make({}, Watts(200), Watts(200), 1)->Limits(),
              ElementsAre(Watts(200)));
}

TEST(LimitProfilerTest, WaitsWarmsUpAndMeasuresAsZeusDoes) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler = Profiler({.min_throughput_share = 0});
  EXPECT_EQ(job.BeginEpoch(profiler).kind, ProfilerAction::Kind::kNothing);
  // One step of waiting, then the highest limit is set; then 50 steps a limit.
  std::vector<std::pair<int, double>> set;
  int step = 0;
  while (!profiler.Done()) {
    const auto action = job.Step(profiler);
    ++step;
    if (action.kind == ProfilerAction::Kind::kSetLimit) set.emplace_back(step, action.limit.v);
  }
  EXPECT_THAT(set,
              ElementsAre(std::pair(1, 300.0), std::pair(51, 275.0), std::pair(101, 250.0),
                          std::pair(151, 225.0), std::pair(201, 200.0), std::pair(251, 175.0),
                          std::pair(301, 150.0), std::pair(351, 125.0), std::pair(401, 100.0)));
  EXPECT_EQ(step, 451);
  EXPECT_EQ(profiler.Progress(), "measured 9 of 9 limits");
  ExpectSameCurve(profiler.Points(), LinearCurve());
  const auto curve = profiler.Curve("A40", "job");
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->device, "A40");
  EXPECT_EQ(job.Step(profiler).kind, ProfilerAction::Kind::kNothing) << "done is said once";
}

TEST(LimitProfilerTest, CarriesAnUnfinishedWindowIntoTheNextEpoch) {
  for (const int steps_per_epoch : {1, 2, 3, 7, 20, 49, 51, 1000}) {
    SyntheticJob job(LinearCurve());
    LimitProfiler profiler = Profiler({.min_throughput_share = 0});
    job.Train(profiler, 3000, [&](int) { return steps_per_epoch; });
    ASSERT_TRUE(profiler.Done()) << steps_per_epoch << ": " << profiler.Progress();
    ExpectSameCurve(profiler.Points(), LinearCurve());
  }
}

TEST(LimitProfilerTest, TimeBetweenEpochsIsNotCounted) {
  SyntheticJob job(LinearCurve());
  job.between_epochs = Seconds(1000);
  LimitProfiler profiler = Profiler({.min_throughput_share = 0});
  job.Train(profiler, 200, [](int) { return 13; });
  ASSERT_TRUE(profiler.Done());
  ExpectSameCurve(profiler.Points(), LinearCurve());
}

TEST(LimitProfilerTest, NeedsNoEpochs) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler = Profiler({.min_throughput_share = 0});
  for (int i = 0; i < 460 && !profiler.Done(); ++i) job.Step(profiler);
  ASSERT_TRUE(profiler.Done());
  ExpectSameCurve(profiler.Points(), LinearCurve());
}

TEST(LimitProfilerTest, StepsMayComeInBundles) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler = Profiler({.min_throughput_share = 0});
  job.BeginEpoch(profiler);
  for (int i = 0; i < 200 && !profiler.Done(); ++i) job.Step(profiler, 16);
  ASSERT_TRUE(profiler.Done());
  ExpectSameCurve(profiler.Points(), LinearCurve());
}

TEST(LimitProfilerTest, WithoutWaitAndWarmUpTheFirstStepIsMeasured) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler =
      Profiler({.wait_steps = 0, .warmup_steps = 0, .profile_steps = 2, .min_throughput_share = 0});
  EXPECT_EQ(job.BeginEpoch(profiler).limit, Watts(300));
  for (int i = 0; i < 18; ++i) job.Step(profiler);
  ASSERT_TRUE(profiler.Done());
  ExpectSameCurve(profiler.Points(), LinearCurve());
}

TEST(LimitProfilerTest, EndsOnceTheThroughputIsOfNoUse) {
  SyntheticJob job(LinearCurve());  // throughput share = limit / 300 W
  LimitProfiler profiler = Profiler();
  job.Train(profiler, 1, [](int) { return 1000; });
  ASSERT_TRUE(profiler.Done());
  EXPECT_EQ(job.steps_done, 1 + 6 * 50 + 40) << "the last limit is measured twice";
  EXPECT_EQ(profiler.Points().back().limit, Watts(175));  // 0.58 < 0.6
  EXPECT_TRUE(profiler.Notes().empty());
  EXPECT_THAT(profiler.Progress(), HasSubstr("ended at 175 W: its throughput is 58.3 %"));
  EXPECT_TRUE(profiler.Curve("", ""));
}

TEST(LimitProfilerTest, AJobThatIsSlowAtItsStartHasTheHighestLimitMeasuredAgain) {
  PowerCurve slow = LinearCurve();
  for (PowerPoint& p : slow.points) p.throughput_per_s *= 0.5;
  SyntheticJob job(slow);
  LimitProfiler profiler = Profiler({.min_throughput_share = 0});
  job.BeginEpoch(profiler);
  for (int i = 0; i < 51; ++i) job.Step(profiler);  // through the window of the highest limit
  ASSERT_EQ(profiler.Points().size(), 1U);
  job.curve = LinearCurve();
  int steps = 0;
  for (; !profiler.Done(); ++steps) job.Step(profiler);
  EXPECT_EQ(steps, 9 * 50) << "eight further limits, and the highest again";
  EXPECT_EQ(job.limit, Watts(300));
  ExpectSameCurve(profiler.Points(), LinearCurve());
  EXPECT_EQ(profiler.Progress(), "measured 9 of 9 limits");
  ASSERT_EQ(profiler.Notes().size(), 1U);
  EXPECT_THAT(profiler.Notes()[0], HasSubstr("300 W is measured once more"));
}

// The first step of a window, of the limits from the highest down, without any that are repeated.
int FirstStepOf(int window) { return 1 + 50 * window + 10; }

TEST(LimitProfilerTest, ADisturbedWindowDoesNotEndIt) {
  SyntheticJob job(LinearCurve());
  job.slowed = [](int step) {
    return step >= FirstStepOf(1) && step < FirstStepOf(1) + 40 ? 3 : 1;
  };
  LimitProfiler profiler = Profiler();
  job.Train(profiler, 1, [](int) { return 1000; });
  ASSERT_TRUE(profiler.Done());
  EXPECT_THAT(profiler.Progress(), HasSubstr("ended at 175 W: its throughput is 58.3 %"));
  PowerCurve expected = LinearCurve();
  expected.points.resize(6);
  ExpectSameCurve(profiler.Points(), expected);
  EXPECT_THAT(profiler.Notes(),
              ElementsAre("275 W had 30.6 % of the throughput at 300 W, but 91.7 % when it was "
                          "measured once more, which counts"));
}

TEST(LimitProfilerTest, TheFasterOfTwoWindowsCounts) {
  SyntheticJob job(LinearCurve());  // both windows at 275 W are disturbed, the second one more
  job.slowed = [](int step) {
    return step < FirstStepOf(1) ? 1 : step < FirstStepOf(1) + 40 ? 2 : 4;
  };
  LimitProfiler profiler = Profiler();
  job.Train(profiler, 1, [](int) { return 1000; });
  ASSERT_TRUE(profiler.Done());
  ASSERT_EQ(profiler.Points().size(), 2U);
  EXPECT_NEAR(profiler.Points()[1].throughput_per_s, 275 / 300.0 / 2, 1e-6);
}

TEST(LimitProfilerTest, ALimitThatWasSlowerThanALowerOneIsMeasuredAgain) {
  SyntheticJob job(LinearCurve());
  job.slowed = [](int step) {
    return step >= FirstStepOf(2) && step < FirstStepOf(4) ? 1.4 : 1;  // at 250 and 225 W
  };
  LimitProfiler profiler = Profiler({.min_throughput_share = 0});
  job.Train(profiler, 1, [](int) { return 1000; });
  ASSERT_TRUE(profiler.Done());
  EXPECT_EQ(job.steps_done, 1 + 9 * 50 + 2 * 50);
  ExpectSameCurve(profiler.Points(), LinearCurve());
  EXPECT_THAT(profiler.Notes(),
              ElementsAre("250 W was slower than 200 W, so something else slowed the job down: "
                          "250 W is measured once more",
                          "225 W was slower than 200 W, so something else slowed the job down: "
                          "225 W is measured once more"));
  EXPECT_EQ(profiler.Progress(), "measured 9 of 9 limits");
}

TEST(LimitProfilerTest, ALimitThatIsSlowTwiceIsLeftAtThatAndTheCurveIsMonotone) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler = Profiler({.min_throughput_share = 0});
  job.BeginEpoch(profiler);
  // 250 W is slow whenever it is measured: between 275 W and 225 W it must not be on the curve.
  while (!profiler.Done()) {
    job.slowed = [&](int) { return job.limit == Watts(250) ? 2 : 1; };
    ASSERT_LT(job.steps_done, 1000);
    job.Step(profiler);
  }
  EXPECT_EQ(job.steps_done, 1 + 9 * 50 + 50);
  EXPECT_NEAR(profiler.Points()[2].throughput_per_s, 250 / 300.0 / 2, 1e-6) << "as measured";
  const auto curve = profiler.Curve("", "");
  ASSERT_TRUE(curve);
  for (std::size_t i = 1; i < curve->points.size(); ++i) {
    EXPECT_LE(curve->points[i].throughput_per_s, curve->points[i - 1].throughput_per_s);
    EXPECT_LT(curve->points[i].draw, curve->points[i - 1].draw);
  }
  // The windows of 250, 225, 200 and 175 W as one.
  const double time =
      40 / (250 / 600.0) + 40 / (225 / 300.0) + 40 / (200 / 300.0) + 40 / (175 / 300.0);
  EXPECT_NEAR(curve->points[2].throughput_per_s, 160 / time, 1e-6);
  EXPECT_EQ(curve->points[2].throughput_per_s, curve->points[5].throughput_per_s);
  EXPECT_NEAR(curve->points[6].throughput_per_s, 150 / 300.0, 1e-6);
}

TEST(LimitProfilerTest, ASecondWindowThatCannotBeHadLeavesTheFirst) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler = Profiler({.min_throughput_share = 0.95});
  job.BeginEpoch(profiler);
  for (int i = 0; i < 1 + 50 + 50 + 5; ++i) job.Step(profiler);
  for (int i = 0; i < 3; ++i) {
    ASSERT_FALSE(profiler.Done());
    job.energy = job.energy - Joules(1e6);
    job.Step(profiler);
  }
  ASSERT_TRUE(profiler.Done());
  EXPECT_THAT(profiler.Progress(), HasSubstr("ended at 275 W: its throughput is 91.7 %"));
  EXPECT_EQ(profiler.Points().size(), 2U);
}

TEST(LimitProfilerTest, ACurveSufficesWhenItReachesAsFarAsTheProfileWould) {
  const auto curve = [](std::vector<std::pair<double, double>> points) {
    std::vector<PowerPoint> out;
    for (const auto& [limit, throughput] : points) {
      out.push_back({Watts(limit), throughput, Watts(limit)});
    }
    return MakePowerCurve("", "", 1, out).value();
  };
  const LimitProfiler profiler = Profiler();  // 300 to 100 W, 0.6
  EXPECT_TRUE(profiler.Suffices(LinearCurve()));
  EXPECT_TRUE(profiler.Suffices(curve({{300, 1}, {275, 0.9}, {250, 0.59}})));
  EXPECT_TRUE(profiler.Suffices(curve({{300, 1}, {200, 0.9}, {100.4, 0.7}})));
  EXPECT_FALSE(profiler.Suffices(curve({{300, 1}, {275, 0.9}, {250, 0.8}}))) << "cut short";
  EXPECT_FALSE(profiler.Suffices(curve({{300, 1}, {275, 0.5}}))) << "one limit of use";
  EXPECT_FALSE(profiler.Suffices(curve({{300, 1}})));
  // A curve that a tighter bound has cut short does for that bound only.
  const LimitProfiler tight = Profiler({}, {SelectorKind::kMaxSlowdown, 0.5, 1.2});
  EXPECT_TRUE(tight.Suffices(curve({{300, 1}, {275, 0.9}, {250, 0.8}})));
  // There is nothing more to know of a GPU with these limits.
  EXPECT_TRUE(LimitProfiler::Make({}, Watts(300), Watts(300), 1)->Suffices(curve({{300, 1}})));
  EXPECT_TRUE(LimitProfiler::Make({.limit_step = Watts(300)}, Watts(100), Watts(300), 1)
                  ->Suffices(curve({{300, 1}, {100, 0.3}})));
}

TEST(LimitProfilerTest, ASlowdownBoundEndsItAtOneOverTheFactor) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler = Profiler({}, {SelectorKind::kMaxSlowdown, 0.5, 1.15});
  job.Train(profiler, 1, [](int) { return 1000; });
  ASSERT_TRUE(profiler.Done());
  EXPECT_EQ(profiler.Points().back().limit, Watts(250));  // 0.83 < 1/1.15
}

TEST(LimitProfilerTest, AWindowLastsAtLeastAsLongAsAskedFor) {
  SyntheticJob job(LinearCurve());  // 1 s a step at 300 W
  LimitProfiler profiler = Profiler({.min_window = Seconds(100), .min_throughput_share = 0});
  job.BeginEpoch(profiler);
  for (int i = 0; i < 1 + 10 + 99; ++i) job.Step(profiler);
  EXPECT_TRUE(profiler.Points().empty());
  EXPECT_EQ(job.Step(profiler).limit, Watts(275));
}

TEST(LimitProfilerTest, TrainingThatEndsEarlyLeavesAPartialCurve) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler = Profiler();
  job.BeginEpoch(profiler);
  for (int i = 0; i < 1 + 50 + 50 + 30; ++i) job.Step(profiler);
  EXPECT_EQ(profiler.Stop("the training ended").kind, ProfilerAction::Kind::kDone);
  EXPECT_EQ(profiler.Progress(),
            "stopped while measuring 250 W: 20 of 40 steps: the training ended");
  EXPECT_EQ(profiler.Curve("", "")->points.size(), 2U);
  EXPECT_EQ(profiler.Stop("again").kind, ProfilerAction::Kind::kNothing);
}

TEST(LimitProfilerTest, NothingMeasuredIsNoCurve) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler = Profiler();
  job.BeginEpoch(profiler);
  for (int i = 0; i < 20; ++i) job.Step(profiler);
  profiler.Stop("the training ended");
  const auto curve = profiler.Curve("", "");
  ASSERT_FALSE(curve);
  EXPECT_EQ(curve.error().code, Code::kUnavailable);
  EXPECT_THAT(curve.error().message, HasSubstr("the training ended"));
}

TEST(LimitProfilerTest, MomentsWithoutEnergyLengthenTheWindow) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler = Profiler({.min_throughput_share = 0});
  job.energy_known = [](int step) { return step % 3 == 0; };
  job.Train(profiler, 1, [](int) { return 600; });
  ASSERT_TRUE(profiler.Done());
  ExpectSameCurve(profiler.Points(), LinearCurve());
}

TEST(LimitProfilerTest, EnergyThatGoesBackwardsDiscardsTheWindow) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler = Profiler({.min_throughput_share = 0});
  job.BeginEpoch(profiler);
  for (int i = 0; i < 30; ++i) job.Step(profiler);
  job.energy = Joules(0);  // the counter was reset
  job.Train(profiler, 1, [](int) { return 600; });
  ASSERT_TRUE(profiler.Done());
  ExpectSameCurve(profiler.Points(), LinearCurve());
}

TEST(LimitProfilerTest, AResetInsideAnEpochIsNoted) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler = Profiler({.min_throughput_share = 0});
  job.BeginEpoch(profiler);
  for (int i = 0; i < 30; ++i) job.Step(profiler);
  job.energy = Joules(-1e6);
  for (int i = 0; i < 500 && !profiler.Done(); ++i) job.Step(profiler);
  ASSERT_TRUE(profiler.Done());
  ExpectSameCurve(profiler.Points(), LinearCurve());
  EXPECT_THAT(profiler.Notes(),
              ElementsAre("window at 300 W discarded: the energy went backwards"));
}

TEST(LimitProfilerTest, ALimitThatCannotBeMeasuredIsLeftOut) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler = Profiler({.min_throughput_share = 0});
  job.BeginEpoch(profiler);
  for (int i = 0; i < 1 + 50 + 10; ++i) job.Step(profiler);
  for (int i = 0; i < 3; ++i) {  // at 275 W
    job.energy = job.energy - Joules(1e6);
    job.Step(profiler);
  }
  for (int i = 0; i < 500 && !profiler.Done(); ++i) job.Step(profiler);
  ASSERT_TRUE(profiler.Done());
  EXPECT_EQ(profiler.Points().size(), 8U);
  EXPECT_EQ(profiler.Points()[1].limit, Watts(250));
  EXPECT_EQ(profiler.Notes().back(), "275 W left out after 3 attempts");
  EXPECT_EQ(profiler.Progress(), "measured 8 of 9 limits");
}

TEST(LimitProfilerTest, ACounterThatStandsStillEndsIt) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler = Profiler();
  job.energy_moves = false;
  job.Train(profiler, 1, [](int) { return 5000; });
  ASSERT_TRUE(profiler.Done());
  EXPECT_THAT(profiler.Progress(), HasSubstr("the highest limit, 300 W, could not be measured"));
  EXPECT_THAT(profiler.Progress(), HasSubstr("no energy was counted over 400 steps"));
  EXPECT_FALSE(profiler.Curve("", ""));
}

TEST(LimitProfilerTest, AClockThatGoesBackwardsDiscardsTheWindow) {
  SyntheticJob job(LinearCurve());
  LimitProfiler profiler = Profiler({.min_throughput_share = 0});
  job.BeginEpoch(profiler);
  for (int i = 0; i < 30; ++i) job.Step(profiler);
  job.now -= std::chrono::hours(1);
  for (int i = 0; i < 500 && !profiler.Done(); ++i) job.Step(profiler);
  ASSERT_TRUE(profiler.Done());
  ExpectSameCurve(profiler.Points(), LinearCurve());
  EXPECT_THAT(profiler.Notes(), ElementsAre("window at 300 W discarded: the clock went backwards"));
}

TEST(LimitProfilerTest, OptionsOutOfRangeAreErrors) {
  const auto error = [](const ProfilerOptions& options, double min = 100, double max = 300,
                        int gpus = 1) {
    const auto profiler = LimitProfiler::Make(options, Watts(min), Watts(max), gpus);
    return profiler ? std::string("no error") : profiler.error().message;
  };
  EXPECT_THAT(error({.wait_steps = -1}), HasSubstr("the number of steps to wait is -1"));
  EXPECT_THAT(error({.warmup_steps = -1}), HasSubstr("warm-up steps is -1"));
  EXPECT_THAT(error({.profile_steps = 0}), HasSubstr("measured steps is 0"));
  EXPECT_THAT(error({.limit_step = Watts(0)}), HasSubstr("the step between limits is 0"));
  EXPECT_THAT(error({.min_window = Seconds(-1)}), HasSubstr("the minimum window is -1"));
  EXPECT_THAT(error({.min_throughput_share = 1}), HasSubstr("the least share of throughput is 1"));
  EXPECT_THAT(error({}, 0), HasSubstr("the lowest limit is 0"));
  EXPECT_THAT(error({}, 400), HasSubstr("up to the highest, 300 W"));
  EXPECT_THAT(error({.limit_step = Watts(1)}, 1, 5000), HasSubstr("below 1000"));
  EXPECT_THAT(error({}, 100, 300, 0), HasSubstr("the number of GPUs is 0"));
}

TEST(ParseProfileModeTest, KnowsAutoForceAndOff) {
  EXPECT_EQ(ParseProfileMode("auto"), ProfileMode::kAuto);
  EXPECT_EQ(ParseProfileMode("force"), ProfileMode::kForce);
  EXPECT_EQ(ParseProfileMode("off"), ProfileMode::kOff);
  EXPECT_THAT(ParseProfileMode("on").error().message, HasSubstr("'on'"));
}

}  // namespace
}  // namespace lowtide
