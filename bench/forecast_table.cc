// Scores the built-in forecasts on five grids by two published protocols and prints the table, with
// what learning and predicting cost. The data may not be redistributed: they are read from
// $LOWTIDE_TEST_DATA/traces/generation-mix (CISO.csv, CISO_weather.csv, ...).
// usage: forecast_table [all|direct|lifecycle|tuning]
// Ends with 1 when a bound of docs/reference/forecasts.md is exceeded.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "forecast/hourly_forecast.h"
#include "forecast/score.h"
#include "grid/trace.h"

namespace {

using namespace lowtide;
using std::chrono::hours;

struct Protocol {
  const char* name;
  const char* region;
  const char* first;  // issue
  int windows;
  double published_direct;  // CarbonCast's mean MAPE in percent; 0: none that was verified
};

// CarbonCast (BuildSys'22) and EnsembleCI (e-Energy'25): daily issues at 00:00 UTC, 96 h.
constexpr std::array<Protocol, 10> kProtocols{{
    {"CarbonCast", "CISO", "2021-07-01T00:00Z", 181, 13.37},
    {"CarbonCast", "PJM", "2021-07-01T00:00Z", 181, 4.80},
    {"CarbonCast", "ERCO", "2021-07-01T00:00Z", 181, 0},
    {"CarbonCast", "DE", "2021-07-01T00:00Z", 181, 0},
    {"CarbonCast", "SE", "2021-07-01T00:00Z", 181, 10.07},
    {"EnsembleCI", "CISO", "2022-07-06T00:00Z", 178, 0},
    {"EnsembleCI", "PJM", "2022-07-06T00:00Z", 178, 0},
    {"EnsembleCI", "ERCO", "2022-07-06T00:00Z", 178, 0},
    {"EnsembleCI", "DE", "2021-07-03T00:00Z", 178, 0},
    {"EnsembleCI", "SE", "2021-07-03T00:00Z", 178, 0},
}};

// The periods that the blend was tuned on; none of the above begins before they end.
constexpr std::array<Protocol, 5> kTuning{{
    {"tuning", "CISO", "2020-07-01T00:00Z", 356, 0},
    {"tuning", "PJM", "2020-07-01T00:00Z", 356, 0},
    {"tuning", "ERCO", "2020-07-01T00:00Z", 356, 0},
    {"tuning", "DE", "2020-10-01T00:00Z", 264, 0},
    {"tuning", "SE", "2020-07-01T00:00Z", 356, 0},
}};

struct Grid {
  std::map<std::string, HourlySeries> series;  // by column
  Weather weather;
};

Result<Grid> Load(const std::string& folder, const std::string& region) {
  Grid grid;
  LOWTIDE_TRY(const std::string text, ReadFile(folder + region + ".csv"));
  for (const char* column : {"ci_direct", "ci_lifecycle"}) {
    LOWTIDE_TRY(const IntensitySeries trace, ParseTrace(text, region + ".csv", column, {}));
    const auto& slots = trace.slots;
    LOWTIDE_TRY(grid.series[column], ToHourly(slots, slots.front().from, slots.back().to));
  }
  LOWTIDE_TRY(const std::string weather, ReadFile(folder + region + "_weather.csv"));
  LOWTIDE_TRY(grid.weather, ParseWeather(weather, region + "_weather.csv"));
  return grid;
}

struct Row {
  ForecastScore score;
  double seconds = 0;
};

Result<Row> Measure(const HourlySeries& series, const Weather* weather, ForecastMethod method,
                    std::size_t first, int windows, std::size_t every = 24) {
  HourlyRequest request;
  request.intensity = &series;
  request.weather = weather;
  request.method = method;
  request.train_until = first;
  for (int k = 0; k < windows; ++k) {
    request.issues.push_back(first + static_cast<std::size_t>(k) * every);
  }
  // Processor time: all of it is spent in this thread, and other programs do not disturb it.
  const std::clock_t before = std::clock();
  LOWTIDE_TRY(const auto forecasts, ForecastHours(request));
  const auto took = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  return Row{Score(series, forecasts), took};
}

struct Totals {
  double gain_without = 0;  // sums of percentages over `rows`
  double gain_with = 0;
  int rows = 0;
  double least_coverage = 100;
  double greatest_coverage = 0;
  bool failed = false;
};

std::string Published(const Protocol& p, bool direct) {
  return direct && p.published_direct > 0 ? fmt::format("{:10.2f}", p.published_direct)
                                          : fmt::format("{:>10}", "-");
}

Status PrintRow(const Protocol& p, const std::string& column, const Grid& grid, Totals& totals) {
  const HourlySeries& series = grid.series.at(column);
  LOWTIDE_TRY(const TimePoint start, ParseTime(p.first));
  const auto first = static_cast<std::size_t>((start - series.start) / hours(1));
  struct Column {
    ForecastMethod method;
    const Weather* weather;
  };
  const std::array<Column, 6> columns{{{ForecastMethod::kPersistence, nullptr},
                                       {ForecastMethod::kWeekly, nullptr},
                                       {ForecastMethod::kRidge, nullptr},
                                       {ForecastMethod::kBlend, nullptr},
                                       {ForecastMethod::kRidge, &grid.weather},
                                       {ForecastMethod::kBlend, &grid.weather}}};
  std::array<Row, 6> rows;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    LOWTIDE_TRY(rows[k], Measure(series, columns[k].weather, columns[k].method, first, p.windows));
  }
  const bool direct = column == "ci_direct";
  fmt::print("{:10} {:9} {:5}", p.name, direct ? "direct" : "lifecycle", p.region);
  for (const Row& row : rows) fmt::print(" {:10.2f}", row.score.mape_pct.value_or(-1));
  fmt::print(" {}", Published(p, direct));
  for (const std::size_t k : {std::size_t{3}, std::size_t{5}}) {
    const double ridge = *rows[k - 1].score.mape_pct;
    const double blend = *rows[k].score.mape_pct;
    const double coverage = rows[k].score.coverage_pct.value_or(0);
    fmt::print(" {:+6.1f}% {:5.1f}%", 100 * (blend / ridge - 1), coverage);
    (k == 3 ? totals.gain_without : totals.gain_with) += 100 * (blend / ridge - 1);
    totals.least_coverage = std::min(totals.least_coverage, coverage);
    totals.greatest_coverage = std::max(totals.greatest_coverage, coverage);
    if (direct && p.published_direct > 0 && blend >= p.published_direct) totals.failed = true;
  }
  ++totals.rows;
  fmt::print("\n");
  if (std::getenv("LOWTIDE_BENCH_DAYS") != nullptr) {
    for (const Row& row : rows) {
      fmt::print("   ");
      for (const auto& day : row.score.mape_pct_by_day) fmt::print(" {:.2f}", day.value_or(-1));
      fmt::print(" / {:.2f} g, {:.1f} %, {:.2f} s\n", row.score.mae.value_or(-1),
                 row.score.coverage_pct.value_or(-1), row.seconds);
    }
  }
  return {};
}

Result<int> Run(const std::string& folder, const std::string& which) {
  std::map<std::string, Grid> grids;
  fmt::print(
      "mean absolute percentage error over 96 h; blend against ridge, and the share of "
      "outcomes in its 80 % band\n");
  fmt::print("{:10} {:9} {:5} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>14} {:>14}\n",
             "protocol", "basis", "zone", "persist", "weekly", "ridge", "blend", "ridge+wx",
             "blend+wx", "CarbonCast", "without wx", "with wx");
  Totals totals;
  std::vector<Protocol> protocols(kProtocols.begin(), kProtocols.end());
  if (which == "tuning") protocols.assign(kTuning.begin(), kTuning.end());
  if (which == "time") protocols.resize(1);
  for (const Protocol& p : protocols) {
    if (!grids.contains(p.region)) {
      LOWTIDE_TRY(grids[p.region], Load(folder, p.region));
    }
    for (const std::string column : {"ci_direct", "ci_lifecycle"}) {
      if ((which == "direct" || which == "lifecycle") && column != "ci_" + which) continue;
      LOWTIDE_TRY_STATUS(PrintRow(p, column, grids[p.region], totals));
    }
  }
  const double without = totals.gain_without / totals.rows;
  const double with = totals.gain_with / totals.rows;
  fmt::print(
      "blend against ridge, mean: without weather {:+.1f} % (bound: 0), with it {:+.1f} % (bound: "
      "-5), both {:+.1f} %; coverage {:.1f} to {:.1f} % (bound: 75 to 85)\n",
      without, with, (without + with) / 2, totals.least_coverage, totals.greatest_coverage);
  const Grid& grid = grids.at("CISO");
  const HourlySeries& series = grid.series.at("ci_direct");
  constexpr std::size_t kThreeYears = std::size_t{3} * 365 * 24;
  constexpr std::size_t kYear = std::size_t{365} * 24;
  HourlySeries three{series.start, {series.values.begin(), series.values.begin() + kThreeYears}};
  // The best of three, for the first ones fill the caches.
  double once = 1e9;
  for (int k = 0; k < 3; ++k) {
    LOWTIDE_TRY(const Row one,
                Measure(three, &grid.weather, ForecastMethod::kBlend, kThreeYears, 1));
    once = std::min(once, one.seconds);
  }
  LOWTIDE_TRY(const Row year, Measure(series, &grid.weather, ForecastMethod::kBlend,
                                      series.values.size() - kYear - 96, 365));
  fmt::print(
      "learning from three years and predicting once: {:.3f} s of one core (bound: 0.3); a year of "
      "daily "
      "issues: {:.2f} s (bound: 3)\n",
      once, year.seconds);
  const bool held = without <= 0 && with <= -5 && totals.least_coverage >= 75 &&
                    totals.greatest_coverage <= 85 && once < 0.3 && year.seconds < 3 &&
                    !totals.failed;
  return held ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* data = std::getenv("LOWTIDE_TEST_DATA");
  if (data == nullptr) {
    fmt::print("skipped: LOWTIDE_TEST_DATA is not set; the grids' data may not be redistributed\n");
    return 0;
  }
  const auto code = Run(std::string(data) + "/traces/generation-mix/", argc > 1 ? argv[1] : "all");
  if (!code) {
    fmt::print(stderr, "forecast_table: {}\n", code.error().message);
    return 1;
  }
  return *code;
}
