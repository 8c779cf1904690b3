#include "run/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "forecast/day_persistence.h"
#include "grid/sources/constant_source.h"
#include "run/limit_guard.h"
#include "run/test_device.h"

namespace lowtide {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Obeys, or refuses.
class FakeControl final : public LimitControl {
 public:
  PowerLimits Range() const override { return {Watts(100), Watts(300), Watts(300)}; }
  Watts Current() const override { return limit; }
  Status Set(Watts watts) override {
    ++sets;
    if (refuse) return Fail(Code::kPermissionDenied, "root is needed");
    if (away > 0) {
      --away;
      return Fail(Code::kUnavailable, "GPU is lost");
    }
    limit = watts;
    return {};
  }
  Watts limit{300};
  int sets = 0;
  bool refuse = false;
  int away = 0;  // so many calls fail
};

PowerCurve A40Curve() {
  // ResNet-50, batch 128, of Zeus's A40 trace (seconds per epoch rounded).
  return *MakePowerCurve("A40", "job", 1,
                         {{Watts(300), 1.0, Watts(280)},
                          {Watts(250), 0.96, Watts(245)},
                          {Watts(200), 0.85, Watts(198)},
                          {Watts(150), 0.60, Watts(150)},
                          {Watts(100), 0.40, Watts(100)}});
}

class ControllerTest : public ::testing::Test {
 protected:
  Controller::Moment At(double s) const {
    return {MonoTime(ToNanoseconds(Seconds(s))), TimePoint() + ToMilliseconds(Seconds(s))};
  }
  static Policy Parse(const char* text, double eta = 0.5) {
    PolicyOptions options;
    options.eta = eta;
    options.hysteresis = Hysteresis{Seconds(0), 0};
    return *ParsePolicy(text, options);
  }
  ControllerOptions Options(const char* policy) const {
    ControllerOptions options;
    options.policy = Parse(policy);
    options.grid = {TimePoint(), TimePoint(), 1};
    options.job = "job";
    return options;
  }
  Controller Make(ControllerOptions options, LimitControl* control) {
    return Controller(std::move(options), control, nullptr, nullptr,
                      [this] { return std::optional<Joules>(energy_); });
  }

  ControllerOptions Profiled(const char* policy) const {
    ControllerOptions options = Options(policy);
    options.profiler = {.wait_steps = 1,
                        .warmup_steps = 2,
                        .profile_steps = 5,
                        .limit_step = Watts(50),
                        .min_window = Seconds(0),
                        .min_throughput_share = 0.5};
    return options;
  }
  // Steps of the A40's curve, each so many times as long, until the controller has a curve.
  void Train(Controller& controller, const std::function<double()>& slowed = {}) {
    const PowerCurve truth = A40Curve();
    double now = 0;
    controller.OnEpochBegin(At(now));
    for (int step = 0; step < 200 && !controller.Curve(); ++step) {
      const PowerPoint at = Interpolate(truth, control_.limit);
      const double duration = (slowed ? slowed() : 1) / at.throughput_per_s;
      now += duration;
      energy_ += at.draw * Seconds(duration);
      controller.OnStep(At(now), 1);
    }
  }

  FakeControl control_;
  Joules energy_;
};

TEST_F(ControllerTest, FixedSetsItsLimitBeforeTheCommandStarts) {
  Controller controller = Make(Options("fixed:200"), &control_);
  controller.Start(At(0));
  EXPECT_EQ(control_.limit.v, 200);
  const auto decisions = controller.TakeDecisions();
  ASSERT_THAT(decisions, SizeIs(1));
  EXPECT_TRUE(decisions[0].applied);
}

TEST_F(ControllerTest, NoneTouchesNothing) {
  Controller controller = Make(Options("none"), &control_);
  controller.Start(At(0));
  controller.OnEpochBegin(At(1));
  for (int i = 0; i < 100; ++i) controller.OnStep(At(1 + i), 1);
  EXPECT_EQ(control_.sets, 0);
  EXPECT_THAT(controller.TakeDecisions(), IsEmpty());
}

TEST_F(ControllerTest, ARefusedLimitIsToldOnceAndNotTriedAgain) {
  ControllerOptions options = Options("zeus");
  options.curve = A40Curve();
  control_.refuse = true;
  Controller controller = Make(std::move(options), &control_);
  controller.Start(At(0));
  for (int epoch = 0; epoch < 5; ++epoch) controller.OnEpochBegin(At(epoch));
  EXPECT_EQ(control_.sets, 1);
  const auto notices = controller.TakeNotices();
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_THAT(notices[0], HasSubstr("root is needed"));
  for (const auto& d : controller.TakeDecisions()) EXPECT_FALSE(d.applied);
}

TEST_F(ControllerTest, AGpuThatIsAwayForAMomentIsSteeredAgain) {
  ControllerOptions options = Options("zeus");
  options.curve = A40Curve();
  control_.away = 2;
  Controller controller = Make(std::move(options), &control_);
  controller.Start(At(0));
  for (int epoch = 0; epoch < 5; ++epoch) controller.OnEpochBegin(At(epoch));
  EXPECT_GE(control_.sets, 3);
  EXPECT_LT(control_.limit, Watts(300));
  EXPECT_THAT(controller.TakeNotices(), SizeIs(2));
  const auto decisions = controller.TakeDecisions();
  EXPECT_FALSE(decisions[1].applied);
  EXPECT_TRUE(decisions.back().applied);
}

TEST_F(ControllerTest, AGpuThatStaysAwayIsLeftAlone) {
  ControllerOptions options = Options("zeus");
  options.curve = A40Curve();
  control_.away = 100;
  Controller controller = Make(std::move(options), &control_);
  controller.Start(At(0));
  for (int epoch = 0; epoch < 9; ++epoch) controller.OnEpochBegin(At(epoch));
  EXPECT_EQ(control_.sets, 3);
  EXPECT_THAT(controller.TakeNotices(), SizeIs(3));
}

TEST_F(ControllerTest, WithoutControlDecisionsAreRecordedAsNotApplied) {
  ControllerOptions options = Options("zeus");
  options.curve = A40Curve();
  Controller controller = Make(std::move(options), nullptr);
  controller.Start(At(0));
  const auto decisions = controller.TakeDecisions();
  ASSERT_THAT(decisions, SizeIs(1));
  EXPECT_FALSE(decisions[0].applied);
}

TEST_F(ControllerTest, ProfilesWhatItDoesNotKnowThenDecides) {
  ControllerOptions options = Profiled("zeus");
  options.profiler.min_throughput_share = 0;
  Controller controller = Make(std::move(options), &control_);
  controller.Start(At(0));
  const PowerCurve truth = A40Curve();
  Train(controller);
  ASSERT_TRUE(controller.Curve());
  const auto measured = controller.TakeMeasuredCurve();
  ASSERT_TRUE(measured);
  EXPECT_TRUE(measured->complete);
  ASSERT_EQ(measured->curve.points.size(), 5U);
  for (const PowerPoint& p : measured->curve.points) {
    const PowerPoint expected = Interpolate(truth, p.limit);
    EXPECT_NEAR(p.throughput_per_s, expected.throughput_per_s, 1e-6);
    EXPECT_NEAR(p.draw.v, expected.draw.v, 1e-6);
  }
  EXPECT_EQ(control_.limit.v, SelectLimit(truth, Selector{}).limit.v);
  EXPECT_THAT(controller.TakeRemarks(),
              ElementsAre("profiling: measured 5 of 5 limits (300 W: 1 steps/s at 280.0 W; "
                          "250 W: 0.96 steps/s at 245.0 W; 200 W: 0.85 steps/s at 198.0 W; "
                          "150 W: 0.6 steps/s at 150.0 W; 100 W: 0.4 steps/s at 100.0 W)"));
}

TEST_F(ControllerTest, AProfileThatFoundOneLimitOfUseIsNotKept) {
  Controller controller = Make(Profiled("zeus"), &control_);
  controller.Start(At(0));
  // From the second limit on something else takes the machine.
  Train(controller, [this] { return control_.limit == Watts(300) ? 1.0 : 3.0; });
  ASSERT_TRUE(controller.Curve());
  const auto measured = controller.TakeMeasuredCurve();
  ASSERT_TRUE(measured);
  EXPECT_FALSE(measured->complete);
  EXPECT_EQ(measured->curve.points.size(), 2U);
  EXPECT_THAT(controller.TakeNotices(),
              ElementsAre(AllOf(HasSubstr("ended at 250 W"), HasSubstr("is not kept"))));
  EXPECT_EQ(control_.limit.v, 300) << "this run goes by what it knows";
}

TEST_F(ControllerTest, AnEarlierCurveThatTellsTooLittleIsMeasuredAnew) {
  ControllerOptions options = Profiled("zeus");
  options.find_curve = [] {
    return MakePowerCurve("A40", "job", 1,
                          {{Watts(300), 1.0, Watts(280)}, {Watts(250), 0.3, Watts(240)}})
        .value();
  };
  Controller controller = Make(std::move(options), &control_);
  controller.Start(At(0));
  controller.OnEpochBegin(At(0));
  EXPECT_FALSE(controller.Curve());
  EXPECT_TRUE(controller.Profiling());
  EXPECT_THAT(controller.TakeRemarks(), ElementsAre(HasSubstr("measured anew")));
  Train(controller);
  const auto measured = controller.TakeMeasuredCurve();
  ASSERT_TRUE(measured);
  EXPECT_TRUE(measured->complete);
}

TEST_F(ControllerTest, AnEarlierCurveThatTellsTooLittleIsUsedWhereProfilingIsOff) {
  ControllerOptions options = Profiled("zeus");
  options.profile = ProfileMode::kOff;
  options.find_curve = [] {
    return MakePowerCurve("A40", "job", 1, {{Watts(300), 1.0, Watts(280)}}).value();
  };
  Controller controller = Make(std::move(options), &control_);
  controller.Start(At(0));
  controller.OnEpochBegin(At(0));
  EXPECT_TRUE(controller.Curve());
  EXPECT_FALSE(controller.Profiling());
}

TEST_F(ControllerTest, AForcedProfileMeasuresWhateverIsKnown) {
  int asked = 0;
  ControllerOptions options = Profiled("zeus");
  options.profile = ProfileMode::kForce;
  options.find_curve = [&asked] {
    ++asked;
    return std::optional<PowerCurve>(A40Curve());
  };
  Controller controller = Make(options, &control_);
  controller.Start(At(0));
  Train(controller);
  EXPECT_EQ(asked, 0);
  const auto measured = controller.TakeMeasuredCurve();
  ASSERT_TRUE(measured);
  EXPECT_TRUE(measured->complete);

  // Where nothing can be set, nothing can be measured either.
  Controller powerless = Make(options, nullptr);
  powerless.Start(At(0));
  powerless.OnEpochBegin(At(0));
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(powerless.Curve());
}

TEST_F(ControllerTest, ACurveOfAnEarlierRunIsAskedForOnceAndUsed) {
  int asked = 0;
  ControllerOptions options = Options("zeus");
  options.find_curve = [&asked] {
    ++asked;
    return std::optional<PowerCurve>(A40Curve());
  };
  Controller controller = Make(std::move(options), &control_);
  controller.Start(At(0));
  EXPECT_EQ(asked, 0) << "the job has not said its batch size yet";
  controller.OnEpochBegin(At(1));
  controller.OnEpochBegin(At(2));
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(controller.Profiling());
  EXPECT_EQ(control_.limit.v, SelectLimit(A40Curve(), Selector{}).limit.v);
  EXPECT_FALSE(controller.TakeMeasuredCurve()) << "nothing was measured in this run";
}

TEST_F(ControllerTest, ProfilingOffSaysSoAndLeavesTheLimit) {
  ControllerOptions options = Options("zeus");
  options.profile = ProfileMode::kOff;
  Controller controller = Make(std::move(options), &control_);
  controller.Start(At(0));
  controller.OnEpochBegin(At(1));
  EXPECT_EQ(control_.sets, 0);
  EXPECT_THAT(controller.TakeNotices(), SizeIs(1));
}

TEST_F(ControllerTest, APeriodDecidesByGridTime) {
  ControllerOptions options = Options("zeus");
  options.curve = A40Curve();
  options.period = Seconds(1800);
  options.grid.scale = 1800;  // a period is a second of the run
  Controller controller = Make(std::move(options), &control_);
  controller.Start(At(0));
  controller.TakeDecisions();
  controller.Step(At(0.5));
  EXPECT_THAT(controller.TakeDecisions(), IsEmpty());
  controller.Step(At(1.0));
  EXPECT_THAT(controller.TakeDecisions(), SizeIs(1));
  controller.OnEpochBegin(At(1.5));
  EXPECT_THAT(controller.TakeDecisions(), IsEmpty()) << "epochs do not decide when a period does";
}

TEST_F(ControllerTest, ChaseUsesTheForecastOfTheComingEpoch) {
  const ConstantSource low({}, GramsPerKwh(10));
  const ConstantSource high({}, GramsPerKwh(3000));
  const DayPersistence forecaster;
  const auto decide = [&](const Source& source) {
    ControllerOptions options = Options("chase");
    options.curve = A40Curve();
    Controller controller(std::move(options), &control_, &source, &forecaster,
                          [] { return std::optional<Joules>(); });
    controller.Start(At(0));
    return controller.TakeDecisions().at(0);
  };
  const DecisionRecord clean = decide(low);
  EXPECT_EQ(clean.power_limit->v, 300);
  EXPECT_EQ(clean.forecast->v, 10);
  const DecisionRecord dirty = decide(high);
  EXPECT_LT(dirty.power_limit->v, 300);
  EXPECT_EQ(dirty.forecast->v, 3000);
}

}  // namespace
}  // namespace lowtide
