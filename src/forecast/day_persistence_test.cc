#include "forecast/day_persistence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "grid/sources/constant_source.h"
#include "grid/sources/no_source.h"
#include "grid/sources/trace_source.h"

namespace lowtide {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

TimePoint At(std::string_view text) { return *ParseTime(text); }
const TimePoint kDay0 = At("2022-07-01T00:00Z");

// Slots of length `step` from kDay0 on; `value` says what is in each, or nothing for a gap.
TraceSource Made(std::chrono::milliseconds step, int count,
                 const std::function<std::optional<double>(int)>& value) {
  IntensitySeries series;
  series.origin.source = "trace:made";
  for (int i = 0; i < count; ++i) {
    const TimePoint from = kDay0 + i * step;
    if (const auto v = value(i)) series.slots.push_back({from, from + step, GramsPerKwh(*v)});
  }
  return TraceSource(std::move(series));
}

double Wave(int hour) { return 300 + 100 * std::sin(hour * 0.2618); }

class ErcoTest : public ::testing::Test {
 protected:
  std::unique_ptr<TraceSource> source_ =
      *TraceSource::Open("data/traces/ERCO.csv:ci_lifecycle", Zone{"US-TEX-ERCO"});
  DayPersistence forecaster_;
};

TEST_F(ErcoTest, IsYesterdayCorrectedByTheLatestReadingAndFading) {
  const TimePoint now = At("2022-07-02T12:30Z");
  const auto forecast =
      forecaster_.Predict(*source_, At("2022-07-02T12:00Z"), At("2022-07-02T15:00Z"), now);
  ASSERT_TRUE(forecast) << forecast.error().message;
  ASSERT_EQ(forecast->slots.size(), 3U);
  const double ratio = 377.31 / 360.09;
  EXPECT_EQ(forecast->slots[0].value, GramsPerKwh(377.31));  // known
  EXPECT_EQ(forecast->slots[1].from, At("2022-07-02T13:00Z"));
  EXPECT_NEAR(forecast->slots[1].value.v, 366.03 * ratio, 1e-9);
  EXPECT_NEAR(forecast->slots[2].value.v, 354.40 * (1 + (ratio - 1) * std::exp(-1.0 / 12)), 1e-9);
  EXPECT_EQ(forecast->origin.source,
            "day-persistence of trace:ERCO.csv:ci_lifecycle (known values; yesterday x 1.048 by "
            "the reading of 2022-07-02T12:00:00Z)");
  EXPECT_EQ(forecast->origin.kind, IntensityKind::kForecast);
  EXPECT_EQ(forecast->origin.basis, Basis::kLifecycle);
  EXPECT_EQ(forecast->origin.zone.key, "US-TEX-ERCO");
}

TEST_F(ErcoTest, IsClippedToTheIntervalAndCoversIt) {
  const TimePoint now = At("2022-07-02T12:00Z");
  const TimePoint from = now + 17min;
  const auto forecast = forecaster_.Predict(*source_, from, from + 100h, now);
  ASSERT_TRUE(forecast);
  EXPECT_TRUE(IsWellFormed(forecast->slots));
  EXPECT_EQ(forecast->slots.front().from, from);
  EXPECT_EQ(forecast->slots.back().to, from + 100h);
  EXPECT_DOUBLE_EQ(MeanOver(forecast->slots, from, from + 100h).coverage, 1);
}

TEST_F(ErcoTest, BeyondADayTheYoungestKnownDayIsTaken) {
  const TimePoint now = At("2022-07-02T12:00Z");
  // 50 hours on is 14:00 of July 4th; the youngest known 14:00 is that of July 1st.
  const auto forecast = forecaster_.Predict(*source_, now + 50h, now + 51h, now);
  const double ratio = 377.31 / 360.09;
  ASSERT_EQ(forecast->slots.size(), 1U);
  EXPECT_NEAR(forecast->slots[0].value.v, 354.40 * (1 + (ratio - 1) * std::exp(-49.0 / 12)), 1e-9);
}

TEST_F(ErcoTest, MeanOfTheComingEpochIsWeightedByTime) {
  const TimePoint now = At("2022-07-02T12:45Z");
  const auto expected = MeanForecast(forecaster_, *source_, now, now + 30min, now);
  ASSERT_TRUE(expected);
  ASSERT_TRUE(expected->value);
  EXPECT_NEAR(expected->value->v, (377.31 + 366.03 * 377.31 / 360.09) / 2, 1e-9);
  EXPECT_DOUBLE_EQ(expected->coverage, 1);
  const auto instant = MeanForecast(forecaster_, *source_, now, now, now);
  EXPECT_EQ(instant->value, GramsPerKwh(377.31));
}

TEST_F(ErcoTest, ChangingTheFutureDoesNotChangeTheForecast) {
  const TimePoint now = At("2022-07-02T12:30Z");
  IntensitySeries other = source_->Recorded();
  std::size_t changed = 0;
  for (auto& slot : other.slots) {
    if (slot.from > now) {
      slot.value = GramsPerKwh(1);
      ++changed;
    }
  }
  ASSERT_GT(changed, 1000U);
  const TraceSource altered(other);
  std::erase_if(other.slots, [&](const auto& slot) { return slot.from > now; });
  const TraceSource cut(other);
  const auto expected = forecaster_.Predict(*source_, now - 5h, now + 90h, now);
  for (const TraceSource* source : std::initializer_list<const TraceSource*>{&altered, &cut}) {
    const auto forecast = forecaster_.Predict(*source, now - 5h, now + 90h, now);
    ASSERT_TRUE(forecast);
    ASSERT_EQ(forecast->slots.size(), expected->slots.size());
    for (std::size_t i = 0; i < forecast->slots.size(); ++i) {
      EXPECT_EQ(forecast->slots[i].from, expected->slots[i].from);
      EXPECT_EQ(forecast->slots[i].value, expected->slots[i].value);
    }
  }
}

// The figures in the header: mean absolute error, in % of the value, of the 24 hours after each
// third hour.
TEST(DayPersistenceAccuracyTest, IsWhatItsHeaderSays) {
  const std::pair<const char*, double> zones[] = {{"CISO", 10.3}, {"PJM", 3.7}, {"ERCO", 15.9}};
  for (const auto& [zone, published] : zones) {
    const auto source =
        TraceSource::Open("data/traces/" + std::string(zone) + ".csv:ci_lifecycle", Zone{});
    ASSERT_TRUE(source);
    const auto& actual = (*source)->Recorded().slots;
    double error = 0;
    int count = 0;
    for (std::size_t i = 48; i + 30 < actual.size(); i += 3) {
      const auto forecast =
          DayPersistence().Predict(**source, actual[i + 1].from, actual[i + 24].to, actual[i].from);
      ASSERT_TRUE(forecast);
      ASSERT_EQ(forecast->slots.size(), 24U);
      for (std::size_t h = 0; h < 24; ++h) {
        const double truth = actual[i + 1 + h].value.v;
        error += std::abs(forecast->slots[h].value.v - truth) / truth;
        ++count;
      }
    }
    EXPECT_NEAR(100 * error / count, published, 0.06) << zone;
  }
}

TEST(DayPersistenceTest, TheCorrectionIsClamped) {
  for (const auto& [latest, expected] : {std::pair(5000.0, 2.0), std::pair(1.0, 0.5)}) {
    const double value = latest;
    const auto source = Made(1h, 25, [&](int i) { return i == 24 ? value : 100.0 + i; });
    const auto forecast = DayPersistence().Predict(source, kDay0 + 25h, kDay0 + 26h, kDay0 + 24h);
    ASSERT_TRUE(forecast);
    EXPECT_NEAR(forecast->slots[0].value.v, 101 * expected, 1e-9);
  }
}

TEST(DayPersistenceTest, WithoutAYesterdayTheLatestReadingHolds) {
  const auto source = Made(1h, 3, [](int i) { return 100.0 + i; });
  const auto forecast = DayPersistence().Predict(source, kDay0 + 3h, kDay0 + 30h, kDay0 + 150min);
  ASSERT_TRUE(forecast);
  ASSERT_FALSE(forecast->slots.empty());
  EXPECT_EQ(forecast->slots.front().from, kDay0 + 3h);
  EXPECT_EQ(forecast->slots[0].value, GramsPerKwh(102));
  EXPECT_DOUBLE_EQ(MeanOver(forecast->slots, kDay0 + 3h, kDay0 + 30h).coverage, 1);
  EXPECT_THAT(forecast->origin.source,
              HasSubstr("the reading of 2022-07-01T02:00:00Z where yesterday is missing"));
}

TEST(DayPersistenceTest, AGapInYesterdayIsFilledFromTheReadingOnlyThere) {
  const auto source = Made(1h, 25, [](int i) -> std::optional<double> {
    if (i == 2) return std::nullopt;
    return 100;
  });
  const auto forecast = DayPersistence().Predict(source, kDay0 + 25h, kDay0 + 28h, kDay0 + 24h);
  ASSERT_EQ(forecast->slots.size(), 3U);
  EXPECT_EQ(forecast->slots[1].from, kDay0 + 26h);
  EXPECT_EQ(forecast->slots[1].to, kDay0 + 27h);
  EXPECT_THAT(forecast->origin.source,
              AllOf(HasSubstr("yesterday x 1.000"), HasSubstr("where yesterday is missing")));
}

TEST(DayPersistenceTest, WithoutARecentReadingYesterdayIsUncorrectedAndGapsStay) {
  // Known: hours 0 to 9 of the first day; now is hour 24 (nothing since).
  const auto source = Made(1h, 10, Wave);
  const auto forecast = DayPersistence().Predict(source, kDay0 + 24h, kDay0 + 48h, kDay0 + 24h);
  ASSERT_TRUE(forecast);
  ASSERT_EQ(forecast->slots.size(), 10U);
  EXPECT_DOUBLE_EQ(forecast->slots[3].value.v, Wave(3));
  EXPECT_THAT(forecast->origin.source, HasSubstr("yesterday, uncorrected"));
  const auto expected =
      MeanForecast(DayPersistence(), source, kDay0 + 33h, kDay0 + 35h, kDay0 + 24h);
  EXPECT_DOUBLE_EQ(expected->coverage, 0.5);
  const auto gap = DayPersistence().Predict(source, kDay0 + 35h, kDay0 + 36h, kDay0 + 24h);
  ASSERT_FALSE(gap);
  EXPECT_EQ(gap.error().code, Code::kUnavailable);
}

TEST(DayPersistenceTest, AReadingThatIsHoursOldStillCorrects) {
  // The value of hour 27 is the last known at 29:30.
  const auto source = Made(1h, 28, [](int i) { return i < 24 ? 100.0 : 150.0; });
  const auto forecast =
      DayPersistence().Predict(source, kDay0 + 28h, kDay0 + 31h, kDay0 + 29h + 30min);
  ASSERT_EQ(forecast->slots.size(), 3U);
  EXPECT_NEAR(forecast->slots[0].value.v, 150, 1e-9);
}

TEST(DayPersistenceTest, AYesterdayOfZeroGivesNoCorrection) {
  const auto source = Made(1h, 25, [](int i) { return i == 0 ? 0.0 : 100.0; });
  const auto forecast = DayPersistence().Predict(source, kDay0 + 25h, kDay0 + 26h, kDay0 + 24h);
  EXPECT_EQ(forecast->slots[0].value, GramsPerKwh(100));
  EXPECT_THAT(forecast->origin.source, HasSubstr("uncorrected"));
}

TEST(DayPersistenceTest, AFrozenGridForecastsItself) {
  const auto source = Made(1h, 60, [](int) { return 24.0; });
  const auto forecast = DayPersistence().Predict(source, kDay0 + 60h, kDay0 + 100h, kDay0 + 59h);
  for (const auto& slot : forecast->slots) EXPECT_DOUBLE_EQ(slot.value.v, 24);
}

TEST(DayPersistenceTest, WorksForAnySlotLength) {
  for (const auto step : {5min, 15min, 30min, 60min, 180min, 1440min, 2880min}) {
    const int per_4_days = static_cast<int>(4 * 24h / step);
    const auto source = Made(step, per_4_days, [&](int i) {
      return Wave(static_cast<int>(i * step / 1h));  // repeats daily to within a percent
    });
    const TimePoint now = kDay0 + 4 * 24h - 1min;
    const TimePoint from = kDay0 + 4 * 24h;
    const auto forecast = DayPersistence().Predict(source, from, from + 24h, now);
    ASSERT_TRUE(forecast) << forecast.error().message;
    EXPECT_TRUE(IsWellFormed(forecast->slots));
    EXPECT_DOUBLE_EQ(MeanOver(forecast->slots, from, from + 24h).coverage, 1) << step.count();
    if (step <= 60min) {
      EXPECT_EQ(forecast->slots.size(), static_cast<std::size_t>(24h / step));
      for (const auto& slot : forecast->slots) {
        const int hour = static_cast<int>((slot.from - kDay0) / 1h);
        EXPECT_NEAR(slot.value.v, Wave(hour), 3);
      }
    }
  }
}

TEST(DayPersistenceTest, ConstantsAndYearlyAveragesForecastThemselves) {
  for (const auto kind : {IntensityKind::kConstant, IntensityKind::kYearlyAverage}) {
    IntensityOrigin origin;
    origin.source = "constant:400";
    origin.kind = kind;
    const ConstantSource source(origin, GramsPerKwh(400));
    const auto forecast = DayPersistence().Predict(source, kDay0, kDay0 + 100h, kDay0);
    ASSERT_TRUE(forecast);
    EXPECT_EQ(forecast->origin.kind, kind);
    EXPECT_EQ(forecast->origin.source, "constant:400");
    EXPECT_EQ(MeanOver(forecast->slots, kDay0, kDay0 + 100h).value, GramsPerKwh(400));
  }
}

TEST(DayPersistenceTest, SaysWhyThereIsNoForecast) {
  const NoSource none(Zone{}, "nothing given");
  const auto forecast = DayPersistence().Predict(none, kDay0, kDay0 + 1h, kDay0);
  ASSERT_FALSE(forecast);
  EXPECT_EQ(forecast.error().code, Code::kUnavailable);
  EXPECT_THAT(forecast.error().message, HasSubstr("nothing given"));
}

TEST(DayPersistenceTest, RefusesEmptyAndEndlessIntervals) {
  const auto source = Made(1h, 25, Wave);
  EXPECT_EQ(DayPersistence().Predict(source, kDay0, kDay0, kDay0).error().code,
            Code::kInvalidArgument);
  EXPECT_EQ(DayPersistence().Predict(source, kDay0, kDay0 + 24h * 400, kDay0).error().code,
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace lowtide
