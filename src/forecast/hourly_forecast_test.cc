#include "forecast/hourly_forecast.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "base/file.h"
#include "forecast/score.h"
#include "grid/trace.h"

namespace lowtide {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

TimePoint At(std::string_view text) { return *ParseTime(text); }
const TimePoint kStart = At("2022-01-01T00:00Z");

// A day's wave on a level that wanders, with noise.
HourlySeries Wandering(std::size_t days, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 1);
  HourlySeries series{kStart, {}};
  double level = 0;
  for (std::size_t h = 0; h < 24 * days; ++h) {
    level = 0.98 * level + 0.03 * noise(random);
    const double day = 0.2 * std::sin(2 * M_PI * static_cast<double>(h) / 24);
    series.values.emplace_back(std::exp(5.5 + level + day + 0.02 * noise(random)));
  }
  return series;
}

Weather WeatherOf(std::size_t hours, unsigned seed = 2) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 1);
  Weather weather{{kStart, {"wind", "temperature"}, {{}, {}}}};
  double wind = 0;
  for (std::size_t h = 0; h < hours; ++h) {
    wind = 0.95 * wind + 0.5 * noise(random);
    weather.columns[0].push_back(5 + wind);
    weather.columns[1].push_back(285 + 5 * std::sin(static_cast<double>(h) / 1000));
  }
  return weather;
}

// Three kinds of stations: nights and days, and a coal share that says where the level goes.
GenerationMix MixOf(std::size_t hours, unsigned seed = 4) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 1);
  GenerationMix mix{{kStart, {"coal", "solar", "wind"}, {{}, {}, {}}}};
  double wind = 0;
  for (std::size_t h = 0; h < hours; ++h) {
    wind = 0.95 * wind + 0.3 * noise(random);
    mix.columns[0].push_back(1000 + 50 * noise(random));
    mix.columns[1].push_back(
        std::max(0.0, 800 * std::sin(2 * M_PI * static_cast<double>(h % 24) / 24)));
    mix.columns[2].push_back(500 * std::exp(wind));
  }
  return mix;
}

HourlyRequest RequestFor(const HourlySeries& series, ForecastMethod method, std::size_t train_until,
                         std::size_t issues, std::size_t every = 24) {
  HourlyRequest request;
  request.intensity = &series;
  request.method = method;
  request.train_until = train_until;
  request.horizon = 30;
  for (std::size_t k = 0; k < issues; ++k) request.issues.push_back(train_until + k * every);
  return request;
}

class EachMethodTest : public ::testing::TestWithParam<ForecastMethod> {};

TEST_P(EachMethodTest, TheFutureChangesNothing) {
  constexpr std::size_t kUntil = std::size_t{280} * 24 + 7;
  const HourlySeries series = Wandering(300);
  const Weather weather = WeatherOf(310 * 24);
  const GenerationMix mix = MixOf(300 * 24);
  HourlyRequest request = RequestFor(series, GetParam(), kUntil, 9);
  request.weather = &weather;
  request.mix = &mix;
  const auto before = ForecastHours(request);
  ASSERT_TRUE(before) << before.error().message;
  for (const std::size_t looked_at : {std::size_t{0}, std::size_t{4}, std::size_t{8}}) {
    HourlySeries changed = series;
    for (std::size_t h = request.issues[looked_at]; h < changed.values.size(); ++h) {
      changed.values[h] = h % 5 == 0 ? std::nullopt : std::optional(*changed.values[h] * 3 + 40);
    }
    GenerationMix other = mix;
    for (auto& column : other.columns) {
      for (std::size_t h = request.issues[looked_at]; h < column.size(); ++h) {
        column[h] = static_cast<double>(h % 7) * 1e4;
      }
    }
    request.intensity = &changed;
    request.mix = &other;
    const auto after = ForecastHours(request);
    ASSERT_TRUE(after);
    for (std::size_t k = 0; k <= looked_at; ++k) {
      EXPECT_EQ((*before)[k].mid, (*after)[k].mid) << k;
      EXPECT_EQ((*before)[k].low, (*after)[k].low) << k;
      EXPECT_EQ((*before)[k].high, (*after)[k].high) << k;
    }
    if (looked_at == 4 && GetParam() != ForecastMethod::kWeekly) {
      EXPECT_NE((*before)[8].mid, (*after)[8].mid);
    }
    // Nor does a series that ends at the issue.
    changed.values.resize(request.issues[looked_at]);
    for (auto& column : other.columns) column.resize(request.issues[looked_at]);
    HourlyRequest shorter = request;
    shorter.issues.resize(looked_at + 1);
    const auto cut = ForecastHours(shorter);
    ASSERT_TRUE(cut) << cut.error().message;
    for (std::size_t h = 0; h < request.horizon; ++h) {
      EXPECT_NEAR(cut->back().mid[h], (*before)[looked_at].mid[h],
                  1e-4 * (*before)[looked_at].mid[h]);
    }
  }
}

TEST_P(EachMethodTest, ConstantSeriesIsItsOwnForecast) {
  const HourlySeries series{kStart, std::vector<std::optional<double>>(140 * 24, 320.0)};
  const auto forecasts = ForecastHours(RequestFor(series, GetParam(), 130 * 24, 3));
  ASSERT_TRUE(forecasts) << forecasts.error().message;
  for (const auto& forecast : *forecasts) {
    EXPECT_THAT(forecast.mid, Each(::testing::DoubleNear(320, 1e-3)));
    if (!forecast.low.empty()) {
      EXPECT_THAT(forecast.low, Each(::testing::DoubleNear(320, 0.1)));
    }
  }
}

TEST_P(EachMethodTest, ZeroAndNegativeCountAsOne) {
  HourlySeries series{kStart, std::vector<std::optional<double>>(130 * 24, 0.0)};
  for (std::size_t h = 0; h < series.values.size(); h += 3) series.values[h] = -4.0;
  const auto forecasts = ForecastHours(RequestFor(series, GetParam(), 130 * 24, 1));
  ASSERT_TRUE(forecasts) << forecasts.error().message;
  EXPECT_THAT(forecasts->front().mid, Each(::testing::DoubleNear(1, 1e-6)));
}

TEST_P(EachMethodTest, GapsAreBridged) {
  HourlySeries series = Wandering(150);
  std::mt19937 random(3);
  for (std::size_t h = 0; h < series.values.size(); ++h) {
    if (random() % 5 == 0 || (h > 2000 && h < 2100)) series.values[h] = std::nullopt;
  }
  const auto forecasts = ForecastHours(RequestFor(series, GetParam(), 140 * 24, 8));
  ASSERT_TRUE(forecasts) << forecasts.error().message;
  for (const auto& forecast : *forecasts) {
    EXPECT_THAT(forecast.mid, Each(AllOf(Ge(100.0), Le(700.0))));
    ASSERT_EQ(forecast.low.size(), forecast.mid.size());
    for (std::size_t h = 0; h < forecast.mid.size(); ++h) {
      EXPECT_LE(forecast.low[h], forecast.mid[h]);
      EXPECT_GE(forecast.high[h], forecast.mid[h]);
    }
  }
}

TEST_P(EachMethodTest, ShortHistoryIsRefusedWithWhatIsNeeded) {
  const HourlySeries series = Wandering(160);
  const std::size_t needed = HoursNeeded(GetParam(), 30);
  EXPECT_TRUE(ForecastHours(RequestFor(series, GetParam(), needed, 1)));
  const auto refused = ForecastHours(RequestFor(series, GetParam(), needed - 1, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr(std::string(MethodName(GetParam()))),
                    HasSubstr(fmt::format("needs {:.1f} days", static_cast<double>(needed) / 24))));
  // Hours before the first known one are no history.
  HourlySeries late = series;
  std::fill_n(late.values.begin(), 24, std::nullopt);
  EXPECT_FALSE(ForecastHours(RequestFor(late, GetParam(), needed + 23, 1)));
  EXPECT_TRUE(ForecastHours(RequestFor(late, GetParam(), needed + 24, 1)));
}

std::string NameOf(const ::testing::TestParamInfo<ForecastMethod>& info) {
  return std::string(MethodName(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, EachMethodTest,
                         ::testing::Values(ForecastMethod::kPersistence, ForecastMethod::kWeekly,
                                           ForecastMethod::kRidge, ForecastMethod::kBlend),
                         NameOf);

TEST(HourlyForecastTest, PersistenceAndWeeklyRepeatTheYoungestKnown) {
  HourlySeries series{kStart, {}};
  for (int h = 0; h < 24 * 20; ++h) series.values.emplace_back(h + 1);
  HourlyRequest request = RequestFor(series, ForecastMethod::kPersistence, 300, 1);
  request.horizon = 200;
  const auto daily = ForecastHours(request);
  ASSERT_TRUE(daily);
  EXPECT_NEAR(daily->front().mid[0], 277, 1e-9);
  EXPECT_NEAR(daily->front().mid[23], 300, 1e-9);
  EXPECT_NEAR(daily->front().mid[24], 277, 1e-9);
  request.method = ForecastMethod::kWeekly;
  const auto weekly = ForecastHours(request);
  ASSERT_TRUE(weekly);
  EXPECT_NEAR(weekly->front().mid[0], 133, 1e-9);
  EXPECT_NEAR(weekly->front().mid[168], 133, 1e-9);
  EXPECT_TRUE(weekly->front().low.empty());
}

TEST(HourlyForecastTest, IssuesOfSeveralHoursOfTheDayAreThoseOfEachAlone) {
  const HourlySeries series = Wandering(140);
  const std::size_t until = std::size_t{130} * 24;
  const auto mixed = ForecastHours(RequestFor(series, ForecastMethod::kBlend, until, 8, 6));
  ASSERT_TRUE(mixed);
  ASSERT_EQ(mixed->size(), 8U);
  HourlyRequest alone = RequestFor(series, ForecastMethod::kBlend, until, 0);
  alone.issues = {until + 6, until + 30};
  const auto second = ForecastHours(alone);
  ASSERT_TRUE(second);
  EXPECT_EQ((*mixed)[1].issue, until + 6);
  EXPECT_EQ((*mixed)[1].mid, (*second)[0].mid);
  EXPECT_EQ((*mixed)[5].mid, (*second)[1].mid);
}

TEST(HourlyForecastTest, BadRequests) {
  const HourlySeries series = Wandering(140);
  HourlyRequest request = RequestFor(series, ForecastMethod::kBlend, 130 * 24, 2);
  for (const std::size_t horizon : {std::size_t{0}, kMaxHorizon + 1}) {
    request.horizon = horizon;
    EXPECT_EQ(ForecastHours(request).error().code, Code::kInvalidArgument);
  }
  request.horizon = 24;
  std::swap(request.issues[0], request.issues[1]);
  EXPECT_EQ(ForecastHours(request).error().code, Code::kInvalidArgument);
  request.issues = {series.values.size() + 1};
  EXPECT_EQ(ForecastHours(request).error().code, Code::kInvalidArgument);
  const Weather weather = WeatherOf(131 * 24);
  request.weather = &weather;
  request.issues = {130 * 24};
  EXPECT_TRUE(ForecastHours(request));
  request.horizon = 25;
  EXPECT_THAT(ForecastHours(request).error().message, HasSubstr("the weather covers"));
}

// The intensity of the mix itself: where the wind is known, so is what coal is left with.
TEST(HourlyForecastTest, LearnsFromTheMix) {
  constexpr std::size_t kDays = 330;
  const GenerationMix mix = MixOf(kDays * 24);
  HourlySeries series{kStart, {}};
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0, 1);
  for (std::size_t h = 0; h < kDays * 24; ++h) {
    // What the wind was, 12 hours before; and what hides it.
    const std::size_t past = h < 12 ? 0 : h - 12;
    series.values.emplace_back(
        300 * std::exp(-0.2 * std::log(mix.columns[2][past] / 500) + 0.1 * noise(random)));
  }
  HourlyRequest request = RequestFor(series, ForecastMethod::kBlend, 280 * 24, 45);
  request.horizon = 12;
  const auto without = ForecastHours(request);
  request.mix = &mix;
  const auto with = ForecastHours(request);
  ASSERT_TRUE(without && with);
  EXPECT_LT(*Score(series, *with).mape_pct, 0.9 * *Score(series, *without).mape_pct);
  // The ridge is the reference's, which knows of none.
  request.method = ForecastMethod::kRidge;
  const auto ridge = ForecastHours(request);
  request.mix = nullptr;
  ASSERT_TRUE(ridge);
  EXPECT_EQ(ridge->front().mid, ForecastHours(request)->front().mid);
}

TEST(HourlyForecastTest, OddMixes) {
  const HourlySeries series = Wandering(290);
  HourlyRequest request = RequestFor(series, ForecastMethod::kBlend, 280 * 24, 3);
  GenerationMix mix = MixOf(283 * 24);
  request.mix = &mix;
  EXPECT_TRUE(ForecastHours(request));
  // Nothing fed in for days, and a kind that feeds in by the million.
  for (auto& column : mix.columns) std::fill_n(column.begin() + 270 * 24, 240, 0.0);
  mix.columns[0][280 * 24 - 1] = 1e9;
  const auto odd = ForecastHours(request);
  ASSERT_TRUE(odd) << odd.error().message;
  EXPECT_THAT(odd->front().mid, Each(AllOf(Ge(50.0), Le(1500.0))));
  // One that ends an hour too early, and one that begins too late.
  for (auto& column : mix.columns) column.resize(282 * 24 - 1);
  EXPECT_THAT(ForecastHours(request).error().message, HasSubstr("the generation mix covers"));
  mix = MixOf(290 * 24);
  mix.start += std::chrono::hours(1);
  EXPECT_EQ(ForecastHours(request).error().code, Code::kUnavailable);
}

TEST(HourlyForecastTest, AShortHistoryIsNotLearnedFromWithTheMix) {
  const HourlySeries series = Wandering(275);
  const GenerationMix mix = MixOf(275 * 24);
  for (const std::size_t until : {kFewestMixHours - 1, kFewestMixHours}) {
    HourlyRequest request = RequestFor(series, ForecastMethod::kBlend, until, 1);
    const auto without = ForecastHours(request);
    request.mix = &mix;
    const auto with = ForecastHours(request);
    ASSERT_TRUE(without && with);
    EXPECT_EQ(UsesMix(request), until == kFewestMixHours);
    EXPECT_EQ(with->front().mid != without->front().mid, UsesMix(request));
  }
}

// The bands hold 80 % whatever the errors look like.
TEST(HourlyForecastTest, BandHoldsFourOfFive) {
  const HourlySeries series = Wandering(500, 7);
  const auto forecasts = ForecastHours(RequestFor(series, ForecastMethod::kBlend, 300 * 24, 198));
  ASSERT_TRUE(forecasts);
  const ForecastScore score = Score(series, *forecasts);
  EXPECT_EQ(score.windows, 198U);
  EXPECT_NEAR(*score.coverage_pct, 80, 5);
}

struct Golden {
  const char* region;
  double without[5];  // MAPE in percent of days 1 to 4, and mean
  double with[5];
};

// The published re-run of the reference's ridge; see docs/reference/forecasts.md.
class GoldenTest : public ::testing::TestWithParam<Golden> {};

void ExpectMape(const ForecastScore& score, const double (&expected)[5]) {
  ASSERT_EQ(score.windows, 181U);
  for (std::size_t day = 0; day < 4; ++day) {
    EXPECT_NEAR(*score.mape_pct_by_day[day], expected[day], 0.02) << "day " << day + 1;
  }
  EXPECT_NEAR(*score.mape_pct, expected[4], 0.02);
}

TEST_P(GoldenTest, RidgeIsTheReference) {
  const char* data = std::getenv("LOWTIDE_TEST_DATA");
  if (data == nullptr) {
    GTEST_SKIP() << "LOWTIDE_TEST_DATA is not set; the grids' data may not be redistributed";
  }
  const std::string file = fmt::format("{}/traces/generation-mix/{}", data, GetParam().region);
  const auto text = ReadFile(file + ".csv");
  if (!text) GTEST_SKIP() << text.error().message;
  const auto trace = ParseTrace(*text, "trace.csv", "ci_direct", {});
  ASSERT_TRUE(trace) << trace.error().message;
  const auto series = ToHourly(trace->slots, trace->slots.front().from, trace->slots.back().to);
  const auto weather = ParseWeather(*ReadFile(file + "_weather.csv"), "weather.csv");
  ASSERT_TRUE(weather) << weather.error().message;

  const auto first =
      static_cast<std::size_t>((At("2021-07-01T00:00Z") - series->start) / std::chrono::hours(1));
  HourlyRequest request = RequestFor(*series, ForecastMethod::kRidge, first, 181);
  request.horizon = 96;
  const auto without = ForecastHours(request);
  ASSERT_TRUE(without) << without.error().message;
  ExpectMape(Score(*series, *without), GetParam().without);
  request.weather = &*weather;
  const auto with = ForecastHours(request);
  ASSERT_TRUE(with) << with.error().message;
  ExpectMape(Score(*series, *with), GetParam().with);

  // Lowtide's own is better with the same weather, and better still with the mix.
  request.method = ForecastMethod::kBlend;
  const auto blend = ForecastHours(request);
  const auto mix = ParseGenerationMix(*text, "mix.csv");
  ASSERT_TRUE(blend && mix);
  request.mix = &*mix;
  const auto mixed = ForecastHours(request);
  ASSERT_TRUE(mixed) << mixed.error().message;
  EXPECT_LT(*Score(*series, *blend).mape_pct, 0.95 * GetParam().with[4]);
  EXPECT_LT(*Score(*series, *mixed).mape_pct, *Score(*series, *blend).mape_pct);
}

INSTANTIATE_TEST_SUITE_P(
    Regions, GoldenTest,
    ::testing::Values(
        Golden{"CISO", {9.49, 12.47, 13.78, 14.37, 12.53}, {9.01, 11.02, 11.90, 12.63, 11.14}},
        Golden{"PJM", {3.29, 4.77, 5.24, 5.39, 4.67}, {3.39, 4.70, 5.18, 5.34, 4.65}}),
    [](const auto& golden) { return golden.param.region; });

}  // namespace
}  // namespace lowtide
