#include "plan/counterfactual.h"

#include <gtest/gtest.h>

#include "plan/zeus_data_for_tests.h"

namespace lowtide {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

const TimePoint kStart = ParseTime("2026-06-01T00:00:00Z").value();

// 1 unit/s at 1000 W, 0.5 units/s at 400 W.
PowerCurve TwoPoints() {
  return MakePowerCurve("", "", 1, {{Watts(300), 1, Watts(1000)}, {Watts(100), 0.5, Watts(400)}})
      .value();
}

Series<GramsPerKwh> Hourly(std::initializer_list<double> values) {
  Series<GramsPerKwh> series;
  for (const double value : values) {
    const TimePoint from = kStart + hours(series.size());
    series.push_back({from, from + hours(1), GramsPerKwh(value)});
  }
  return series;
}

TEST(ReplayTest, MultipliesEveryStretchWithItsOwnIntensity) {
  const auto series = Hourly({100, 300, 500, 700});
  const IntensityView view{std::nullopt, &series};
  const auto full = FullPower(TwoPoints(), {7200, kStart}, view);
  EXPECT_EQ(full.name, "full_power");
  EXPECT_EQ(full.limit, Watts(300));
  EXPECT_DOUBLE_EQ(full.duration.count(), 7200);
  EXPECT_DOUBLE_EQ(ToKwh(full.energy).v, 2);
  EXPECT_DOUBLE_EQ(full.carbon->v, 100 + 300);
  const auto low = ReplayAtLimit(TwoPoints(), Watts(100), {7200, kStart}, view, "low");
  EXPECT_DOUBLE_EQ(low.duration.count(), 14400);
  EXPECT_DOUBLE_EQ(ToKwh(low.energy).v, 1.6);
  EXPECT_DOUBLE_EQ(low.carbon->v, 0.4 * (100 + 300 + 500 + 700));
}

TEST(ReplayTest, ALimitBetweenThePointsIsInterpolated) {
  const auto replay =
      ReplayAtLimit(TwoPoints(), Watts(200), {750, kStart}, {GramsPerKwh(360), nullptr}, "x");
  EXPECT_EQ(replay.limit, Watts(200));
  EXPECT_DOUBLE_EQ(replay.duration.count(), 1000);
  EXPECT_DOUBLE_EQ(replay.energy.v, 700e3);
  EXPECT_DOUBLE_EQ(replay.carbon->v, 70);
}

TEST(ReplayTest, AnAcceleratedRunSeesTheGridGoFaster) {
  const auto series = Hourly({100, 300});
  // 2 s of the job are 2 h of the grid.
  const auto replay = FullPower(TwoPoints(), {2, kStart, 3600}, {std::nullopt, &series});
  EXPECT_DOUBLE_EQ(replay.duration.count(), 2);
  EXPECT_DOUBLE_EQ(replay.energy.v, 2000);
  EXPECT_DOUBLE_EQ(replay.carbon->v, 2000 / 3.6e6 * 200);
}

TEST(ReplayTest, AGapLeavesTheCarbonUnknownAndKeepsTheEnergy) {
  auto series = Hourly({100, 300, 500});
  series.erase(series.begin() + 1);
  const auto replay = FullPower(TwoPoints(), {7200, kStart}, {std::nullopt, &series});
  EXPECT_FALSE(replay.carbon);
  EXPECT_DOUBLE_EQ(replay.missing_share, 0.5);
  EXPECT_DOUBLE_EQ(ToKwh(replay.energy).v, 2);
  const auto unknown = FullPower(TwoPoints(), {7200, kStart}, {});
  EXPECT_FALSE(unknown.carbon);
  EXPECT_DOUBLE_EQ(unknown.missing_share, 1);
}

TEST(BestConstantLimitTest, TakesTheLeastCarbonThatFinishesInTime) {
  // The slow limit saves energy, but reaches into a dirty hour.
  const auto series = Hourly({100, 900});
  const IntensityView view{std::nullopt, &series};
  const Work work{3600, kStart};
  EXPECT_EQ(BestConstantLimit(TwoPoints(), work, view, hours(2))->limit, Watts(300));
  const auto flat = Hourly({500, 500});
  EXPECT_EQ(BestConstantLimit(TwoPoints(), work, {std::nullopt, &flat}, hours(2))->limit,
            Watts(100));
  EXPECT_EQ(BestConstantLimit(TwoPoints(), work, {std::nullopt, &flat}, minutes(119))->limit,
            Watts(300));
  EXPECT_FALSE(BestConstantLimit(TwoPoints(), work, view, minutes(59)));
}

TEST(BestConstantLimitTest, WithoutIntensityItTakesTheLeastEnergy) {
  const Work work{3600, kStart};
  const auto best = BestConstantLimit(TwoPoints(), work, {}, hours(2));
  ASSERT_TRUE(best);
  EXPECT_EQ(best->limit, Watts(100));
  EXPECT_FALSE(best->carbon);
  // Known for the fast limit only: the two carbons cannot be compared.
  const auto series = Hourly({100});
  EXPECT_EQ(BestConstantLimit(TwoPoints(), work, {std::nullopt, &series}, hours(2))->limit,
            Watts(100));
}

// Chase at its own eta chooses one limit for a whole trace of 529..680 g/kWh, so the best constant
// limit with the same finish is that limit and saves as much.
TEST(BestConstantLimitTest, EqualsAConstantChase) {
  const PowerCurve curve = A40Resnet50(128);
  const Work work{4, kStart};
  const IntensityView view{GramsPerKwh(621.8), nullptr};
  const auto full = FullPower(curve, work, view);
  const auto chase = ReplayAtLimit(curve, Watts(250), work, view, "chase");
  const auto best = BestConstantLimit(curve, work, view, chase.duration);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->limit, Watts(250));
  EXPECT_EQ(best->carbon, chase.carbon);
  EXPECT_NEAR(1 - *chase.carbon / *full.carbon, 0.099, 0.0005);
  EXPECT_NEAR(chase.duration / full.duration - 1, 0.017, 0.0005);
}

}  // namespace
}  // namespace lowtide
