#include "text_chart.h"

#include <gtest/gtest.h>

namespace lowtide::cli {
namespace {

const TimePoint kStart = *ParseTime("2026-11-30T22:00:00Z");
TimePoint H(int h) { return kStart + std::chrono::hours(h); }

TEST(BarChart, DrawsOneColumnAnHourAndLeavesGapsEmpty) {
  Series<GramsPerKwh> series;
  for (int h = 0; h < 8; ++h) {
    if (h == 4) continue;
    series.push_back({H(h), H(h + 1), GramsPerKwh(100.0 * (h + 1))});
  }
  ChartOptions options;
  options.height = 4;
  EXPECT_EQ(BarChart(series, H(0), H(8), options),
            "   800 ┤      ▄█  g/kWh\n"
            "       ┤     ███\n"
            "   400 ┤  ▄█ ███\n"
            "     0 ┤▄███ ███\n"
            "          12-01\n")
      << BarChart(series, H(0), H(8), options);
}

TEST(BarChart, PlainTextHasAsciiOnly) {
  const Series<GramsPerKwh> series{{H(0), H(72), GramsPerKwh(50)}};
  ChartOptions options;
  options.style = ChartStyle::kPlain;
  const std::string chart = BarChart(series, H(0), H(72), options);
  for (const char c : chart) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << chart;
  EXPECT_NE(chart.find("12-02"), std::string::npos) << chart;
}

TEST(BarChart, NothingKnownIsAnEmptyFrame) {
  const std::string chart = BarChart({}, H(0), H(2), {});
  EXPECT_EQ(chart.find("█"), std::string::npos);
  EXPECT_EQ(BarChart({}, H(2), H(2), {}), "");
}

TEST(ChartStyle, FollowsTheLocale) {
  EXPECT_EQ(ChartStyleOf({}, {}, "en_US.UTF-8"), ChartStyle::kUnicode);
  EXPECT_EQ(ChartStyleOf("C", {}, "en_US.UTF-8"), ChartStyle::kPlain);
  EXPECT_EQ(ChartStyleOf("", "C.utf8", "C"), ChartStyle::kUnicode);
  EXPECT_EQ(ChartStyleOf({}, {}, {}), ChartStyle::kPlain);
}

}  // namespace
}  // namespace lowtide::cli
