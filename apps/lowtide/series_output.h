// Intensities over time, as the verbs print them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "grid/intensity.h"
#include "grid/zone_table.h"

namespace lowtide::cli {

// g/kWh to a thousandth.
Json IntensityNumber(GramsPerKwh value);

// source, signal, basis, kind.
Json OriginJson(const IntensityOrigin& origin);

// "electricity_maps, average, lifecycle, measured"
std::string DescribeOrigin(const IntensityOrigin& origin, IntensityKind kind);

// Array of {from, to, g_per_kwh, kind}, with p10_g_per_kwh and p90_g_per_kwh where there is a band.
Json SlotsJson(const IntensitySeries& series);

// "12 min", "3 h", "2 days"
std::string AgeText(Seconds age);

// A chart for this terminal, indented; empty where nothing changes in the series.
std::string ChartFor(const IntensitySeries& series, TimePoint from, TimePoint to);

// The slots clipped to [from, to), and how much of it they cover.
struct SeriesSummary {
  std::optional<GramsPerKwh> mean;
  double known_share = 0;
  Sample<GramsPerKwh> lowest{};  // where `mean` is known
  Sample<GramsPerKwh> highest{};
};
SeriesSummary Summarise(const Series<GramsPerKwh>& slots, TimePoint from, TimePoint to);

}  // namespace lowtide::cli
