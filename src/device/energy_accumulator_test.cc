#include "device/energy_accumulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lowtide {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using State = EnergyAccumulator::CounterState;

MonoTime At(double s) { return MonoTime(ToNanoseconds(Seconds(s))); }

Reading Power(double s, double w) { return {At(s), std::nullopt, Watts(w), false}; }
Reading Counter(double s, double j) { return {At(s), Joules(j), std::nullopt, false}; }
Reading Both(double s, double j, double w) { return {At(s), Joules(j), Watts(w), false}; }

TEST(EnergyAccumulator, FirstReadingIsABaseline) {
  EnergyAccumulator a;
  EXPECT_FALSE(a.Add(Counter(0, 53131)));
  EXPECT_FALSE(a.HasEnergy());
  const auto interval = a.Add(Counter(1, 53231));
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->energy.v, 100);
  EXPECT_EQ(a.Total().v, 100);
}

TEST(EnergyAccumulator, IntegratesPowerAsATrapezoid) {
  EnergyAccumulator a;
  a.Add(Power(0, 100));
  a.Add(Power(0.5, 200));
  EXPECT_DOUBLE_EQ(a.Total().v, 75);
  a.Add(Power(1.0, 200));  // equal samples count
  EXPECT_DOUBLE_EQ(a.Total().v, 175);
  EXPECT_EQ(a.Method(), "integrated power");
}

TEST(EnergyAccumulator, LongSilenceOfAPowerSensorIsAGapNotANumber) {
  EnergyAccumulator a;
  a.Add(Power(0, 100));
  const auto gap = a.Add(Power(5, 100));
  ASSERT_TRUE(gap);
  EXPECT_FALSE(gap->known);
  EXPECT_EQ(a.Total().v, 0);
  EXPECT_EQ(a.Gaps().count(), 5);
}

TEST(EnergyAccumulator, ACounterCoversALongSilence) {
  EnergyAccumulator a;
  a.Add(Counter(0, 0));
  a.Add(Counter(60, 6000));
  EXPECT_EQ(a.Total().v, 6000);
  EXPECT_EQ(a.Gaps().count(), 0);
}

TEST(EnergyAccumulator, ASuspendIsAGapForBoth) {
  EnergyAccumulator a;
  a.Add(Counter(0, 0));
  a.MarkPause(EnergyAccumulator::Pause::kSuspended);
  a.Add(Counter(0.1, 1e6));
  EXPECT_EQ(a.Total().v, 0);
  a.Add(Counter(0.2, 1e6 + 10));
  EXPECT_EQ(a.Total().v, 10);
}

TEST(EnergyAccumulator, AStallIsAGapForPowerOnly) {
  EnergyAccumulator power;
  power.Add(Power(0, 100));
  power.MarkPause(EnergyAccumulator::Pause::kStalled);
  power.Add(Power(0.1, 100));
  EXPECT_EQ(power.Total().v, 0);
  EnergyAccumulator counter;
  counter.Add(Counter(0, 0));
  counter.MarkPause(EnergyAccumulator::Pause::kStalled);
  counter.Add(Counter(10, 500));
  EXPECT_EQ(counter.Total().v, 500);
}

TEST(EnergyAccumulator, AValidatedCounterTakesOver) {
  EnergyAccumulator a;
  double joules = 0;
  for (int i = 0; i <= 100; ++i) {
    a.Add(Both(i * 0.1, joules, 100));
    joules += 10.5;  // 5 % above integrated power
  }
  EXPECT_EQ(a.Counter(), State::kTrusted);
  ASSERT_TRUE(a.DisagreementPct());
  EXPECT_THAT(*a.DisagreementPct(), DoubleNear(5, 1e-9));
  // About the first two seconds at 100 W, the rest at 105 W.
  EXPECT_THAT(a.Total().v, DoubleNear(200 + 8 * 105, 12));
  EXPECT_THAT(a.Method(), HasSubstr("energy counter (validated"));
}

TEST(EnergyAccumulator, ACounterOffByMoreThanTwiceIsNeverBelieved) {
  EnergyAccumulator a;
  for (int i = 0; i <= 100; ++i) a.Add(Both(i * 0.1, i * 100.0, 100));
  EXPECT_EQ(a.Counter(), State::kDisagrees);
  EXPECT_THAT(a.Total().v, DoubleNear(1000, 1e-6));
}

TEST(EnergyAccumulator, AFrozenCounterIsNoticedAndMadeUpFor) {
  EnergyAccumulator a;
  for (int i = 0; i <= 50; ++i) a.Add(Both(i * 0.1, i * 10.0, 100));
  ASSERT_EQ(a.Counter(), State::kTrusted);
  for (int i = 51; i <= 100; ++i) a.Add(Both(i * 0.1, 500, 100));
  EXPECT_EQ(a.Counter(), State::kFrozen);
  EXPECT_THAT(a.Total().v, DoubleNear(1000, 1e-6));
  EXPECT_THAT(a.Method(), HasSubstr("stood still"));
}

// As the meter does: power is read only when it is wanted.
struct Asking {
  EnergyAccumulator accumulator;
  int with_power = 0;

  void Add(double s, double j, double w) {
    const bool wanted = accumulator.WantsPower(At(s));
    with_power += wanted ? 1 : 0;
    accumulator.Add(wanted ? Both(s, j, w) : Counter(s, j));
  }
};

TEST(EnergyAccumulator, ATrustedCounterIsComparedWithPowerNowAndThen) {
  Asking a;
  for (int i = 0; i <= 1000; ++i) a.Add(i * 0.1, i * 10.0, 80);
  EXPECT_EQ(a.accumulator.Counter(), State::kTrusted);
  // The first 2 s from power, while the counter is validated; then 25 % more by the counter.
  EXPECT_THAT(a.accumulator.Total().v, DoubleNear(10000 - 2.1 * 20, 2.1));
  EXPECT_THAT(*a.accumulator.DisagreementPct(), DoubleNear(25, 1e-6));
  EXPECT_LE(a.with_power, 110);  // about 2 s in 20
  EXPECT_GE(a.with_power, 100);
}

TEST(EnergyAccumulator, ACounterThatFreezesUnwatchedIsMadeUpFor) {
  Asking a;
  for (int i = 0; i <= 100; ++i) a.Add(i * 0.1, i * 10.0, 100);
  ASSERT_EQ(a.accumulator.Counter(), State::kTrusted);
  for (int i = 101; i <= 180; ++i) a.Add(i * 0.1, 1000, 100);  // ends before the next comparison
  EXPECT_EQ(a.accumulator.Counter(), State::kFrozen);
  EXPECT_THAT(a.accumulator.Total().v, DoubleNear(1800, 1e-6));
  EXPECT_EQ(a.accumulator.Gaps(), Seconds(0));
}

TEST(EnergyAccumulator, ASlowCounterIsNotTakenForAFrozenOne) {
  Asking a;
  // Steps of 0.5 s, as some boards have.
  for (int i = 0; i <= 1000; ++i) a.Add(i * 0.1, (i / 5) * 50.0, 100);
  EXPECT_EQ(a.accumulator.Counter(), State::kTrusted);
  EXPECT_THAT(a.accumulator.Total().v, DoubleNear(10000, 50));
  EXPECT_THAT(*a.accumulator.DisagreementPct(), DoubleNear(0, 3));
}

TEST(EnergyAccumulator, ACounterFrozenFromTheStartNeverCounts) {
  EnergyAccumulator a;
  for (int i = 0; i <= 50; ++i) a.Add(Both(i * 0.1, 7, 80));
  EXPECT_EQ(a.Counter(), State::kFrozen);
  EXPECT_THAT(a.Total().v, DoubleNear(400, 1e-6));
}

TEST(EnergyAccumulator, AnIdleDeviceWithAStillCounterIsNotFrozen) {
  EnergyAccumulator a;
  for (int i = 0; i <= 50; ++i) a.Add(Both(i * 0.1, 7, 1));
  EXPECT_EQ(a.Counter(), State::kValidating);
}

TEST(EnergyAccumulator, ACounterGoingBackwardsFallsBackToPowerForThatInterval) {
  EnergyAccumulator a;
  for (int i = 0; i <= 50; ++i) a.Add(Both(i * 0.1, i * 10.0, 100));
  const double before = a.Total().v;
  a.Add(Both(5.1, 3, 100));
  EXPECT_EQ(a.Resets(), 1);
  EXPECT_THAT(a.Total().v - before, DoubleNear(10, 1e-9));
  a.Add(Both(5.2, 13, 100));
  EXPECT_THAT(a.Total().v - before, DoubleNear(20, 1e-9));
}

TEST(EnergyAccumulator, ACounterOnlyDeviceGoingBackwardsLeavesAGap) {
  EnergyAccumulator a;
  a.Add(Counter(0, 100000));
  a.Add(Counter(1, 100100));
  a.Add(Counter(2, 5));
  a.Add(Counter(3, 105));
  EXPECT_EQ(a.Total().v, 200);
  EXPECT_EQ(a.Gaps().count(), 1);
}

TEST(EnergyAccumulator, WhatNoReadingCoversAtTheEndIsAGap) {
  EnergyAccumulator a;
  a.Add(Counter(0, 0));
  a.Add(Counter(1, 10));
  a.Finish(At(4));
  EXPECT_EQ(a.Gaps().count(), 3);
  EXPECT_EQ(a.Total().v, 10);
}

}  // namespace
}  // namespace lowtide
