#include "run/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "base/time.h"
#include "run/quantity_text.h"

namespace lowtide {
namespace {

constexpr double kMinuteMs = 60e3;
constexpr double kHourMs = 3600e3;
constexpr double kDayMs = 86400e3;

// Steps of a time axis that fall on round times.
constexpr std::array kTimeSteps = {
    1e3,        2e3,           5e3,           10e3,           15e3,           30e3,
    kMinuteMs,  2 * kMinuteMs, 5 * kMinuteMs, 10 * kMinuteMs, 15 * kMinuteMs, 30 * kMinuteMs,
    kHourMs,    2 * kHourMs,   3 * kHourMs,   6 * kHourMs,    12 * kHourMs,   kDayMs,
    2 * kDayMs, 5 * kDayMs,    10 * kDayMs,   30 * kDayMs,    100 * kDayMs,   365 * kDayMs};

// The step at which `span` has at most `max_ticks` of them: 1, 2 or 5 times a power of ten.
double NiceStep(double span, int max_ticks) {
  const double raw = span / max_ticks;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string TickLabel(double value) {
  std::string text = fmt::format("{:.6g}", value);
  return text == "-0" ? "0" : text;
}

std::string TimeLabel(double ms, double step, bool first_of_day) {
  const std::string text =
      FormatTime(FromUnixMillis(static_cast<std::int64_t>(std::llround(ms / 1000) * 1000)));
  if (step >= kDayMs) return text.substr(0, 10);
  const std::string clock = text.substr(11, step < kMinuteMs ? 8 : 5);
  return first_of_day ? text.substr(5, 5) + " " + clock : clock;
}

std::string_view AnchorName(SvgChart::Anchor anchor) {
  switch (anchor) {
    case SvgChart::Anchor::kStart: return "start";
    case SvgChart::Anchor::kMiddle: return "middle";
    case SvgChart::Anchor::kEnd: return "end";
  }
  return "start";
}

}  // namespace

std::string HtmlEscape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      case '\0': break;
      default: out += c;
    }
  }
  return out;
}

ChartAxis MakeValueAxis(double high, int max_ticks, std::string title) {
  ChartAxis axis;
  axis.title = std::move(title);
  if (!(high > 0) || !std::isfinite(high)) high = 1;
  const double step = NiceStep(high, max_ticks);
  const int count = static_cast<int>(std::ceil(high / step - 1e-9));
  axis.high = step * count;
  for (int i = 0; i <= count; ++i) axis.ticks.push_back({step * i, TickLabel(step * i)});
  return axis;
}

ChartAxis MakeTimeAxis(double from_ms, double to_ms, int max_ticks, std::string title) {
  ChartAxis axis;
  axis.title = std::move(title);
  axis.low = from_ms;
  axis.high = to_ms > from_ms ? to_ms : from_ms + 1000;
  const double raw = (axis.high - axis.low) / max_ticks;
  const auto found = std::ranges::lower_bound(kTimeSteps, raw);
  const double step = found != kTimeSteps.end() ? *found : std::ceil(raw / kDayMs) * kDayMs;
  double previous_day = std::nan("");
  const double first = std::ceil(axis.low / step) * step;
  for (int i = 0; i <= max_ticks && first + i * step <= axis.high; ++i) {
    const double at = first + i * step;
    const double day = std::floor(at / kDayMs);
    axis.ticks.push_back({at, TimeLabel(at, step, day != previous_day)});
    previous_day = day;
  }
  return axis;
}

SvgChart::SvgChart(double width, double height, std::string_view description) {
  svg_ = fmt::format(
      "<svg viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"{}\" "
      "xmlns=\"http://www.w3.org/2000/svg\">\n",
      width, height, HtmlEscape(description));
}

void SvgChart::Grid(const ChartPanel& panel, XLabels x_labels) {
  const double bottom = panel.top + panel.height;
  for (const ChartTick& tick : panel.y.ticks) {
    const double y = panel.Y(tick.at);
    svg_ += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}h{:.1f}\"/>\n", panel.left, y,
                        panel.width);
    Text(panel.left - 8, y + 4, tick.label, Anchor::kEnd, "tick");
  }
  for (const ChartTick& tick : panel.x.ticks) {
    const double x = panel.X(tick.at);
    svg_ += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}v4\"/>\n", x, bottom);
    if (x_labels == XLabels::kShown) Text(x, bottom + 18, tick.label, Anchor::kMiddle, "tick");
  }
  svg_ += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}h{:.1f}\"/>\n", panel.left, bottom,
                      panel.width);
  if (x_labels == XLabels::kShown) {
    Text(panel.left + panel.width, bottom + 36, panel.x.title, Anchor::kEnd, "title");
  }
  Text(panel.left, panel.top - 8, panel.y.title, Anchor::kStart, "title");
}

void SvgChart::Line(const ChartPanel& panel, const std::vector<ChartPoint>& points,
                    std::string_view colour) {
  if (points.empty()) return;
  std::string path;
  for (const ChartPoint& p : points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", panel.X(p.x), panel.Y(p.y));
  }
  svg_ += fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", colour, path);
}

void SvgChart::Band(const ChartPanel& panel, const std::vector<ChartBandPoint>& points,
                    std::string_view colour) {
  if (points.size() < 2) return;
  std::string path;
  for (const ChartBandPoint& p : points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", panel.X(p.x), panel.Y(p.high));
  }
  for (auto p = points.rbegin(); p != points.rend(); ++p) {
    path += fmt::format("L{:.1f} {:.1f}", panel.X(p->x), panel.Y(p->low));
  }
  svg_ += fmt::format("<path class=\"band {}\" d=\"{}Z\"/>\n", colour, path);
}

void SvgChart::Area(const ChartPanel& panel, const std::vector<ChartPoint>& points,
                    std::string_view colour) {
  std::vector<ChartBandPoint> band;
  band.reserve(points.size());
  for (const ChartPoint& p : points) band.push_back({p.x, panel.y.low, p.y});
  Band(panel, band, colour);
}

void SvgChart::Bars(const ChartPanel& panel, const std::vector<ChartBar>& bars,
                    std::string_view colour) {
  for (const ChartBar& bar : bars) {
    const double left = panel.X(bar.from);
    const double width = std::max(0.5, panel.X(bar.to) - left);
    const double gap = width > 6 ? 1.5 : 0;
    const double top = panel.Y(bar.value);
    Box(left + gap, top, width - 2 * gap, panel.top + panel.height - top, colour, bar.tip);
  }
}

void SvgChart::VerticalLine(const ChartPanel& panel, double x) {
  svg_ += fmt::format("<path class=\"mark\" d=\"M{:.1f} {:.1f}v{:.1f}\"/>\n", panel.X(x), panel.top,
                      panel.height);
}

void SvgChart::Text(double x, double y, std::string_view text, Anchor anchor,
                    std::string_view css) {
  svg_ += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, AnchorName(anchor),
      css.empty() ? std::string() : fmt::format(" class=\"{}\"", css), HtmlEscape(text));
}

void SvgChart::Box(double x, double y, double width, double height, std::string_view colour,
                   std::string_view tip) {
  svg_ += fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
      "<title>{}</title></rect>\n",
      colour, x, y, std::max(0.0, width), std::max(0.0, height), HtmlEscape(tip));
}

void SvgChart::Legend(double x, double y, const std::vector<LegendEntry>& entries) {
  constexpr double kCharacter = 6.6;  // mean width at 12 px
  for (const LegendEntry& entry : entries) {
    svg_ +=
        fmt::format("<path class=\"line {}\" d=\"M{:.1f} {:.1f}h18\"/>\n", entry.colour, x, y - 4);
    Text(x + 24, y, entry.text, Anchor::kStart);
    x += 48 + kCharacter * static_cast<double>(entry.text.size());
  }
}

std::string SvgChart::Finish() && { return std::move(svg_) + "</svg>\n"; }

std::string_view ChartCss() {
  return "svg{display:block;width:100%;height:auto}"
         "svg text{font-size:12px;fill:var(--ink)}"
         "svg .tick{fill:var(--faint)}svg .title{fill:var(--faint)}"
         "svg .strong{font-weight:600}"
         "svg .grid{stroke:var(--grid);fill:none}svg .axis{stroke:var(--faint);fill:none}"
         "svg .mark{stroke:var(--grid);fill:none;stroke-dasharray:2 3}"
         "svg .line{fill:none;stroke-width:1.6;stroke-linejoin:round}"
         "svg .band{stroke:none;fill-opacity:.22}"
         "svg .line.c1{stroke:var(--c1)}svg .line.c2{stroke:var(--c2)}"
         "svg .line.c3{stroke:var(--c3)}svg .line.c4{stroke:var(--c4)}"
         "svg .line.c2{stroke-dasharray:6 3}"
         "svg .band.c1,svg rect.c1{fill:var(--c1)}svg .band.c2,svg rect.c2{fill:var(--c2)}"
         "svg .band.c3,svg rect.c3{fill:var(--c3)}svg .band.c4,svg rect.c4{fill:var(--c4)}"
         "svg rect.c5{fill:var(--faint)}";
}

}  // namespace lowtide
