#include "base/series.h"

#include <gtest/gtest.h>

#include "base/units.h"

namespace lowtide {
namespace {

constexpr TimePoint T(int minutes) { return TimePoint(std::chrono::minutes(minutes)); }
Sample<GramsPerKwh> Slot(int from, int to, double value) {
  return {T(from), T(to), GramsPerKwh(value)};
}

// [0,60) 100, gap, [90,120) 200, [120,180) 400
const Series<GramsPerKwh> kSeries = {Slot(0, 60, 100), Slot(90, 120, 200), Slot(120, 180, 400)};

TEST(IsWellFormed, WantsOrderNoOverlapAndNoEmptySlot) {
  EXPECT_TRUE(IsWellFormed(Series<GramsPerKwh>{}));
  EXPECT_TRUE(IsWellFormed(kSeries));
  EXPECT_FALSE(IsWellFormed(Series<GramsPerKwh>{Slot(0, 0, 1)}));
  EXPECT_FALSE(IsWellFormed(Series<GramsPerKwh>{Slot(5, 0, 1)}));
  EXPECT_FALSE(IsWellFormed(Series<GramsPerKwh>{Slot(0, 10, 1), Slot(9, 20, 1)}));
  EXPECT_FALSE(IsWellFormed(Series<GramsPerKwh>{Slot(10, 20, 1), Slot(0, 10, 1)}));
}

TEST(SlotAt, SlotsAreHalfOpen) {
  EXPECT_EQ(SlotAt(kSeries, T(0)), &kSeries[0]);
  EXPECT_EQ(SlotAt(kSeries, T(60) - std::chrono::milliseconds(1)), &kSeries[0]);
  EXPECT_EQ(SlotAt(kSeries, T(60)), nullptr);
  EXPECT_EQ(SlotAt(kSeries, T(120)), &kSeries[2]);
}

TEST(SlotAt, IsNothingBeforeAfterAndInGaps) {
  EXPECT_EQ(SlotAt(kSeries, T(-1)), nullptr);
  EXPECT_EQ(SlotAt(kSeries, T(75)), nullptr);
  EXPECT_EQ(SlotAt(kSeries, T(180)), nullptr);
  EXPECT_EQ(SlotAt(Series<GramsPerKwh>{}, T(0)), nullptr);
}

TEST(MeanOver, WeighsByTime) {
  const auto mean = MeanOver(kSeries, T(90), T(180));
  EXPECT_DOUBLE_EQ(mean.value->v, (200.0 * 30 + 400.0 * 60) / 90);
  EXPECT_DOUBLE_EQ(mean.coverage, 1);
}

TEST(MeanOver, AGapIsLeftOutAndShowsInTheCoverage) {
  const auto mean = MeanOver(kSeries, T(30), T(120));
  EXPECT_DOUBLE_EQ(mean.value->v, (100.0 * 30 + 200.0 * 30) / 60);
  EXPECT_DOUBLE_EQ(mean.coverage, 60.0 / 90);
}

TEST(MeanOver, TouchingBoundariesDoNotCount) {
  const auto gap = MeanOver(kSeries, T(60), T(90));
  EXPECT_FALSE(gap.value);
  EXPECT_EQ(gap.coverage, 0);
  EXPECT_FALSE(MeanOver(kSeries, T(180), T(500)).value);
  EXPECT_FALSE(MeanOver(kSeries, T(-60), T(0)).value);
}

TEST(MeanOver, PartsOfOneSlot) {
  const auto mean = MeanOver(kSeries, T(130), T(131));
  EXPECT_DOUBLE_EQ(mean.value->v, 400);
  EXPECT_DOUBLE_EQ(mean.coverage, 1);
}

TEST(MeanOver, AnEmptyIntervalAsksForTheSlot) {
  EXPECT_EQ(MeanOver(kSeries, T(130), T(130)).value, GramsPerKwh(400));
  EXPECT_FALSE(MeanOver(kSeries, T(75), T(75)).value);
}

}  // namespace
}  // namespace lowtide
