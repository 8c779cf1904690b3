#include "forecast/hourly.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;
using namespace std::chrono_literals;

TimePoint At(std::string_view text) { return *ParseTime(text); }

Series<GramsPerKwh> Slots(TimePoint start, std::chrono::minutes step,
                          const std::vector<std::optional<double>>& values) {
  Series<GramsPerKwh> out;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const TimePoint from = start + static_cast<std::int64_t>(k) * step;
    if (values[k]) out.push_back({from, from + step, GramsPerKwh(*values[k])});
  }
  return out;
}

class AnyStepTest : public ::testing::TestWithParam<int> {};

TEST_P(AnyStepTest, HourIsTheMeanOfItsSlots) {
  const std::chrono::minutes step(GetParam());
  const TimePoint start = At("2022-03-01T00:00Z");
  std::vector<std::optional<double>> values;
  const int per_hour = 60 / GetParam();
  for (int k = 0; k < 3 * per_hour; ++k) values.emplace_back(100.0 * (k / per_hour) + k % per_hour);
  const auto series = ToHourly(Slots(start, step, values), start, start + 3h);
  ASSERT_TRUE(series);
  const double mean = (per_hour - 1) / 2.0;
  ASSERT_EQ(series->values.size(), 3U);
  for (int h = 0; h < 3; ++h) {
    EXPECT_THAT(series->values[static_cast<std::size_t>(h)],
                Optional(::testing::DoubleNear(100 * h + mean, 1e-9)));
  }
}

INSTANTIATE_TEST_SUITE_P(Steps, AnyStepTest, ::testing::Values(5, 15, 30, 60));

TEST(ToHourlyTest, HalfAnHourIsEnoughAndLessIsAGap) {
  const TimePoint start = At("2022-03-01T00:00Z");
  const auto series =
      ToHourly(Slots(start, 15min, {1.0, {}, {}, {}, 2.0, 4.0, {}, {}, 5.0, 5.0, 5.0, 5.0}), start,
               start + 3h);
  ASSERT_TRUE(series);
  EXPECT_THAT(series->values, ElementsAre(std::nullopt, Optional(3.0), Optional(5.0)));
}

TEST(ToHourlyTest, SlotsThatStraddleHoursCountInBoth) {
  const TimePoint start = At("2022-03-01T00:00Z");
  const Series<GramsPerKwh> slots = {{start, start + 90min, GramsPerKwh(10)},
                                     {start + 90min, start + 2h, GramsPerKwh(30)}};
  const auto series = ToHourly(slots, start + 10min, start + 2h + 59min);
  ASSERT_TRUE(series);
  EXPECT_EQ(series->start, start);
  EXPECT_THAT(series->values, ElementsAre(Optional(10.0), Optional(20.0)));
}

TEST(ToHourlyTest, EmptyAndEndlessIntervals) {
  const TimePoint start = At("2022-03-01T00:00Z");
  EXPECT_TRUE(ToHourly({}, start, start)->values.empty());
  const auto endless = ToHourly({}, start, start + std::chrono::days(366 * 40));
  ASSERT_FALSE(endless);
  EXPECT_THAT(endless.error().message, HasSubstr("at most"));
}

// A file of `days` days from 2022-01-01; `row` says the cells behind the time, nothing for no row.
std::string File(int days, const std::function<std::optional<std::string>(int)>& row,
                 const char* header = "time,wind,sun") {
  std::string text = std::string(header) + "\n";
  for (int h = 0; h < 24 * days; ++h) {
    if (const auto cells = row(h)) {
      text += fmt::format("2022-01-{:02}T{:02}:00Z,{}\n", h / 24 + 1, h % 24, *cells);
    }
  }
  return text;
}

TEST(ParseWeatherTest, MissingRowsCellsAndZerosAreTheDayBefore) {
  const auto weather = ParseWeather(File(3,
                                         [](int h) -> std::optional<std::string> {
                                           if (h == 30) return std::nullopt;
                                           if (h == 31) return "0,0";
                                           if (h == 32) return ",NaN";
                                           return fmt::format("{},{}", h, 1 + h % 2);
                                         }),
                                    "w.csv");
  ASSERT_TRUE(weather) << weather.error().message;
  EXPECT_THAT(weather->names, ElementsAre("wind", "sun"));
  ASSERT_EQ(weather->Hours(), 72U);
  EXPECT_EQ(weather->columns[0][29], 29);
  EXPECT_EQ(weather->columns[0][30], 6);
  EXPECT_EQ(weather->columns[0][31], 7);
  EXPECT_EQ(weather->columns[1][31], 2);
  EXPECT_EQ(weather->columns[0][32], 8);
  EXPECT_EQ(weather->columns[0][33], 33);
}

TEST(ParseWeatherTest, ALoneVariableMayBeZero) {
  const auto weather =
      ParseWeather(File(2, [](int h) { return h % 24 < 12 ? "0" : "5"; }, "time,sun"), "w.csv");
  ASSERT_TRUE(weather) << weather.error().message;
  EXPECT_EQ(weather->columns[0][25], 0);
}

struct BadWeather {
  const char* text;
  const char* message;
};

class BadWeatherTest : public ::testing::TestWithParam<BadWeather> {};

TEST_P(BadWeatherTest, IsRefusedWithTheReason) {
  const auto weather = ParseWeather(GetParam().text, "w.csv");
  ASSERT_FALSE(weather);
  EXPECT_THAT(weather.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadWeatherTest,
    ::testing::Values(
        BadWeather{"time\n2022-01-01T00:00Z\n", "w.csv: 1 columns"},
        BadWeather{"time,w\n", "w.csv: no row"},
        BadWeather{"time,w\n2022-01-01T00:00Z,\n", "first day"},
        BadWeather{"time,w\n2022-01-01T00:30Z,1\n", "w.csv:2: 2022-01-01T00:30:00Z is not a whole"},
        BadWeather{"time,w\nnoon,1\n", "w.csv:2: "},
        BadWeather{"time,w\n2022-01-01T00:00Z,1\n2022-01-01T00:00Z,1\n", "w.csv:3: "},
        BadWeather{"time,w\n2022-01-01T00:00Z,1\n2022-02-01T00:00Z,1\n", "hours are missing"},
        BadWeather{"time,w\n2022-01-01T00:00Z,1e12\n", "column 'w': 1000000000000 is beyond"},
        BadWeather{"time,w\n2022-01-01T00:00Z,windy\n", "w.csv:2"}));

TEST(ParseGenerationMixTest, ReadsTheKindsAndNothingElse) {
  const auto mix = ParseGenerationMix(
      File(
          2, [](int h) { return fmt::format("{},{},{},{}", 100 + h, -h, h == 30 ? "" : "7", h); },
          "datetime_utc,ci_direct,Hydro, nat_gas ,load"),
      "m.csv");
  ASSERT_TRUE(mix) << mix.error().message;
  EXPECT_THAT(mix->names, ElementsAre("Hydro", "nat_gas"));
  ASSERT_EQ(mix->Hours(), 48U);
  EXPECT_EQ(mix->columns[0][47], 0);  // what pumps take in is none
  EXPECT_EQ(mix->columns[1][30], 7);
}

TEST(ParseGenerationMixTest, OneKindIsNoMix) {
  const auto mix =
      ParseGenerationMix(File(2, [](int) { return "1,2"; }, "time,wind,ci_lifecycle"), "m.csv");
  ASSERT_FALSE(mix);
  EXPECT_EQ(mix.error().code, Code::kNotFound);
  EXPECT_THAT(mix.error().message, HasSubstr("m.csv: 1 columns"));
}

TEST(ParseGenerationMixTest, BadCellsNameFileLineAndColumn) {
  const auto mix = ParseGenerationMix(
      File(2, [](int h) { return h == 3 ? "1,much" : "1,2"; }, "time,wind,coal"), "m.csv");
  ASSERT_FALSE(mix);
  EXPECT_THAT(mix.error().message, HasSubstr("m.csv:5: column 'coal'"));
}

}  // namespace
}  // namespace lowtide
