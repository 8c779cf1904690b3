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

}  // namespace
}  // namespace lowtide
