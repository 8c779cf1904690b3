#include "device/rapl/rapl_zone.h"

#include <gtest/gtest.h>

#include <chrono>

namespace lowtide {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kRange = 262'143'328'850;

MonoTime At(int ms) { return MonoTime(milliseconds(ms)); }

RaplCounter Package() { return RaplCounter({kRange, kMaxPackagePower}); }

void ExpectStep(RaplCounter& counter, int ms, std::uint64_t uj, double joules) {
  const auto step = counter.Advance(At(ms), uj);
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_DOUBLE_EQ(step->total.v, joules);
  EXPECT_FALSE(step->discontinuity);
}

void ExpectRestart(RaplCounter& counter, int ms, std::uint64_t uj, double joules) {
  const auto step = counter.Advance(At(ms), uj);
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_DOUBLE_EQ(step->total.v, joules);
  EXPECT_TRUE(step->discontinuity);
}

void ExpectDropped(RaplCounter& counter, int ms, std::uint64_t uj) {
  const auto step = counter.Advance(At(ms), uj);
  ASSERT_FALSE(step) << "total " << step->total.v;
  EXPECT_EQ(step.error().code, Code::kDataLoss);
}

TEST(RaplCounterTest, TheFirstValueIsABaseline) {
  auto counter = Package();
  ExpectStep(counter, 0, 53'131'000'000, 0);
  ExpectStep(counter, 100, 53'141'000'000, 10);
  ExpectStep(counter, 200, 53'141'000'000, 10);
  ExpectStep(counter, 300, 53'141'000'001, 10.000001);
}

TEST(RaplCounterTest, WrapsByItsOwnRange) {
  auto counter = Package();
  ExpectStep(counter, 0, kRange - 4'000'000, 0);
  ExpectStep(counter, 100, 6'000'000, 10);
  ExpectStep(counter, 200, 16'000'000, 20);

  RaplCounter small({65'532'610'987, kMaxPackagePower});
  ExpectStep(small, 0, 65'532'000'000, 0);
  ExpectStep(small, 1000, 389'013, 1);
}

TEST(RaplCounterTest, ManyWrapsAddUp) {
  auto counter = Package();
  std::uint64_t raw = 0;
  int ms = 0;
  ExpectStep(counter, ms, raw, 0);
  // 1000 W for 1000 s in steps of 10 s is 1 MJ: 3.8 times round.
  for (int i = 1; i <= 100; ++i) {
    raw = (raw + 10'000'000'000) % kRange;
    ms += 10'000;
    ExpectStep(counter, ms, raw, 10'000.0 * i);
  }
}

TEST(RaplCounterTest, AStepBackFromTheLowerHalfIsAReset) {
  auto counter = Package();
  ExpectStep(counter, 0, 100'000'000'000, 0);
  ExpectStep(counter, 100, 100'010'000'000, 10);
  ExpectRestart(counter, 200, 5'000'000, 10);
  ExpectStep(counter, 300, 15'000'000, 20);
}

TEST(RaplCounterTest, AWrapBeyondBeliefIsAReset) {
  auto counter = Package();
  // In the upper half, but 62 kJ away from the end: no 0.1 s can do that.
  ExpectStep(counter, 0, 200'000'000'000, 0);
  ExpectRestart(counter, 100, 1'000'000, 0);
}

TEST(RaplCounterTest, TheBoundOnAWrapIsExact) {
  // 1500 W x (1 s + 0.05 s) = 1575 J.
  auto counter = Package();
  ExpectStep(counter, 0, kRange - 1'000'000'000, 0);
  ExpectStep(counter, 1000, 575'000'000, 1575);
  auto beyond = Package();
  ExpectStep(beyond, 0, kRange - 1'000'000'000, 0);
  ExpectRestart(beyond, 1000, 575'000'001, 0);
}

TEST(RaplCounterTest, WithoutARangeAStepBackIsADroppedInterval) {
  RaplCounter counter({std::nullopt, kMaxPackagePower});
  ExpectStep(counter, 0, kRange - 4'000'000, 0);
  ExpectStep(counter, 100, kRange - 1'000'000, 3);
  ExpectRestart(counter, 200, 6'000'000, 3);
  ExpectStep(counter, 300, 16'000'000, 13);
}

TEST(RaplCounterTest, AFailedReadThatGave0BooksNothing) {
  // One zero among good readings at 100 kJ made another tool book 262 kJ.
  auto counter = Package();
  ExpectStep(counter, 0, 100'000'000'000, 0);
  ExpectRestart(counter, 100, 0, 0);
  ExpectDropped(counter, 200, 100'001'000'000);
  ExpectRestart(counter, 300, 100'002'000'000, 0);
  ExpectStep(counter, 400, 100'003'000'000, 1);
}

TEST(RaplCounterTest, AnAbsurdValueIsDroppedAndTheNextGoodOneContinues) {
  auto counter = Package();
  ExpectStep(counter, 0, 1'000'000, 0);
  ExpectDropped(counter, 100, 4'294'967'295'000);  // beyond the range
  ExpectDropped(counter, 200, 200'000'000'000);    // 200 kJ in 0.2 s
  ExpectStep(counter, 300, 31'000'000, 30);
}

TEST(RaplCounterTest, AnAbsurdValueWithoutARangeIsDroppedByPower) {
  RaplCounter counter({std::nullopt, kMaxPackagePower});
  ExpectStep(counter, 0, 1'000'000, 0);
  ExpectDropped(counter, 100, 4'294'967'295'000);
  ExpectStep(counter, 200, 21'000'000, 20);
}

TEST(RaplCounterTest, AJumpThatStaysIsADiscontinuity) {
  auto counter = Package();
  ExpectStep(counter, 0, 1'000'000, 0);
  ExpectDropped(counter, 100, 9'000'000'000);
  ExpectRestart(counter, 200, 9'010'000'000, 0);
  ExpectStep(counter, 300, 9'020'000'000, 10);
}

TEST(RaplCounterTest, TwoAbsurdValuesThatDisagreeAreBothDropped) {
  auto counter = Package();
  ExpectStep(counter, 0, 1'000'000, 0);
  ExpectDropped(counter, 100, 90'000'000'000);
  ExpectDropped(counter, 200, 180'000'000'000);
  ExpectStep(counter, 300, 2'000'000, 1);
}

TEST(RaplCounterTest, AGapInWhichItMayHaveGoneRoundIsADiscontinuity) {
  auto counter = Package();
  ExpectStep(counter, 0, 1'000'000, 0);
  // 1500 W would take 174.7 s for one round.
  ExpectStep(counter, 174'000, 9'001'000'000, 9000);
  ExpectRestart(counter, 174'000 + 175'000, 19'001'000'000, 9000);

  RaplCounter unknown_range({std::nullopt, kMaxPackagePower});
  ExpectStep(unknown_range, 0, 1'000'000, 0);
  ExpectStep(unknown_range, 43'000, 2'000'000, 1);
  ExpectRestart(unknown_range, 87'000, 3'000'000, 1);
}

TEST(RaplCounterTest, TwoReadsAtOneMomentAreFine) {
  auto counter = Package();
  ExpectStep(counter, 0, 1'000'000, 0);
  ExpectStep(counter, 0, 1'200'000, 0.2);
}

TEST(RaplCounterTest, DramHasItsOwnBound) {
  RaplCounter counter({kRange, kMaxDramPower});
  ExpectStep(counter, 0, 0, 0);
  // 500 W x 1.05 s.
  ExpectStep(counter, 1000, 525'000'000, 525);
  ExpectDropped(counter, 2000, 525'000'000 + 525'000'001);
}

TEST(ParseMicrojoulesTest, TakesDigitsAndTrailingBlanksOnly) {
  EXPECT_EQ(ParseMicrojoules("0\n"), 0U);
  EXPECT_EQ(ParseMicrojoules("262143328850\n"), kRange);
  EXPECT_EQ(ParseMicrojoules("12 \n\n"), 12U);
  EXPECT_EQ(ParseMicrojoules("18446744073709551615"), 18446744073709551615U);
  EXPECT_FALSE(ParseMicrojoules("18446744073709551616"));
  EXPECT_FALSE(ParseMicrojoules(""));
  EXPECT_FALSE(ParseMicrojoules("\n"));
  EXPECT_FALSE(ParseMicrojoules(" 1"));
  EXPECT_FALSE(ParseMicrojoules("-1"));
  EXPECT_FALSE(ParseMicrojoules("1.5"));
  EXPECT_FALSE(ParseMicrojoules("1 2"));
  EXPECT_FALSE(ParseMicrojoules("0x10"));
}

}  // namespace
}  // namespace lowtide
