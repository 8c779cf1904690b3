#include "text_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lowtide::cli {
namespace {

constexpr std::array<const char*, 9> kEighths = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 9> kAscii = {" ", ".", ".", ":", ":", ":", "#", "#", "#"};
constexpr int kLabel = 6;  // width of the numbers on the left

// A round number at or above `value`: 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten.
double RoundUp(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (value <= step * power * (1 + 1e-9)) return step * power;
  }
  return 10 * power;
}

std::vector<std::optional<double>> Columns(const Series<GramsPerKwh>& series, TimePoint from,
                                           TimePoint to, int count) {
  std::vector<std::optional<double>> out;
  const auto span = (to - from).count();
  for (int i = 0; i < count; ++i) {
    const TimePoint a = from + std::chrono::milliseconds(span * i / count);
    const TimePoint b = from + std::chrono::milliseconds(span * (i + 1) / count);
    const auto mean = MeanOver(series, a, b);
    out.push_back(mean.value ? std::optional(mean.value->v) : std::nullopt);
  }
  return out;
}

// The days below the columns at which they begin, and the hour of the first column.
std::string DayLine(TimePoint from, TimePoint to, int count) {
  std::string line(static_cast<std::size_t>(count), ' ');
  const auto put = [&](int column, const std::string& text) {
    const auto at = static_cast<std::size_t>(column);
    if (at + text.size() > line.size()) return;
    // A blank before and after, so that no two labels touch.
    const std::size_t first = at == 0 ? 0 : at - 1;
    if (line.find_first_not_of(' ', first) < at + text.size() + 1) return;
    line.replace(at, text.size(), text);
  };
  const auto span = (to - from).count();
  put(0, FormatTime(from).substr(5, 11).replace(5, 1, " "));
  for (TimePoint day = std::chrono::floor<std::chrono::days>(from) + std::chrono::days(1); day < to;
       day += std::chrono::days(1)) {
    put(static_cast<int>((day - from).count() * count / span), FormatTime(day).substr(5, 5));
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace

ChartStyle ChartStyleOf(const std::optional<std::string>& lc_all,
                        const std::optional<std::string>& lc_ctype,
                        const std::optional<std::string>& lang) {
  for (const auto* variable : {&lc_all, &lc_ctype, &lang}) {
    if (!*variable || (*variable)->empty()) continue;  // an empty one counts as not set
    std::string lower = **variable;
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool utf8 =
        lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
    return utf8 ? ChartStyle::kUnicode : ChartStyle::kPlain;
  }
  return ChartStyle::kPlain;
}

std::string BarChart(const Series<GramsPerKwh>& series, TimePoint from, TimePoint to,
                     const ChartOptions& options) {
  if (from >= to || options.height < 1 || options.width < 1) return {};
  const auto hours = std::chrono::ceil<std::chrono::hours>(to - from).count();
  const int count = static_cast<int>(std::clamp<std::int64_t>(hours, 1, options.width));
  const auto columns = Columns(series, from, to, count);
  double highest = 0;
  for (const auto& value : columns) highest = std::max(highest, value.value_or(0));
  const double top = RoundUp(highest);
  const auto& glyphs = options.style == ChartStyle::kUnicode ? kEighths : kAscii;
  const char* const axis = options.style == ChartStyle::kUnicode ? "┤" : "|";

  std::string out;
  for (int row = options.height - 1; row >= 0; --row) {
    const bool labelled = row == options.height - 1 || row == options.height / 2 - 1 || row == 0;
    const double value = row == 0 ? 0 : top * (row + 1) / options.height;
    std::string line = labelled ? fmt::format("{:>{}.4g} {}", value, kLabel, axis)
                                : fmt::format("{:>{}} {}", "", kLabel, axis);
    for (const auto& column : columns) {
      if (!column) {
        line += ' ';
        continue;
      }
      const double eighths = std::max(*column, 0.0) / top * options.height * 8 - row * 8;
      // Something that is there is seen, however small.
      const int least = row == 0 ? 1 : 0;
      line += glyphs[static_cast<std::size_t>(
          std::clamp(static_cast<int>(std::lround(eighths)), least, 8))];
    }
    while (line.ends_with(' ')) line.pop_back();
    if (row == options.height - 1) line += "  " + options.unit;
    out += line + "\n";
  }
  out += std::string(kLabel + 2, ' ') + DayLine(from, to, count) + "\n";
  return out;
}

}  // namespace lowtide::cli
