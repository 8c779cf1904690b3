#include "plan/power_window.h"

#include <gtest/gtest.h>

namespace lowtide {
namespace {

PowerWindow Window(double limit_w, std::int64_t steps, double time_s, double draw_w) {
  return {Watts(limit_w), steps, Seconds(time_s), Joules(draw_w * time_s)};
}

void ExpectPoint(const PowerPoint& point, double limit_w, double throughput_per_s, double draw_w) {
  EXPECT_EQ(point.limit.v, limit_w);
  EXPECT_DOUBLE_EQ(point.throughput_per_s, throughput_per_s) << limit_w << " W";
  EXPECT_DOUBLE_EQ(point.draw.v, draw_w) << limit_w << " W";
}

TEST(PowerWindowTest, WindowsInOrderStayAsTheyAre) {
  const std::vector<PowerWindow> windows = {Window(300, 40, 3, 280), Window(275, 40, 3.7, 271),
                                            Window(250, 41, 4.1, 245.5), Window(225, 40, 4, 223)};
  const auto points = MonotonePoints(windows);
  ASSERT_EQ(points.size(), 4U);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const PowerPoint measured = PointOf(windows[i]);
    EXPECT_EQ(points[i].limit, measured.limit);
    EXPECT_EQ(points[i].throughput_per_s, measured.throughput_per_s);
    EXPECT_EQ(points[i].draw, measured.draw);
  }
}

TEST(PowerWindowTest, ContradictingWindowsCountAsOneLongWindow) {
  // 250 W was faster than 275 W, and longer: 140 steps in 13 s together.
  const auto points =
      MonotonePoints(std::vector{Window(300, 40, 3, 290), Window(275, 40, 4, 270),
                                 Window(250, 100, 9, 245), Window(225, 40, 5, 220)});
  ExpectPoint(points[0], 300, 40 / 3.0, 290);
  ExpectPoint(points[1], 275, 140 / 13.0, 270);
  ExpectPoint(points[2], 250, 140 / 13.0, 245);
  ExpectPoint(points[3], 225, 8, 220);
}

TEST(PowerWindowTest, ThroughputAndDrawArePooledEachByItself) {
  const auto points = MonotonePoints(std::vector{Window(300, 40, 4, 250), Window(275, 40, 4, 260),
                                                 Window(250, 40, 5, 240), Window(225, 40, 4, 220)});
  ExpectPoint(points[0], 300, 10, 255);
  ExpectPoint(points[1], 275, 10, 255);
  ExpectPoint(points[2], 250, 80 / 9.0, 240);
  ExpectPoint(points[3], 225, 80 / 9.0, 220);
}

TEST(PowerWindowTest, PoolingOnePairMayContradictTheOneBefore) {
  // 8, 6, 9 steps a second: the last two pool to 7.5 and stand; with 14 in their place all pool.
  const auto two =
      MonotonePoints(std::vector{Window(300, 8, 1, 3), Window(275, 6, 1, 2), Window(250, 9, 1, 1)});
  ExpectPoint(two[0], 300, 8, 3);
  ExpectPoint(two[1], 275, 7.5, 2);
  ExpectPoint(two[2], 250, 7.5, 1);
  const auto all = MonotonePoints(
      std::vector{Window(300, 8, 1, 3), Window(275, 6, 1, 2), Window(250, 14, 1, 1)});
  for (const PowerPoint& point : all) EXPECT_DOUBLE_EQ(point.throughput_per_s, 28 / 3.0);
}

TEST(PowerWindowTest, OneWindowOrNoneIsFine) {
  EXPECT_TRUE(MonotonePoints({}).empty());
  const auto one = MonotonePoints(std::vector{Window(300, 8, 2, 280)});
  ASSERT_EQ(one.size(), 1U);
  ExpectPoint(one[0], 300, 4, 280);
}

}  // namespace
}  // namespace lowtide
