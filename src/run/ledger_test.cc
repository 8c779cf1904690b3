#include "run/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grid/sources/constant_source.h"

namespace lowtide {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr TimePoint kStart = FromUnixMillis(1'650'000'000'000);  // 2022-04-15T05:20:00Z

// Hourly slots of which some may be missing; counts how often it is asked.
class ListSource final : public Source {
 public:
  explicit ListSource(Series<GramsPerKwh> slots) : slots_(std::move(slots)) {
    origin_.source = "list";
  }
  const IntensityOrigin& Origin() const override { return origin_; }
  Result<IntensitySeries> History(TimePoint from, TimePoint to, TimePoint now) const override {
    ++asked;
    if (fail) return Fail(Code::kUnavailable, "provider is down");
    IntensitySeries out{origin_, {}};
    for (const auto& s : slots_) {
      if (s.to > from && s.from <= to && s.from <= now) out.slots.push_back(s);
    }
    return out;
  }
  Result<IntensityReading> Latest(TimePoint /*now*/) const override {
    return Fail(Code::kNotFound, "not asked for here");
  }
  Result<IntensitySeries> Forecast(TimePoint /*from*/, TimePoint /*to*/,
                                   TimePoint /*now*/) const override {
    return Fail(Code::kUnimplemented, "not asked for here");
  }

  mutable int asked = 0;
  bool fail = false;

 private:
  IntensityOrigin origin_;
  Series<GramsPerKwh> slots_;
};

TimePoint Hour(int h) { return kStart + std::chrono::hours(h); }

ComponentRecord Component(int index, const char* kind) {
  ComponentRecord c;
  c.index = index;
  c.kind = kind;
  c.backend = "test";
  c.status = Provenance::kMeasured;
  return c;
}

class LedgerTest : public ::testing::Test {
 protected:
  static Ledger::Moment At(double s) {
    return {MonoTime(ToNanoseconds(Seconds(s))), kStart + ToMilliseconds(Seconds(s))};
  }
  static DeviceInterval Interval(std::size_t device, double from, double to, double joules) {
    return {device,
            {MonoTime(ToNanoseconds(Seconds(from))), MonoTime(ToNanoseconds(Seconds(to))),
             Joules(joules), true}};
  }
  Ledger Make(IntensityFeed& feed, LedgerOptions options = {}, double scale = 1) {
    return Ledger({Component(0, "gpu"), Component(1, "cpu")}, {false, true},
                  GridClock{kStart, kStart, scale}, feed, options);
  }
};

TEST_F(LedgerTest, EachIntervalIsMultipliedWithTheIntensityValidThen) {
  const ListSource source(
      {{Hour(0), Hour(1), GramsPerKwh(100)}, {Hour(1), Hour(2), GramsPerKwh(500)}});
  IntensityFeed feed(&source, kStart);
  Ledger ledger = Make(feed);
  ledger.AddInterval(Interval(0, 0, 1800, 3.6e6), At(1800));     // 1 kWh at 100
  ledger.AddInterval(Interval(0, 3600, 5400, 3.6e6), At(5400));  // 1 kWh at 500
  ASSERT_TRUE(ledger.Totals().carbon);
  EXPECT_DOUBLE_EQ(ledger.Totals().carbon->v, 600);
  EXPECT_DOUBLE_EQ(ledger.Totals().energy.v, 7.2e6);
  EXPECT_DOUBLE_EQ(ledger.Totals().energy_without_intensity.v, 0);
}

TEST_F(LedgerTest, AnIntervalAcrossTwoSlotsIsSplitByTime) {
  const ListSource source(
      {{Hour(0), Hour(1), GramsPerKwh(100)}, {Hour(1), Hour(2), GramsPerKwh(500)}});
  IntensityFeed feed(&source, kStart);
  Ledger ledger = Make(feed);
  ledger.AddInterval(Interval(0, 2700, 4500, 3.6e6), At(4500));
  EXPECT_DOUBLE_EQ(ledger.Totals().carbon->v, 300);
}

TEST_F(LedgerTest, WhatNoSlotCoversIsCountedAsEnergyWithoutIntensity) {
  const ListSource source({{Hour(0), Hour(1), GramsPerKwh(100)}});
  IntensityFeed feed(&source, kStart);
  Ledger ledger = Make(feed);
  ledger.AddInterval(Interval(0, 1800, 5400, 3.6e6), At(5400));  // half of it covered
  EXPECT_DOUBLE_EQ(ledger.Totals().carbon->v, 50);
  EXPECT_DOUBLE_EQ(ledger.Totals().energy_without_intensity.v, 1.8e6);
}

TEST_F(LedgerTest, WithoutASourceEnergyCountsAndCarbonIsUnknown) {
  IntensityFeed feed(nullptr, kStart);
  Ledger ledger = Make(feed);
  ledger.AddInterval(Interval(0, 0, 1, 300), At(1));
  EXPECT_DOUBLE_EQ(ledger.Totals().energy.v, 300);
  EXPECT_FALSE(ledger.Totals().carbon);
  EXPECT_DOUBLE_EQ(ledger.Totals().energy_without_intensity.v, 300);
}

TEST_F(LedgerTest, ANegativeOrUnknownIntervalIsNoEnergy) {
  IntensityFeed feed(nullptr, kStart);
  Ledger ledger = Make(feed);
  DeviceInterval gap = Interval(0, 0, 10, 0);
  gap.interval.known = false;
  ledger.AddInterval(gap, At(10));
  EXPECT_FALSE(ledger.Totals().energy_known);
}

TEST_F(LedgerTest, TheGridsClockMayRunFaster) {
  const ListSource source(
      {{Hour(0), Hour(1), GramsPerKwh(100)}, {Hour(1), Hour(2), GramsPerKwh(500)}});
  IntensityFeed feed(&source, kStart);
  Ledger ledger = Make(feed, {}, 3600);  // a second is an hour
  ledger.AddInterval(Interval(0, 0, 1, 3.6e6), At(1));
  ledger.AddInterval(Interval(0, 1, 2, 3.6e6), At(2));
  EXPECT_DOUBLE_EQ(ledger.Totals().carbon->v, 600);
}

TEST_F(LedgerTest, PueMultipliesCarbonNotEnergy) {
  const ListSource source({{Hour(0), Hour(1), GramsPerKwh(100)}});
  IntensityFeed feed(&source, kStart);
  LedgerOptions options;
  options.pue = 1.5;
  Ledger ledger = Make(feed, options);
  ledger.AddInterval(Interval(0, 0, 1800, 3.6e6), At(1800));
  EXPECT_DOUBLE_EQ(ledger.Totals().carbon->v, 150);
  EXPECT_DOUBLE_EQ(ledger.Totals().energy.v, 3.6e6);
}

TEST_F(LedgerTest, HostEnergyIsSharedOutByCpuTime) {
  IntensityFeed feed(nullptr, kStart);
  Ledger ledger = Make(feed);
  ledger.AddInterval(Interval(1, 0, 1, 100), At(1));
  EXPECT_DOUBLE_EQ(ledger.Totals().energy.v, 0) << "not before the share is known";
  ledger.ApplyHostShare(0.25, At(1));
  EXPECT_DOUBLE_EQ(ledger.Totals().energy.v, 25);
  RunUpdate update;
  ledger.TakeUpdate(At(1), Ledger::Rows::kAll, update);
  EXPECT_DOUBLE_EQ(update.components[1].energy->v, 25);
  EXPECT_DOUBLE_EQ(update.components[1].host_energy->v, 100);
}

TEST_F(LedgerTest, HostEnergyCanCountWhole) {
  IntensityFeed feed(nullptr, kStart);
  LedgerOptions options;
  options.host_energy = HostEnergy::kWholeHost;
  Ledger ledger = Make(feed, options);
  ledger.AddInterval(Interval(1, 0, 1, 100), At(1));
  EXPECT_DOUBLE_EQ(ledger.Totals().energy.v, 100);
}

TEST_F(LedgerTest, HostEnergyWithoutAShareIsAGap) {
  IntensityFeed feed(nullptr, kStart);
  Ledger ledger = Make(feed);
  ledger.AddInterval(Interval(1, 0, 3, 100), At(3));
  ledger.CloseHostShare();
  ledger.SetReadings({MeterReading{}, MeterReading{}});
  RunUpdate update;
  ledger.TakeUpdate(At(3), Ledger::Rows::kAll, update);
  EXPECT_DOUBLE_EQ(update.components[1].gaps.count(), 3);
  EXPECT_FALSE(update.components[1].energy);
}

TEST_F(LedgerTest, EpochsGetTheirEnergyCarbonStepsAndMetrics) {
  const ListSource source({{Hour(0), Hour(1), GramsPerKwh(100)}});
  IntensityFeed feed(&source, kStart);
  Ledger ledger = Make(feed);
  ledger.SetPowerLimit(Watts(250));
  ledger.AddInterval(Interval(0, 0, 1, 10), At(1));  // before the first epoch
  ledger.BeginEpoch(0, At(1));
  ledger.AddInterval(Interval(0, 1, 2, 3.6e6), At(2));
  ledger.AddSteps(7);
  ledger.AddMetrics({{"loss", 0.5}});
  ledger.EndEpoch(At(2));
  ledger.AddMetrics({{"accuracy", 0.9}});  // a validation pass after the epoch
  ledger.AddInterval(Interval(0, 2, 3, 10), At(3));
  RunUpdate update;
  ledger.TakeUpdate(At(3), Ledger::Rows::kAll, update);
  ASSERT_THAT(update.epochs, SizeIs(1));
  const EpochRecord& epoch = update.epochs[0];
  EXPECT_DOUBLE_EQ(epoch.energy.v, 3.6e6);
  EXPECT_DOUBLE_EQ(epoch.carbon->v, 100);
  EXPECT_DOUBLE_EQ(epoch.duration.count(), 1);
  EXPECT_EQ(epoch.steps, 7);
  EXPECT_EQ(epoch.power_limit->v, 250);
  EXPECT_EQ(epoch.metrics.at("loss"), 0.5);
  EXPECT_EQ(epoch.metrics.at("accuracy"), 0.9);
}

TEST_F(LedgerTest, LateMetricsReachAnEpochThatIsAlreadyStored) {
  IntensityFeed feed(nullptr, kStart);
  Ledger ledger = Make(feed);
  ledger.BeginEpoch(3, At(0));
  ledger.EndEpoch(At(1));
  RunUpdate first;
  ledger.TakeUpdate(At(1), Ledger::Rows::kAll, first);
  ledger.AddMetrics({{"accuracy", 0.9}});
  RunUpdate second;
  ledger.TakeUpdate(At(2), Ledger::Rows::kAll, second);
  ASSERT_THAT(second.epochs, SizeIs(1));
  EXPECT_EQ(second.epochs[0].index, 3);
  EXPECT_EQ(second.epochs[0].metrics.at("accuracy"), 0.9);
}

TEST_F(LedgerTest, ARunningEpochIsInEveryUpdateSoThatAKillLosesASecondAtMost) {
  IntensityFeed feed(nullptr, kStart);
  Ledger ledger = Make(feed);
  ledger.BeginEpoch(0, At(0));
  ledger.AddInterval(Interval(0, 0, 1, 100), At(1));
  RunUpdate update;
  ledger.TakeUpdate(At(1), Ledger::Rows::kAll, update);
  ASSERT_THAT(update.epochs, SizeIs(1));
  EXPECT_FALSE(update.epochs[0].ended_at);
  EXPECT_DOUBLE_EQ(update.epochs[0].energy.v, 100);
  EXPECT_DOUBLE_EQ(update.epochs[0].duration.count(), 1);
}

TEST_F(LedgerTest, SamplesAreOnePerDeviceAndSecond) {
  IntensityFeed feed(nullptr, kStart);
  Ledger ledger = Make(feed);
  for (int i = 0; i < 20; ++i) {
    ledger.AddInterval(Interval(0, i * 0.1, (i + 1) * 0.1, 1), At((i + 1) * 0.1 - 0.01));
  }
  RunUpdate update;
  ledger.TakeUpdate(At(2), Ledger::Rows::kAll, update);
  EXPECT_THAT(update.samples, SizeIs(2));
  double sum = 0;
  for (const auto& s : update.samples) sum += s.energy_j;
  EXPECT_DOUBLE_EQ(sum, 20);
  RunUpdate empty;
  ledger.TakeUpdate(At(2), Ledger::Rows::kAll, empty);
  EXPECT_THAT(empty.samples, IsEmpty());
}

TEST_F(LedgerTest, TheRunningSecondIsHeldBackUntilItIsOver) {
  IntensityFeed feed(nullptr, kStart);
  Ledger ledger = Make(feed);
  for (int i = 0; i < 15; ++i) {
    ledger.AddInterval(Interval(0, i * 0.1, (i + 1) * 0.1, 1), At((i + 1) * 0.1 - 0.01));
  }
  RunUpdate first;
  ledger.TakeUpdate(At(1.5), Ledger::Rows::kWholeSeconds, first);
  ASSERT_THAT(first.samples, SizeIs(1));
  EXPECT_NEAR(first.samples[0].energy_j, 10, 1e-9);
  EXPECT_DOUBLE_EQ(first.totals->energy.v, 15) << "totals do not wait";
  ledger.AddInterval(Interval(0, 1.5, 1.6, 1), At(1.6));
  RunUpdate last;
  ledger.TakeUpdate(At(1.6), Ledger::Rows::kAll, last);
  ASSERT_THAT(last.samples, SizeIs(1));
  EXPECT_EQ(last.samples[0].unix_s, first.samples[0].unix_s + 1);
  EXPECT_NEAR(last.samples[0].energy_j, 6, 1e-9);
}

TEST_F(LedgerTest, AClockStepDoesNotMoveDurations) {
  IntensityFeed feed(nullptr, kStart);
  Ledger ledger = Make(feed);
  ledger.BeginEpoch(0, At(0));
  Ledger::Moment stepped = At(10);
  stepped.utc -= std::chrono::hours(5);
  ledger.EndEpoch(stepped);
  EXPECT_DOUBLE_EQ(ledger.LastEpoch()->duration.count(), 10);
}

TEST(IntensityFeed, AsksTheSourceOnlyForWhatIsNew) {
  const ListSource source(
      {{Hour(0), Hour(1), GramsPerKwh(100)}, {Hour(1), Hour(2), GramsPerKwh(200)}});
  IntensityFeed feed(&source, kStart);
  for (int s = 0; s < 3600; ++s) {
    feed.Over(kStart + std::chrono::seconds(s), kStart + std::chrono::seconds(s + 1));
  }
  EXPECT_LE(source.asked, 2);
}

TEST(IntensityFeed, AMomentAtTheEdgeOfWhatIsKnownHasAnIntensity) {
  const ConstantSource source({}, GramsPerKwh(400));
  IntensityFeed feed(&source, kStart);
  const TimePoint later = kStart + std::chrono::seconds(1);
  EXPECT_EQ(feed.Over(kStart, later).coverage, 1);
  const auto moment = feed.Over(later, later);
  ASSERT_TRUE(moment.mean);
  EXPECT_EQ(moment.mean->v, 400);
  EXPECT_EQ(moment.coverage, 1);
}

TEST(IntensityFeed, RecordsEverySlotOnceAndMergesEqualNeighbours) {
  const ListSource source({{Hour(0), Hour(1), GramsPerKwh(100)},
                           {Hour(1), Hour(2), GramsPerKwh(100)},
                           {Hour(2), Hour(3), GramsPerKwh(300)}});
  IntensityFeed feed(&source, kStart);
  for (int minute = 0; minute < 170; ++minute) {
    feed.Over(kStart + std::chrono::minutes(minute), kStart + std::chrono::minutes(minute + 1));
  }
  const auto used = feed.TakeUsed();
  ASSERT_THAT(used, SizeIs(2));
  EXPECT_EQ(used[0].from, Hour(0));
  EXPECT_EQ(used[0].to, Hour(2));
  EXPECT_EQ(used[1].value.v, 300);
  EXPECT_EQ(used[1].source, "list");
}

TEST(IntensityFeed, AProviderThatFailsIsTriedAgainAndToldOnce) {
  ListSource source({{Hour(0), Hour(1), GramsPerKwh(100)}});
  source.fail = true;
  IntensityFeed feed(&source, kStart);
  EXPECT_FALSE(feed.Over(kStart, kStart + std::chrono::seconds(1)).mean);
  EXPECT_FALSE(feed.Over(kStart, kStart + std::chrono::seconds(2)).mean);
  EXPECT_EQ(feed.TakeProblem(), "provider is down");
  EXPECT_EQ(feed.TakeProblem(), std::nullopt);
  source.fail = false;
  const auto answer = feed.Over(kStart, kStart + std::chrono::seconds(3));
  ASSERT_TRUE(answer.mean);
  EXPECT_EQ(answer.mean->v, 100);
}

TEST_F(LedgerTest, EpochsThatBeginAnewAreKeptBesideTheEarlierOnes) {
  IntensityFeed feed(nullptr, kStart);
  Ledger ledger = Make(feed);
  std::vector<int> kept;
  for (const int index : {0, 1, 0, 1, 2, 1}) {
    const auto n = static_cast<double>(kept.size());
    kept.push_back(ledger.BeginEpoch(index, At(n)));
    ledger.AddInterval(Interval(0, n, n + 1, 10), At(n + 1));
    ledger.EndEpoch(At(n + 1));
  }
  EXPECT_EQ(kept, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  RunUpdate update;
  ledger.TakeUpdate(At(6), Ledger::Rows::kAll, update);
  ASSERT_THAT(update.epochs, SizeIs(6));
  for (const EpochRecord& epoch : update.epochs) EXPECT_DOUBLE_EQ(epoch.energy.v, 10);
}

}  // namespace
}  // namespace lowtide
