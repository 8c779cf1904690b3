#include "grid/max_intensity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grid/sources/constant_source.h"
#include "grid/sources/trace_source.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TimePoint At(std::string_view text) { return *ParseTime(text); }

TEST(MaxCarbonIntensityTest, ParsesNumbersAndWindows) {
  EXPECT_EQ(*ParseMaxCarbonIntensity("750"), MaxCarbonIntensity(GramsPerKwh(750)));
  EXPECT_EQ(*ParseMaxCarbonIntensity("0.5"), MaxCarbonIntensity(GramsPerKwh(0.5)));
  EXPECT_EQ(*ParseMaxCarbonIntensity("dynamic:60d"),
            MaxCarbonIntensity(DynamicMaximum{std::chrono::days(60)}));
  EXPECT_EQ(*ParseMaxCarbonIntensity("dynamic:36h"), MaxCarbonIntensity(DynamicMaximum{36h}));
}

TEST(MaxCarbonIntensityTest, RefusesEverythingElse) {
  for (const char* bad :
       {"", "0", "-1", "nan", "inf", "5001", "750g", " 750", "dynamic", "dynamic:", "dynamic:60",
        "dynamic:1m", "dynamic:-1d", "dynamic:9999d", "static:60d"}) {
    const auto parsed = ParseMaxCarbonIntensity(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, Code::kInvalidArgument);
    EXPECT_THAT(parsed.error().message, HasSubstr("'" + std::string(bad) + "'"));
  }
}

class MaximumOverErcoTest : public ::testing::Test {
 protected:
  std::unique_ptr<TraceSource> source_ =
      *TraceSource::Open("data/traces/ERCO.csv:ci_lifecycle", Zone{});
};

TEST_F(MaximumOverErcoTest, IsTheHighestOfTheWindow) {
  const auto maximum = MaximumOver(*source_, At("2022-01-30T12:00Z"), std::chrono::days(60));
  ASSERT_TRUE(maximum);
  EXPECT_EQ(maximum->value, GramsPerKwh(506.45));
  EXPECT_EQ(maximum->at, At("2022-01-13T01:00Z"));
  EXPECT_EQ(maximum->coverage, 1);
}

TEST_F(MaximumOverErcoTest, CountsTheSlotOfNowAndNothingLater) {
  // 13:00 has 366.03, the highest of the morning; 17:00 has 405.25.
  const auto at_noon = MaximumOver(*source_, At("2022-07-01T12:00Z"), 2h);
  EXPECT_EQ(at_noon->value, GramsPerKwh(360.09));
  EXPECT_EQ(at_noon->at, At("2022-07-01T12:00Z"));
  EXPECT_EQ(MaximumOver(*source_, At("2022-07-01T15:00Z"), 5h)->value, GramsPerKwh(366.03));
}

TEST_F(MaximumOverErcoTest, SaysHowMuchOfTheWindowIsKnown) {
  const auto early = MaximumOver(*source_, At("2021-11-16T00:00Z"), std::chrono::days(60));
  ASSERT_TRUE(early);
  EXPECT_DOUBLE_EQ(early->coverage, 0.25);
  const auto never = MaximumOver(*source_, At("2021-10-01T00:00Z"), std::chrono::days(60));
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().code, Code::kUnavailable);
}

TEST_F(MaximumOverErcoTest, ResolveTakesNumbersAsTheyAre) {
  const TimePoint now = At("2022-01-30T12:00Z");
  EXPECT_EQ(Resolve(*ParseMaxCarbonIntensity("750"), *source_, now)->value, GramsPerKwh(750));
  EXPECT_EQ(Resolve(*ParseMaxCarbonIntensity("dynamic:60d"), *source_, now)->value,
            GramsPerKwh(506.45));
}

TEST(MaximumOverTest, OfAConstantIsTheConstant) {
  const ConstantSource source({}, GramsPerKwh(400));
  const auto maximum = MaximumOver(source, At("2022-01-30T12:00Z"), std::chrono::days(60));
  ASSERT_TRUE(maximum);
  EXPECT_EQ(maximum->value, GramsPerKwh(400));
  EXPECT_EQ(maximum->coverage, 1);
}

}  // namespace
}  // namespace lowtide
