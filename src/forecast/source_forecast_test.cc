#include "forecast/source_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "forecast/kept_forecast_source.h"
#include "grid/sources/constant_source.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;

const TimePoint kNow = *ParseTime("2026-11-30T12:30:00Z");
TimePoint H(int hours) { return std::chrono::floor<std::chrono::hours>(kNow) + hours * 1h; }

// Hourly values by a function of the hour; nothing: a gap.
class HourlySource final : public Source {
 public:
  using Values = std::function<std::optional<double>(TimePoint)>;

  const IntensityOrigin& Origin() const override { return origin; }
  Result<IntensitySeries> History(TimePoint from, TimePoint to, TimePoint now) const override {
    ++asked;
    if (!answers) return Fail(Code::kUnavailable, "is down");
    return Make(history, from, std::min(to, now + 1ms), IntensityKind::kMeasured);
  }
  Result<IntensityReading> Latest(TimePoint) const override {
    return Fail(Code::kNotFound, "nothing");
  }
  Result<IntensitySeries> Forecast(TimePoint from, TimePoint to, TimePoint) const override {
    ++asked;
    if (!forecast) return Fail(Code::kUnimplemented, "it gives no forecast");
    return Make(forecast, from, to, IntensityKind::kForecast);
  }
  Result<IntensitySeries> Kept(TimePoint from, TimePoint to, TimePoint) const override {
    return Make(kept, from, to, IntensityKind::kMeasured);
  }

  IntensityOrigin origin{"hourly", Zone{"DE"}, Signal::kAverage, Basis::kLifecycle,
                         IntensityKind::kMeasured};
  bool answers = true;
  Values history = [](TimePoint) { return std::nullopt; };
  Values forecast;  // none: it gives none
  Values kept = [](TimePoint) { return std::nullopt; };
  mutable int asked = 0;

 private:
  IntensitySeries Make(const Values& values, TimePoint from, TimePoint to,
                       IntensityKind kind) const {
    IntensitySeries out{origin, {}};
    out.origin.kind = kind;
    for (TimePoint t = std::chrono::floor<std::chrono::hours>(from); t < to; t += 1h) {
      if (const auto v = values(t)) out.slots.push_back({t, t + 1h, GramsPerKwh(*v)});
    }
    return out;
  }
};

HourlySource::Values Until(TimePoint end, double value) {
  return [=](TimePoint t) { return t < end ? std::optional(value) : std::nullopt; };
}

TEST(SourceForecast, WhatIsKnownCountsBeforeWhatIsForecast) {
  HourlySource source;
  source.history = Until(H(1), 300);
  source.forecast = [](TimePoint) { return 200.0; };
  const auto predicted = SourceForecast().Predict(source, kNow, H(3), kNow);
  ASSERT_TRUE(predicted);
  ASSERT_THAT(predicted->slots, SizeIs(3));
  EXPECT_EQ(predicted->slots[0].from, kNow);
  EXPECT_EQ(predicted->slots[0].to, H(1));
  EXPECT_EQ(predicted->slots[0].value, GramsPerKwh(300));
  EXPECT_EQ(predicted->slots[1].from, H(1));
  EXPECT_EQ(predicted->slots[1].value, GramsPerKwh(200));
  EXPECT_EQ(predicted->slots[2].to, H(3));
}

TEST(SourceForecast, AGapInWhatIsKnownIsForecast) {
  HourlySource source;
  source.history = [](TimePoint t) { return t == H(-1) ? std::nullopt : std::optional(300.0); };
  source.forecast = [](TimePoint) { return 200.0; };
  const auto predicted = SourceForecast().Predict(source, H(-2), H(1), kNow);
  ASSERT_TRUE(predicted);
  ASSERT_THAT(predicted->slots, SizeIs(3));
  EXPECT_EQ(predicted->slots[0].value, GramsPerKwh(300));
  EXPECT_EQ(predicted->slots[1].value, GramsPerKwh(200));
}

TEST(SourceForecast, WithoutAForecastYesterdayStandsIn) {
  HourlySource source;
  source.history = Until(H(0), 300);
  const auto predicted = SourceForecast().Predict(source, H(1), H(2), kNow);
  ASSERT_TRUE(predicted);
  EXPECT_THAT(predicted->origin.source, HasSubstr("day-persistence"));
  EXPECT_EQ(predicted->slots.front().value, GramsPerKwh(300));
}

TEST(SourceForecast, AYearlyAverageForecastsItself) {
  const ConstantSource source(
      {"yearly", Zone{"DE"}, Signal::kAverage, Basis::kLifecycle, IntensityKind::kYearlyAverage},
      GramsPerKwh(380));
  const auto predicted = SourceForecast().Predict(source, kNow, H(2), kNow);
  ASSERT_TRUE(predicted);
  EXPECT_EQ(predicted->origin.kind, IntensityKind::kYearlyAverage);
  EXPECT_EQ(predicted->slots.front().value, GramsPerKwh(380));
}

TEST(SourceForecast, WhenNothingIsKnownBothReasonsAreTold) {
  HourlySource source;
  source.answers = false;
  const auto predicted = SourceForecast().Predict(source, H(1), H(2), kNow);
  ASSERT_FALSE(predicted);
  EXPECT_THAT(predicted.error().message, HasSubstr("is down"));
}

TEST(KeptForecastSource, AsksNobodyAndUsesTheFirstThatHasEnough) {
  HourlySource empty;
  HourlySource full;
  full.kept = Until(H(0), 250);
  full.origin.source = "full";
  const KeptForecastSource source({&empty, &full});
  const auto forecast = source.Forecast(H(1), H(25), kNow);
  ASSERT_TRUE(forecast) << forecast.error().message;
  EXPECT_EQ(forecast->origin.kind, IntensityKind::kForecast);
  EXPECT_THAT(forecast->origin.source, HasSubstr("full"));
  ASSERT_FALSE(forecast->slots.empty());
  EXPECT_NEAR(forecast->slots.front().value.v, 250, 2);
  EXPECT_EQ(MeanOver(forecast->slots, H(1), H(25)).coverage, 1);
  EXPECT_EQ(empty.asked + full.asked, 0);
}

TEST(KeptForecastSource, AForecastIsMadeOnceAnHour) {
  HourlySource kept;
  int looks = 0;
  kept.kept = [&](TimePoint t) {
    ++looks;
    return t < H(0) ? std::optional(250.0) : std::nullopt;
  };
  const KeptForecastSource source({&kept});
  ASSERT_TRUE(source.Forecast(H(1), H(25), kNow));
  const int once = looks;
  ASSERT_TRUE(source.Forecast(H(2), H(30), kNow + 10min));
  ASSERT_TRUE(source.Latest(kNow + 15min));
  EXPECT_EQ(looks, once);
  ASSERT_TRUE(source.Forecast(H(2), H(30), kNow + 31min));
  EXPECT_GT(looks, once);
}

TEST(KeptForecastSource, WithoutAnythingKeptItSaysWhy) {
  HourlySource empty;
  const KeptForecastSource source({&empty});
  const auto forecast = source.Forecast(H(1), H(2), kNow);
  ASSERT_FALSE(forecast);
  EXPECT_EQ(forecast.error().code, Code::kUnavailable);
  EXPECT_THAT(forecast.error().message, HasSubstr("hourly"));
}

TEST(KeptForecastSource, WhatIsKeptOfTheFutureIsNotLookedAt) {
  HourlySource kept;
  kept.kept = [](TimePoint t) { return t <= H(0) ? 250.0 : 999.0; };
  const KeptForecastSource source({&kept});
  const auto forecast = source.Forecast(H(1), H(25), kNow);
  ASSERT_TRUE(forecast);
  for (const auto& slot : forecast->slots) EXPECT_LT(slot.value.v, 300);
}

}  // namespace
}  // namespace lowtide
