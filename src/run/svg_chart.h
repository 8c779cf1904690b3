// Small charts as SVG text. Colours come from CSS classes of the page (see kChartCss), so that one
// picture serves light, dark and print.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lowtide {

// Escapes &, <, >, " and ' for HTML and SVG text and attributes.
std::string HtmlEscape(std::string_view text);

struct ChartTick {
  double at = 0;
  std::string label;
};

struct ChartAxis {
  double low = 0;
  double high = 1;  // above `low`
  std::vector<ChartTick> ticks;
  std::string title;
};

// From 0 (or below, for negative values) to at least `high`, with ticks at 1, 2 or 5 times a power
// of ten.
ChartAxis MakeValueAxis(double high, int max_ticks, std::string title);
// [from_ms, to_ms] in Unix milliseconds, with ticks at round UTC times.
ChartAxis MakeTimeAxis(double from_ms, double to_ms, int max_ticks, std::string title);

struct ChartPoint {
  double x = 0;
  double y = 0;
};

// A value between `low` and `high` around x.
struct ChartBandPoint {
  double x = 0;
  double low = 0;
  double high = 0;
};

struct ChartBar {
  double from = 0;  // on the x axis
  double to = 0;
  double value = 0;
  std::string tip;  // shown on hovering
};

// A rectangle of a chart with its two axes. Coordinates are pixels of the view box.
struct ChartPanel {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
  ChartAxis x;
  ChartAxis y;

  double X(double value) const { return left + (value - x.low) / (x.high - x.low) * width; }
  double Y(double value) const {
    return top + height - (value - y.low) / (y.high - y.low) * height;
  }
};

class SvgChart {
 public:
  // `description` is read to those who cannot see the picture.
  SvgChart(double width, double height, std::string_view description);

  enum class XLabels { kShown, kHidden };
  void Grid(const ChartPanel& panel, XLabels x_labels);
  // `colour` is the name of a class: "c1" ... "c4".
  void Line(const ChartPanel& panel, const std::vector<ChartPoint>& points,
            std::string_view colour);
  void Band(const ChartPanel& panel, const std::vector<ChartBandPoint>& points,
            std::string_view colour);
  void Area(const ChartPanel& panel, const std::vector<ChartPoint>& points,
            std::string_view colour);
  void Bars(const ChartPanel& panel, const std::vector<ChartBar>& bars, std::string_view colour);
  void VerticalLine(const ChartPanel& panel, double x);
  enum class Anchor { kStart, kMiddle, kEnd };
  void Text(double x, double y, std::string_view text, Anchor anchor, std::string_view css = "");
  void Box(double x, double y, double width, double height, std::string_view colour,
           std::string_view tip);
  // Entries from left to right, starting at (x, y).
  struct LegendEntry {
    std::string colour;
    std::string text;
  };
  void Legend(double x, double y, const std::vector<LegendEntry>& entries);

  std::string Finish() &&;

 private:
  std::string svg_;
};

// The rules that the charts need; custom properties --c1 ... --c4, --ink, --faint, --grid.
std::string_view ChartCss();

}  // namespace lowtide
