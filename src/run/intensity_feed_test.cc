#include "run/intensity_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lowtide {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const TimePoint kStart = *ParseTime("2026-11-30T12:00:00Z");
TimePoint Min(double minutes) { return kStart + ToMilliseconds(Seconds(60 * minutes)); }

// History as far as it has been published, and a forecast for the rest.
class PublishedLate final : public Source {
 public:
  PublishedLate() {
    origin_.source = "provider";
    origin_.zone = Zone{"DE"};
  }
  const IntensityOrigin& Origin() const override { return origin_; }
  Result<IntensitySeries> History(TimePoint from, TimePoint to, TimePoint /*now*/) const override {
    if (down) return Fail(Code::kUnavailable, "provider is down");
    IntensitySeries out{origin_, {}, estimated};
    for (const auto& slot : published) {
      if (slot.to > from && slot.from < to) out.slots.push_back(slot);
    }
    return out;
  }
  Result<IntensityReading> Latest(TimePoint /*now*/) const override {
    return Fail(Code::kNotFound, "not asked for here");
  }
  Result<IntensitySeries> Forecast(TimePoint /*from*/, TimePoint /*to*/,
                                   TimePoint /*now*/) const override {
    if (!has_forecast) return Fail(Code::kUnimplemented, "none");
    IntensitySeries out{origin_, {{kStart, Min(180), GramsPerKwh(500)}}, {}};
    out.origin.source = "provider's forecast";
    out.origin.kind = IntensityKind::kForecast;
    return out;
  }

  Series<GramsPerKwh> published;
  std::vector<TimePoint> estimated;
  bool has_forecast = true;
  bool down = false;

 private:
  IntensityOrigin origin_;
};

TEST(IntensityFeed, TheForecastStandsInUntilTheHistoryIsThere) {
  PublishedLate source;
  IntensityFeed feed(&source, kStart);
  const auto before = feed.Over(Min(0), Min(10));
  EXPECT_EQ(before.mean, GramsPerKwh(500));
  EXPECT_DOUBLE_EQ(before.coverage, 1);
  EXPECT_TRUE(before.estimated);
  source.published = {{Min(0), Min(60), GramsPerKwh(300)}};
  const auto after = feed.Over(Min(10), Min(20));
  EXPECT_EQ(after.mean, GramsPerKwh(300)) << "the rest of the hour is as published";
  EXPECT_FALSE(after.estimated);
  const auto used = feed.TakeUsed();
  ASSERT_THAT(used, SizeIs(2));
  EXPECT_EQ(used[0].kind, "forecast");
  EXPECT_EQ(used[0].source, "provider's forecast");
  EXPECT_EQ(used[0].to, Min(10));
  EXPECT_EQ(used[1].kind, "measured");
  EXPECT_EQ(used[1].from, Min(10));
}

TEST(IntensityFeed, SecondsOfOneForecastAreOneRecord) {
  PublishedLate source;
  IntensityFeed feed(&source, kStart);
  for (int s = 0; s < 600; ++s) feed.Over(Min(s / 60.0), Min((s + 1) / 60.0));
  const auto used = feed.TakeUsed();
  ASSERT_THAT(used, SizeIs(1));
  EXPECT_EQ(used[0].from, Min(0));
  EXPECT_EQ(used[0].to, Min(10));
}

TEST(IntensityFeed, AnEstimateIsToldPerSlot) {
  PublishedLate source;
  source.published = {{Min(0), Min(30), GramsPerKwh(300)}, {Min(30), Min(60), GramsPerKwh(310)}};
  source.estimated = {Min(30)};
  IntensityFeed feed(&source, kStart);
  EXPECT_FALSE(feed.Over(Min(0), Min(20)).estimated);
  EXPECT_TRUE(feed.Over(Min(35), Min(40)).estimated);
  EXPECT_EQ(feed.TakeUsed().back().kind, "estimated");
}

TEST(IntensityFeed, WithoutAForecastAGapIsAGap) {
  PublishedLate source;
  source.has_forecast = false;
  IntensityFeed feed(&source, kStart);
  const auto answer = feed.Over(Min(0), Min(10));
  EXPECT_FALSE(answer.mean);
  EXPECT_DOUBLE_EQ(answer.coverage, 0);
  EXPECT_THAT(feed.TakeUsed(), IsEmpty());
}

TEST(IntensityFeed, AProblemIsToldOnceAndTheForecastServesMeanwhile) {
  PublishedLate source;
  source.down = true;
  IntensityFeed feed(&source, kStart);
  EXPECT_EQ(feed.Over(Min(0), Min(1)).mean, GramsPerKwh(500));
  EXPECT_EQ(feed.TakeProblem(), "provider is down");
  feed.Over(Min(1), Min(2));
  EXPECT_FALSE(feed.TakeProblem());
  source.down = false;
  source.published = {{Min(0), Min(60), GramsPerKwh(300)}};
  EXPECT_EQ(feed.Over(Min(2), Min(3)).mean, GramsPerKwh(300));
}

}  // namespace
}  // namespace lowtide
