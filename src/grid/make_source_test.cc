#include "grid/make_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"

namespace lowtide {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(MakeSourceTest, NothingGivenStillMakesASourceThatSaysWhy) {
  const auto source = MakeSource({});
  ASSERT_TRUE(source);
  EXPECT_EQ(WhyNoIntensity(**source),
            "no zone, trace or intensity given; energy is reported without carbon");
  EXPECT_EQ((*source)->Origin().source, "none");
}

TEST(MakeSourceTest, AConstantIsTakenAsGivenAndLabelledWithTheZone) {
  IntensityOptions options;
  options.constant_g_per_kwh = 400;
  options.zone = "DE";
  const auto source = MakeSource(options);
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->Origin().source, "constant:400");
  EXPECT_EQ((*source)->Origin().kind, IntensityKind::kConstant);
  EXPECT_EQ((*source)->Origin().zone.key, "DE");
  EXPECT_EQ((*source)->Latest(TimePoint())->slot.value, GramsPerKwh(400));
  EXPECT_FALSE(WhyNoIntensity(**source));
}

TEST(MakeSourceTest, AConstantOutOfRangeIsRefused) {
  for (const double bad : {-1.0, 5000.5, std::nan(""), HUGE_VAL}) {
    IntensityOptions options;
    options.constant_g_per_kwh = bad;
    const auto source = MakeSource(options);
    ASSERT_FALSE(source) << bad;
    EXPECT_EQ(source.error().code, Code::kInvalidArgument);
  }
  EXPECT_TRUE(CheckedIntensity(0));
  EXPECT_TRUE(CheckedIntensity(5000));
}

TEST(MakeSourceTest, ATraceIsReadFromItsFile) {
  IntensityOptions options;
  options.trace_argument = "data/traces/PJM.csv:ci_direct";
  options.zone = "US-MIDA-PJM";
  const auto source = MakeSource(options);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->Origin().source, "trace:PJM.csv:ci_direct");
  options.trace_argument = "data/traces/PJM.csv";
  EXPECT_THAT(MakeSource(options).error().message, HasSubstr("ci_direct, ci_lifecycle"));
}

TEST(MakeSourceTest, AConstantAndATraceExcludeEachOther) {
  IntensityOptions options;
  options.constant_g_per_kwh = 400;
  options.trace_argument = "data/traces/PJM.csv:ci_direct";
  const auto source = MakeSource(options);
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message, AllOf(HasSubstr("400"), HasSubstr("PJM.csv")));
}

TEST(MakeSourceTest, AZoneAloneIsTheYearlyAverageOfItsCountryUnlessRefused) {
  const auto countries = ReadFile("data/grid/countries.csv");
  const auto yearly = ReadFile("data/grid/yearly_intensity.csv");
  ASSERT_TRUE(countries && yearly);
  IntensityOptions options;
  options.zone = "FR";
  options.countries_csv = *countries;
  options.yearly_intensity_csv = *yearly;
  const auto source = MakeSource(options);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->Latest(TimePoint())->slot.value, GramsPerKwh(56.039));
  options.yearly_averages = YearlyAverages::kRefuse;
  const auto refused = MakeSource(options);
  ASSERT_TRUE(refused);
  EXPECT_THAT(WhyNoIntensity(**refused).value_or(""), HasSubstr("FR"));
}

TEST(MakeSourceTest, BadZonesAreRefused) {
  IntensityOptions options;
  options.zone = "D E";
  EXPECT_EQ(MakeSource(options).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace lowtide
