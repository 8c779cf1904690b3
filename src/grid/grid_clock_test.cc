#include "grid/grid_clock.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lowtide {
namespace {

using namespace std::chrono_literals;

TimePoint At(std::string_view text) { return *ParseTime(text); }
const TimePoint kStart = At("2026-11-30T08:00Z");

TEST(GridClockTest, IsRealTimeByDefault) {
  const GridClock clock{kStart};
  EXPECT_TRUE(clock.IsReal());
  for (const auto d : {-1h, 0h, 1h, 100000h}) {
    EXPECT_EQ(clock.ToGrid(kStart + d), kStart + d);
    EXPECT_EQ(clock.ToReal(kStart + d), kStart + d);
  }
}

TEST(GridClockTest, MovesAndScales) {
  const TimePoint grid = At("2022-07-01T12:00Z");
  const GridClock clock{kStart, grid, 3600};
  EXPECT_FALSE(clock.IsReal());
  EXPECT_EQ(clock.ToGrid(kStart), grid);
  EXPECT_EQ(clock.ToGrid(kStart + 1s), grid + 1h);
  EXPECT_EQ(clock.ToGrid(kStart + 1500ms), grid + 90min);
  EXPECT_EQ(clock.ToGrid(kStart - 1s), grid - 1h);
  EXPECT_EQ(clock.ToReal(grid + 24h), kStart + 24s);
}

TEST(GridClockTest, ThereAndBackIsTheSameMoment) {
  const GridClock clock{kStart, At("2022-01-01T00:00Z"), 7.3};
  for (int i = -1000; i < 1000; ++i) {
    const TimePoint real = kStart + std::chrono::milliseconds(i * 7919);
    EXPECT_EQ(clock.ToReal(clock.ToGrid(real)), real);
  }
}

TEST(GridClockTest, FarTimesDoNotOverflow) {
  const GridClock clock{kStart, kStart, 1e6};
  EXPECT_GT(clock.ToGrid(FromUnixMillis(std::int64_t{1} << 60)), kStart);
}

TEST(GridClockTest, RefusesImpossibleScales) {
  for (const double scale : {0.0, -1.0, std::nan(""), HUGE_VAL, 2e6}) {
    const auto status = CheckTimeScale(scale);
    ASSERT_FALSE(status) << scale;
    EXPECT_EQ(status.error().code, Code::kInvalidArgument);
  }
  for (const double scale : {1e-3, 1.0, 1e6}) EXPECT_TRUE(CheckTimeScale(scale));
}

}  // namespace
}  // namespace lowtide
