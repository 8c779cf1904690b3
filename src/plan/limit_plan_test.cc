#include "plan/limit_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/zeus_data_for_tests.h"

namespace lowtide {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::HasSubstr;

const TimePoint kStart = ParseTime("2026-06-01T00:00:00Z").value();

Series<GramsPerKwh> Slots(minutes length, std::initializer_list<double> values) {
  Series<GramsPerKwh> series;
  for (const double value : values) {
    const TimePoint from = kStart + length * series.size();
    series.push_back({from, from + length, GramsPerKwh(value)});
  }
  return series;
}

Policy Chase(double eta, Hysteresis hysteresis = {Seconds(0), 0}) {
  Policy policy;
  policy.kind = PolicyKind::kChase;
  policy.weights = {eta, GramsPerKwh(750)};
  policy.hysteresis = hysteresis;
  return policy;
}

LimitPlanRequest Request(const Policy& policy, Seconds duration, IntensityView intensity = {}) {
  LimitPlanRequest request;
  request.curve = A40Resnet50(128);
  request.policy = policy;
  request.duration = duration;
  request.start = kStart;
  request.intensity = intensity;
  return request;
}

// Whatever the plan, its totals are its slots' and its slots do the work.
void ExpectConsistent(const Plan& plan, const LimitPlanRequest& request) {
  ASSERT_FALSE(plan.slots.empty());
  Joules energy;
  Grams known;
  double work = 0;
  TimePoint at = request.start;
  for (const auto& slot : plan.slots) {
    EXPECT_EQ(slot.from, at);
    EXPECT_LT(slot.from, slot.to);
    EXPECT_EQ(slot.intensity.has_value(), slot.carbon.has_value());
    at = slot.to;
    energy += slot.energy;
    work += slot.work;
    if (slot.carbon) known += *slot.carbon;
  }
  EXPECT_EQ(plan.finishes_at, at);
  EXPECT_NEAR(plan.energy.v, energy.v, 1e-9 * energy.v);
  EXPECT_NEAR(plan.known_carbon.v, known.v, 1e-9 * known.v);
  const double wanted = request.duration.count() * request.curve.Highest().throughput_per_s;
  EXPECT_NEAR(work, wanted, 1e-9 * wanted);
}

TEST(LimitPlanTest, AConstantIntensityGivesOneSlot) {
  auto request = Request(Chase(0.24), hours(1), {GramsPerKwh(600), nullptr});
  request.period = minutes(5);
  const auto plan = MakeLimitPlan(request);
  ASSERT_TRUE(plan) << plan.error().message;
  ExpectConsistent(*plan, request);
  ASSERT_EQ(plan->slots.size(), 1U);
  const Slot& slot = plan->slots[0];
  EXPECT_EQ(slot.limit, Watts(250));
  EXPECT_EQ(slot.intensity, GramsPerKwh(600));
  EXPECT_DOUBLE_EQ(plan->carbon->v, ToKwh(plan->energy).v * 600);
  EXPECT_GT(plan->finishes_at, kStart + hours(1)) << "a lower limit takes longer";
  ASSERT_EQ(plan->counterfactuals.size(), 2U);
  EXPECT_EQ(plan->counterfactuals[0].name, "full_power");
  EXPECT_NEAR(plan->counterfactuals[0].duration.count(), 3600, 1e-6);
  EXPECT_EQ(plan->counterfactuals[1].name, "best_constant_limit");
  EXPECT_EQ(plan->counterfactuals[1].limit, Watts(250));
}

TEST(LimitPlanTest, FullPowerIsThePlanOfPolicyNone) {
  const auto series = Slots(minutes(30), {100, 200, 300, 400, 500, 600});
  const auto request = Request({}, minutes(150), {std::nullopt, &series});
  const auto plan = MakeLimitPlan(request).value();
  ExpectConsistent(plan, request);
  EXPECT_EQ(plan.slots.size(), 5U);
  EXPECT_EQ(plan.finishes_at, kStart + minutes(150));
  const auto& full = plan.counterfactuals[0];
  EXPECT_NEAR(full.energy.v, plan.energy.v, 1e-6);
  EXPECT_NEAR(full.carbon->v, plan.carbon->v, 1e-9);
}

TEST(LimitPlanTest, FollowsTheIntensity) {
  const auto series = Slots(minutes(60), {400, 600, 740, 510, 500, 500});
  const auto request = Request(Chase(0.24), hours(4), {std::nullopt, &series});
  const auto plan = MakeLimitPlan(request).value();
  ExpectConsistent(plan, request);
  ASSERT_EQ(plan.slots.size(), 5U);
  EXPECT_EQ(plan.slots[0].limit, Watts(300));
  EXPECT_EQ(plan.slots[1].limit, Watts(250));
  EXPECT_EQ(plan.slots[2].limit, Watts(225));
  EXPECT_EQ(plan.slots[3].limit, Watts(250));
  EXPECT_EQ(plan.slots[4].limit, Watts(300));
  EXPECT_LT(plan.slots[4].to - plan.slots[4].from, hours(1)) << "the last slot is partial";
  EXPECT_THAT(plan.slots[2].reason, HasSubstr("225 W at 740.0 g/kWh"));
}

TEST(LimitPlanTest, HysteresisKeepsTheLimitOverAShortPeak) {
  const auto series = Slots(minutes(10), {400, 740, 400, 400, 400, 400, 400});
  const auto request = Request(Chase(0.24, {Seconds(1800), 0}), hours(1), {std::nullopt, &series});
  const auto plan = MakeLimitPlan(request).value();
  for (const auto& slot : plan.slots) EXPECT_EQ(slot.limit, Watts(300));
}

TEST(LimitPlanTest, ALongPeriodDecidesOnItsMeanAndCountsEachIntensity) {
  const auto series = Slots(minutes(15), {200, 200, 900, 900, 740, 740, 740, 740, 0, 0});
  auto request = Request(Chase(0.24), hours(2), {std::nullopt, &series});
  request.period = hours(1);
  const auto plan = MakeLimitPlan(request).value();
  ExpectConsistent(plan, request);
  EXPECT_EQ(plan.slots[0].limit, Watts(250)) << "550 g/kWh on average";
  EXPECT_EQ(plan.slots[2].limit, Watts(250));
  EXPECT_EQ(plan.slots[0].intensity, GramsPerKwh(200));
  EXPECT_EQ(plan.slots[2].intensity, GramsPerKwh(900));
  EXPECT_EQ(plan.slots[4].limit, Watts(225));
}

TEST(LimitPlanTest, AShortPeriodDividesTheSlots) {
  const auto series = Slots(minutes(60), {400, 600});
  auto request = Request({}, minutes(90), {std::nullopt, &series});
  request.period = minutes(30);
  const auto plan = MakeLimitPlan(request).value();
  ExpectConsistent(plan, request);
  EXPECT_EQ(plan.slots.size(), 3U);
}

TEST(LimitPlanTest, AGapKeepsTheLimitAndTheEnergyAndHasNoCarbon) {
  auto series = Slots(minutes(60), {600, 600, 740, 740, 740});
  series.erase(series.begin() + 1);
  const auto request = Request(Chase(0.24), hours(3), {std::nullopt, &series});
  const auto plan = MakeLimitPlan(request).value();
  ExpectConsistent(plan, request);
  ASSERT_EQ(plan.slots.size(), 4U);
  EXPECT_EQ(plan.slots[1].limit, Watts(250));
  EXPECT_FALSE(plan.slots[1].intensity);
  EXPECT_FALSE(plan.slots[1].carbon);
  EXPECT_GT(plan.slots[1].energy.v, 0);
  EXPECT_THAT(plan.slots[1].reason, HasSubstr("no intensity forecast"));
  EXPECT_FALSE(plan.carbon);
  EXPECT_GT(plan.known_carbon.v, 0);
  EXPECT_EQ(plan.energy_without_intensity, plan.slots[1].energy);
  EXPECT_FALSE(plan.counterfactuals[0].carbon);
}

TEST(LimitPlanTest, AfterTheEndOfTheSeriesThereIsOneSlot) {
  const auto series = Slots(minutes(60), {600});
  auto request = Request(Chase(0.24), hours(24 * 30), {std::nullopt, &series});
  request.period = minutes(30);
  const auto plan = MakeLimitPlan(request).value();
  ExpectConsistent(plan, request);
  EXPECT_EQ(plan.slots.size(), 3U);
  EXPECT_FALSE(plan.slots[2].carbon);
}

TEST(LimitPlanTest, AJobThatStartsBeforeTheSeriesBeginsAsZeus) {
  const auto series = Slots(minutes(60), {10, 10, 10});
  auto request = Request(Chase(0.5), hours(2), {std::nullopt, &series});
  request.start = kStart - hours(1);
  const auto plan = MakeLimitPlan(request).value();
  ExpectConsistent(plan, request);
  EXPECT_FALSE(plan.slots[0].intensity);
  EXPECT_EQ(plan.slots[0].to, kStart);
  EXPECT_EQ(plan.slots[0].limit, Watts(200));
  EXPECT_EQ(plan.slots[1].limit, Watts(300));
}

TEST(LimitPlanTest, WithoutAnyIntensityEnergyIsStillPlanned) {
  const auto request = Request(Chase(0.24), hours(1));
  const auto plan = MakeLimitPlan(request).value();
  ExpectConsistent(plan, request);
  EXPECT_EQ(plan.slots.size(), 1U);
  EXPECT_FALSE(plan.carbon);
  EXPECT_EQ(plan.energy_without_intensity, plan.energy);
}

TEST(LimitPlanTest, AFixedLimitMayLieBetweenThePoints) {
  const auto plan = MakeLimitPlan(Request(ParsePolicy("fixed:210").value(), hours(1))).value();
  EXPECT_EQ(plan.slots[0].limit, Watts(210));
  const auto outside = MakeLimitPlan(Request(ParsePolicy("fixed:50").value(), hours(1)));
  ASSERT_FALSE(outside);
  EXPECT_THAT(outside.error().message, HasSubstr("fixed:50: the power curve covers 100 to 300 W"));
}

TEST(LimitPlanTest, VeryShortJobsAreSlotsToo) {
  const auto request = Request({}, Seconds(1e-5), {GramsPerKwh(100), nullptr});
  const auto plan = MakeLimitPlan(request).value();
  ExpectConsistent(plan, request);
}

TEST(LimitPlanTest, BoundsAreKept) {
  const auto error = [](const LimitPlanRequest& request) {
    const auto plan = MakeLimitPlan(request);
    return plan ? std::string("no error") : plan.error().message;
  };
  EXPECT_THAT(error(Request({}, Seconds(0))), HasSubstr("the duration is 0 s"));
  EXPECT_THAT(error(Request({}, Seconds(1e12))), HasSubstr("up to 10 years"));
  Series<GramsPerKwh> series = {{kStart, kStart + hours(24 * 3000), GramsPerKwh(1)}};
  auto request = Request({}, hours(24 * 3000), {std::nullopt, &series});
  request.period = Seconds(0.5);
  EXPECT_THAT(error(request), HasSubstr("the period is 0.5 s"));
  request.period = Seconds(1);
  EXPECT_THAT(error(request), HasSubstr("more than 200000 slots"));
  series.push_back(series.front());
  EXPECT_THAT(error(request), HasSubstr("not ordered"));
}

}  // namespace
}  // namespace lowtide
