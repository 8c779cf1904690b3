#include "forecast/learned_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "grid/sources/constant_source.h"
#include "grid/sources/trace_source.h"

namespace lowtide {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

TimePoint At(std::string_view text) { return *ParseTime(text); }

class LearnedForecastTest : public ::testing::Test {
 protected:
  std::unique_ptr<TraceSource> source_ =
      *TraceSource::Open("data/traces/ERCO.csv:ci_lifecycle", Zone{"US-TEX-ERCO"});
  LearnedForecast forecaster_;
  TimePoint now_ = At("2022-07-02T12:30Z");
};

TEST_F(LearnedForecastTest, KnownThenHourlySlotsInTheirBand) {
  const TimePoint to = now_ + 48h;
  const auto forecast = forecaster_.PredictBand(*source_, now_ - 1h, to, now_);
  ASSERT_TRUE(forecast) << forecast.error().message;
  const auto& slots = forecast->middle.slots;
  ASSERT_TRUE(IsWellFormed(slots));
  EXPECT_EQ(slots.front().from, now_ - 1h);
  EXPECT_EQ(slots.back().to, to);
  EXPECT_NEAR(MeanOver(slots, now_ - 1h, to).coverage, 1, 1e-12);
  EXPECT_EQ(SlotAt(slots, now_)->value, SlotAt(source_->Recorded().slots, now_)->value);
  EXPECT_EQ(forecast->p10.front().from, At("2022-07-02T13:00Z"));
  ASSERT_EQ(forecast->p10.size(), forecast->p90.size());
  for (std::size_t k = 0; k < forecast->p10.size(); ++k) {
    const auto* middle = SlotAt(slots, forecast->p10[k].from);
    ASSERT_NE(middle, nullptr);
    EXPECT_LT(forecast->p10[k].value, middle->value);
    EXPECT_GT(forecast->p90[k].value, middle->value);
  }
  EXPECT_THAT(forecast->middle.origin.source,
              AllOf(HasSubstr("blend of trace:ERCO.csv:ci_lifecycle"),
                    HasSubstr("244 days of history until 2022-07-02T13:00:00Z")));
  EXPECT_EQ(forecast->middle.origin.kind, IntensityKind::kForecast);
  EXPECT_EQ(forecast->middle.origin.basis, Basis::kLifecycle);
}

TEST_F(LearnedForecastTest, IsCloserThanDayPersistence) {
  double learned = 0;
  double persistent = 0;
  for (int k = 0; k < 20; ++k) {
    const TimePoint now = At("2022-07-01T00:00Z") + k * 214h;
    const auto a = forecaster_.Predict(*source_, now, now + 48h, now);
    const auto b = DayPersistence().Predict(*source_, now, now + 48h, now);
    ASSERT_TRUE(a && b);
    for (TimePoint t = now; t < now + 48h; t += 1h) {
      const double outcome = SlotAt(source_->Recorded().slots, t)->value.v;
      learned += std::abs(SlotAt(a->slots, t)->value.v / outcome - 1);
      persistent += std::abs(SlotAt(b->slots, t)->value.v / outcome - 1);
    }
  }
  EXPECT_LT(learned, 0.95 * persistent);
}

TEST_F(LearnedForecastTest, ShortHistoryFallsBackAndSaysWhy) {
  const TimePoint now = At("2022-01-01T00:30Z");
  const auto forecast = forecaster_.PredictBand(*source_, now, now + 96h, now);
  ASSERT_TRUE(forecast) << forecast.error().message;
  EXPECT_TRUE(forecast->p10.empty());
  EXPECT_THAT(forecast->middle.origin.source, AllOf(HasSubstr("day-persistence of"),
                                                    HasSubstr("not blend: blend needs 93.0 days of "
                                                              "history"),
                                                    HasSubstr("there are 61.0")));
}

TEST_F(LearnedForecastTest, FarStaleAndEmpty) {
  const auto far = forecaster_.Predict(*source_, now_, now_ + 24h * 20, now_);
  ASSERT_TRUE(far) << far.error().message;
  EXPECT_THAT(far->origin.source, HasSubstr("not blend: it reaches 13 days ahead"));

  const TimePoint late = source_->Recorded().slots.back().to + 36h;
  const auto stale = forecaster_.Predict(*source_, late, late + 24h, late);
  EXPECT_EQ(stale.error().code, Code::kUnavailable);

  const TimePoint early = source_->Recorded().slots.front().from - 24h;
  EXPECT_EQ(forecaster_.Predict(*source_, early, early + 1h, early).error().code,
            Code::kUnavailable);
}

TEST_F(LearnedForecastTest, ReadingsThatLagAreBridged) {
  IntensitySeries cut = source_->Recorded();
  std::erase_if(cut.slots, [&](const auto& slot) { return slot.to > now_ - 5h; });
  const TraceSource lagging(std::move(cut));
  const auto forecast = forecaster_.PredictBand(lagging, now_, now_ + 6h, now_);
  ASSERT_TRUE(forecast) << forecast.error().message;
  EXPECT_THAT(forecast->middle.origin.source, HasSubstr("until 2022-07-02T07:00:00Z"));
  EXPECT_EQ(forecast->middle.slots.front().from, now_);
  EXPECT_EQ(forecast->middle.slots.back().to, now_ + 6h);
}

TEST_F(LearnedForecastTest, WeatherThatDoesNotReachIsLeftOutAndSaidSo) {
  Weather weather{{At("2021-11-01T00:00Z"), {"wind"}, {std::vector<double>(24 * 200, 1.0)}}};
  const LearnedForecast with(weather);
  const auto forecast = with.Predict(*source_, now_, now_ + 24h, now_);
  ASSERT_TRUE(forecast) << forecast.error().message;
  EXPECT_THAT(forecast->origin.source, HasSubstr("the weather does not cover it"));
}

TEST_F(LearnedForecastTest, TheMixIsUsedWhereItCoversTheHistoryAndThatIsLong) {
  GenerationMix mix{{At("2021-11-01T00:00Z"), {"wind", "coal"}, {{}, {}}}};
  for (int h = 0; h < 24 * 400; ++h) {
    mix.columns[0].push_back(100 + h % 37);
    mix.columns[1].push_back(100 + h % 24);
  }
  const TimePoint late = At("2022-09-02T12:30Z");
  const auto source_text = [&](TimePoint now) {
    const auto forecast = LearnedForecast(std::nullopt, mix).Predict(*source_, now, now + 24h, now);
    return forecast ? forecast->origin.source : forecast.error().message;
  };
  EXPECT_THAT(source_text(late), HasSubstr("09-02T13:00:00Z, generation mix)"));
  EXPECT_THAT(source_text(now_), HasSubstr("too few of them to learn from the generation mix"));
  for (auto& column : mix.columns) column.resize(24 * 100);
  EXPECT_THAT(source_text(late), HasSubstr("the generation mix does not cover it"));
}

TEST(LearnedForecastConstantTest, ConstantsForecastThemselves) {
  IntensityOrigin origin;
  origin.kind = IntensityKind::kConstant;
  const ConstantSource source(origin, GramsPerKwh(42));
  const TimePoint now = At("2022-07-01T00:00Z");
  const auto forecast = LearnedForecast().PredictBand(source, now, now + 24h, now);
  ASSERT_TRUE(forecast) << forecast.error().message;
  EXPECT_EQ(forecast->middle.slots.front().value, GramsPerKwh(42));
  EXPECT_EQ(forecast->middle.origin.kind, IntensityKind::kConstant);
}

}  // namespace
}  // namespace lowtide
