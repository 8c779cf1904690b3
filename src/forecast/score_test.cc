#include "forecast/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lowtide {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::Optional;

HourlySeries Outcomes(std::size_t count, double value) {
  return {TimePoint{}, std::vector<std::optional<double>>(count, value)};
}

TEST(ScoreTest, ErrorsByDayAndBand) {
  const HourlySeries series = Outcomes(48, 100);
  HourlyForecast forecast;
  forecast.mid.assign(48, 110);
  std::fill(forecast.mid.begin() + 24, forecast.mid.end(), 70);
  forecast.low.assign(48, 90);
  forecast.high.assign(48, 100);
  std::fill(forecast.high.begin(), forecast.high.begin() + 12, 99);
  const ForecastScore score = Score(series, {&forecast, 1});
  EXPECT_EQ(score.windows, 1U);
  EXPECT_EQ(score.hours, 48U);
  EXPECT_THAT(score.mape_pct_by_day, ElementsAre(Optional(DoubleEq(10)), Optional(DoubleEq(30))));
  EXPECT_THAT(score.mape_pct, Optional(DoubleEq(20)));
  EXPECT_THAT(score.mae, Optional(DoubleEq(20)));
  EXPECT_THAT(score.coverage_pct, Optional(DoubleEq(75)));
}

TEST(ScoreTest, GapsAreNoOutcomesAndZeroHasNoRelativeError) {
  HourlySeries series = Outcomes(24, 50);
  series.values[3] = std::nullopt;
  series.values[4] = 0;
  HourlyForecast forecast;
  forecast.mid.assign(24, 55);
  const ForecastScore score = Score(series, {&forecast, 1});
  EXPECT_EQ(score.hours, 23U);
  EXPECT_THAT(score.mape_pct, Optional(DoubleEq(10)));
  EXPECT_THAT(score.mae, Optional(DoubleEq((22 * 5 + 55) / 23.0)));
  EXPECT_EQ(score.coverage_pct, std::nullopt);
}

TEST(ScoreTest, WindowsPastTheEndAreLeftOut) {
  const HourlySeries series = Outcomes(30, 50);
  std::vector<HourlyForecast> forecasts(2);
  for (auto& forecast : forecasts) forecast.mid.assign(24, 50);
  forecasts[1].issue = 7;
  EXPECT_EQ(Score(series, forecasts).windows, 1U);
  EXPECT_EQ(Score(series, {}).mape_pct, std::nullopt);
}

TEST(AsHourlyForecast, BeginsWithTheFirstWholeHourAfterTheIssue) {
  const TimePoint start = *ParseTime("2026-05-04T00:00:00Z");
  const HourlySeries outcomes{start, {100.0, 110.0, 120.0, 130.0, std::nullopt}};
  IntensitySeries forecast;
  forecast.issued_at = start + std::chrono::minutes(20);
  for (int half = 0; half < 12; ++half) {
    const TimePoint from = start + half * std::chrono::minutes(30);
    if (half == 6) continue;  // half an hour is enough of an hour
    forecast.slots.push_back({from, from + std::chrono::minutes(30), GramsPerKwh(100.0 + half)});
  }
  const auto hourly = AsHourlyForecast(forecast, outcomes, 24);
  ASSERT_TRUE(hourly);
  EXPECT_EQ(hourly->issue, 1U);
  // Up to the end of the outcomes.
  EXPECT_EQ(hourly->mid, (std::vector<double>{102.5, 104.5, 107, 108.5}));
  EXPECT_EQ(AsHourlyForecast(forecast, outcomes, 2)->mid.size(), 2U);
  const auto score = Score(outcomes, std::vector{*hourly});
  EXPECT_EQ(score.hours, 3U);
  EXPECT_DOUBLE_EQ(*score.mae, (7.5 + 15.5 + 23) / 3);

  forecast.issued_at = start + std::chrono::hours(9);
  EXPECT_FALSE(AsHourlyForecast(forecast, outcomes, 24));
  forecast.issued_at.reset();
  EXPECT_FALSE(AsHourlyForecast(forecast, outcomes, 24));
}

}  // namespace
}  // namespace lowtide
