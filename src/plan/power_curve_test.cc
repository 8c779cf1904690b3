#include "plan/power_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace lowtide {
namespace {

using testing::HasSubstr;

std::vector<PowerPoint> ThreePoints() {
  return {{Watts(100), 1, Watts(95)}, {Watts(300), 4, Watts(280)}, {Watts(200), 3, Watts(190)}};
}

TEST(PowerCurveTest, SortsFromTheHighestLimitDown) {
  const auto curve = MakePowerCurve("A40", "job", 2, ThreePoints());
  ASSERT_TRUE(curve) << curve.error().message;
  EXPECT_EQ(curve->Highest().limit, Watts(300));
  EXPECT_EQ(curve->points[1].limit, Watts(200));
  EXPECT_EQ(curve->Lowest().limit, Watts(100));
  EXPECT_EQ(curve->MaxPower(), Watts(600));
}

TEST(PowerCurveTest, FindsALimitToHalfAWatt) {
  const auto curve = MakePowerCurve("", "", 1, ThreePoints()).value();
  ASSERT_NE(curve.Find(Watts(200.4)), nullptr);
  EXPECT_EQ(curve.Find(Watts(200.4))->limit, Watts(200));
  EXPECT_EQ(curve.Find(Watts(199.4)), nullptr);
  EXPECT_EQ(curve.Find(Watts(std::numeric_limits<double>::quiet_NaN())), nullptr);
}

TEST(PowerCurveTest, InterpolatesBetweenLimitsAndClampsAtTheEnds) {
  const auto curve = MakePowerCurve("", "", 1, ThreePoints()).value();
  const PowerPoint middle = Interpolate(curve, Watts(250));
  EXPECT_DOUBLE_EQ(middle.throughput_per_s, 3.5);
  EXPECT_DOUBLE_EQ(middle.draw.v, 235);
  EXPECT_EQ(middle.limit, Watts(250));
  EXPECT_DOUBLE_EQ(Interpolate(curve, Watts(125)).draw.v, 118.75);
  EXPECT_DOUBLE_EQ(Interpolate(curve, Watts(200)).draw.v, 190);
  EXPECT_EQ(Interpolate(curve, Watts(500)).limit, Watts(300));
  EXPECT_EQ(Interpolate(curve, Watts(1)).limit, Watts(100));
}

TEST(PowerCurveTest, ASinglePointIsACurve) {
  const auto curve = MakePowerCurve("", "", 1, {{Watts(150), 2, Watts(140)}}).value();
  EXPECT_EQ(Interpolate(curve, Watts(120)).draw, Watts(140));
  EXPECT_EQ(&curve.Highest(), &curve.Lowest());
}

TEST(PowerCurveTest, ErrorsNameTheLimitTheValueAndWhatIsAllowed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const auto message = [](PowerPoint point) {
    const auto curve = MakePowerCurve("", "", 1, {{Watts(300), 1, Watts(1)}, point});
    return curve ? std::string("no error") : curve.error().message;
  };
  EXPECT_THAT(message({Watts(200), 0, Watts(1)}), HasSubstr("at limit 200 W: the throughput is 0"));
  EXPECT_THAT(message({Watts(200), nan, Watts(1)}), HasSubstr("the throughput is nan"));
  EXPECT_THAT(message({Watts(200), inf, Watts(1)}), HasSubstr("the throughput is inf"));
  EXPECT_THAT(message({Watts(200), 1, Watts(-3)}), HasSubstr("at limit 200 W: the draw is -3"));
  EXPECT_THAT(message({Watts(200), 1, Watts(2e5)}), HasSubstr("up to 100 kW a GPU"));
  EXPECT_THAT(message({Watts(0), 1, Watts(1)}), HasSubstr("the limit is 0"));
  EXPECT_THAT(message({Watts(300.2), 1, Watts(1)}),
              HasSubstr("limit 300 W appears more than once"));
  EXPECT_THAT(MakePowerCurve("", "", 1, {}).error().message, HasSubstr("no points"));
  EXPECT_THAT(MakePowerCurve("", "", 0, ThreePoints()).error().message, HasSubstr("0 GPUs"));
}

TEST(PowerCurveTest, ScalesInProportionToTheGpus) {
  const auto two = MakePowerCurve("A40", "job", 2, ThreePoints()).value();
  const PowerCurve eight = ScaleToGpus(two, 8);
  EXPECT_EQ(eight.gpus, 8);
  EXPECT_DOUBLE_EQ(eight.Highest().draw.v, 1120);
  EXPECT_DOUBLE_EQ(eight.Highest().throughput_per_s, 16);
  EXPECT_EQ(eight.Highest().limit, Watts(300));
  EXPECT_EQ(eight.MaxPower(), Watts(2400));
  EXPECT_DOUBLE_EQ(EnergyPerUnit(eight.Highest()).v, EnergyPerUnit(two.Highest()).v);
}

}  // namespace
}  // namespace lowtide
