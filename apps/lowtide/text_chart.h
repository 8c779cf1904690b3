// Charts of characters, for terminals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/series.h"
#include "base/time.h"
#include "base/units.h"

namespace lowtide::cli {

enum class ChartStyle : std::uint8_t {
  kUnicode,  // eighths of a block
  kPlain,    // ASCII
};

// kUnicode when the locale's variables (LC_ALL, LC_CTYPE, LANG) say UTF-8.
ChartStyle ChartStyleOf(const std::optional<std::string>& lc_all,
                        const std::optional<std::string>& lc_ctype,
                        const std::optional<std::string>& lang);

struct ChartOptions {
  ChartStyle style = ChartStyle::kUnicode;
  int height = 8;  // lines
  int width = 72;  // columns of bars at most
  std::string unit = "g/kWh";
};

// Bars over [from, to), one column for each equal stretch, of the time-weighted mean; a gap is an
// empty column. Scaled from 0. The days are named below (UTC). Ends with a line break.
std::string BarChart(const Series<GramsPerKwh>& series, TimePoint from, TimePoint to,
                     const ChartOptions& options);

}  // namespace lowtide::cli
