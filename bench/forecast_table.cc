// Scores the built-in forecasts on five grids by two published protocols and prints the table, with
// what learning and predicting cost. The data may not be redistributed: they are read from
// $LOWTIDE_TEST_DATA/traces/generation-mix (CISO.csv, CISO_weather.csv, ...).
// usage: forecast_table [all|direct|lifecycle|tuning|near|time]
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
#include "forecast/day_persistence.h"
#include "forecast/hourly_forecast.h"
#include "forecast/score.h"
#include "grid/sources/trace_source.h"
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

// Of the blends that know the mix or the weather, against the reference's ridge, in percent.
constexpr double kMostChange = -5;

struct Grid {
  std::map<std::string, HourlySeries> series;  // by column
  Weather weather;
  GenerationMix mix;
};

Result<Grid> Load(const std::string& folder, const std::string& region) {
  Grid grid;
  LOWTIDE_TRY(const std::string text, ReadFile(folder + region + ".csv"));
  for (const char* column : {"ci_direct", "ci_lifecycle"}) {
    LOWTIDE_TRY(const IntensitySeries trace, ParseTrace(text, region + ".csv", column, {}));
    const auto& slots = trace.slots;
    LOWTIDE_TRY(grid.series[column], ToHourly(slots, slots.front().from, slots.back().to));
  }
  LOWTIDE_TRY(grid.mix, ParseGenerationMix(text, region + ".csv"));
  LOWTIDE_TRY(const std::string weather, ReadFile(folder + region + "_weather.csv"));
  LOWTIDE_TRY(grid.weather, ParseWeather(weather, region + "_weather.csv"));
  return grid;
}

struct Row {
  ForecastScore score;
  double seconds = 0;
};

// A method and what it is given.
struct Method {
  const char* name;
  ForecastMethod method;
  bool weather;
  bool mix;
};

constexpr std::array<Method, 8> kMethods{{
    {"persist", ForecastMethod::kPersistence, false, false},
    {"weekly", ForecastMethod::kWeekly, false, false},
    {"ridge", ForecastMethod::kRidge, false, false},
    {"blend", ForecastMethod::kBlend, false, false},
    {"blend+mix", ForecastMethod::kBlend, false, true},
    {"ridge+wx", ForecastMethod::kRidge, true, false},
    {"blend+wx", ForecastMethod::kBlend, true, false},
    {"+wx+mix", ForecastMethod::kBlend, true, true},
}};
constexpr std::size_t kRidge = 2;
constexpr std::size_t kRidgeWeather = 5;

Result<Row> Measure(const HourlySeries& series, const Grid& grid, const Method& method,
                    HourlyRequest request) {
  request.intensity = &series;
  request.method = method.method;
  if (method.weather) request.weather = &grid.weather;
  if (method.mix) request.mix = &grid.mix;
  request.train_until = request.issues.front();
  // Processor time: all of it is spent in this thread, and other programs do not disturb it.
  const std::clock_t before = std::clock();
  LOWTIDE_TRY(const auto forecasts, ForecastHours(request));
  const auto took = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  return Row{Score(series, forecasts), took};
}

HourlyRequest Issues(std::size_t first, int windows, std::size_t every = 24) {
  HourlyRequest request;
  for (int k = 0; k < windows; ++k) {
    request.issues.push_back(first + static_cast<std::size_t>(k) * every);
  }
  return request;
}

std::size_t HourOf(const HourlySeries& series, TimePoint t) {
  return static_cast<std::size_t>((t - series.start) / hours(1));
}

struct Totals {
  std::array<double, kMethods.size()> change{};  // against ridge, sums of percentages over `rows`
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
  std::array<Row, kMethods.size()> rows;
  for (std::size_t k = 0; k < kMethods.size(); ++k) {
    LOWTIDE_TRY(rows[k],
                Measure(series, grid, kMethods[k], Issues(HourOf(series, start), p.windows)));
  }
  const bool direct = column == "ci_direct";
  fmt::print("{:10} {:9} {:5}", p.name, direct ? "direct" : "lifecycle", p.region);
  for (const Row& row : rows) fmt::print(" {:9.2f}", row.score.mape_pct.value_or(-1));
  fmt::print(" {}", Published(p, direct));
  for (std::size_t k = 0; k < kMethods.size(); ++k) {
    if (kMethods[k].method != ForecastMethod::kBlend) continue;
    const double ridge = *rows[kMethods[k].weather ? kRidgeWeather : kRidge].score.mape_pct;
    const double blend = *rows[k].score.mape_pct;
    const double coverage = rows[k].score.coverage_pct.value_or(0);
    fmt::print(" {:+6.1f}% {:5.1f}%", 100 * (blend / ridge - 1), coverage);
    totals.change[k] += 100 * (blend / ridge - 1);
    totals.least_coverage = std::min(totals.least_coverage, coverage);
    totals.greatest_coverage = std::max(totals.greatest_coverage, coverage);
    if (direct && p.published_direct > 0 && blend >= p.published_direct) totals.failed = true;
  }
  ++totals.rows;
  fmt::print("\n");
  if (std::getenv("LOWTIDE_BENCH_DAYS") != nullptr) {
    for (std::size_t k = 0; k < kMethods.size(); ++k) {
      fmt::print("    {:9}", kMethods[k].name);
      for (const auto& day : rows[k].score.mape_pct_by_day) fmt::print(" {:.2f}", day.value_or(-1));
      fmt::print(" / {:.2f} g, {:.1f} %, {:.2f} s\n", rows[k].score.mae.value_or(-1),
                 rows[k].score.coverage_pct.value_or(-1), rows[k].seconds);
    }
  }
  return {};
}

// The coming hours, as a run asks for them at any hour of the day.
constexpr std::size_t kNear = 6;

// Of DayPersistence with what was known when the first hour began.
Result<ForecastScore> NearPersistence(const HourlySeries& series, const HourlyRequest& request) {
  IntensitySeries trace;
  for (std::size_t h = 0; h < series.values.size(); ++h) {
    if (!series.values[h]) continue;
    trace.slots.push_back({series.TimeOf(h), series.TimeOf(h + 1), GramsPerKwh(*series.values[h])});
  }
  const TraceSource source(std::move(trace));
  std::vector<HourlyForecast> forecasts;
  for (const std::size_t issue : request.issues) {
    const TimePoint from = series.TimeOf(issue);
    const TimePoint now = from - std::chrono::milliseconds(1);
    const TimePoint to = series.TimeOf(issue + kNear);
    LOWTIDE_TRY(const IntensitySeries said, DayPersistence().Predict(source, from, to, now));
    LOWTIDE_TRY(const HourlySeries hourly, ToHourly(said.slots, from, to));
    HourlyForecast forecast{issue, {}, {}, {}};
    for (const auto& value : hourly.values) forecast.mid.push_back(value.value_or(0));
    forecasts.push_back(std::move(forecast));
  }
  return Score(series, forecasts);
}

Status PrintNearRow(const Protocol& p, const std::string& column, const Grid& grid,
                    std::array<double, 3>& change) {
  const HourlySeries& series = grid.series.at(column);
  LOWTIDE_TRY(const TimePoint start, ParseTime(p.first));
  // Every 5 hours, so that each hour of the day has its turn.
  HourlyRequest request = Issues(HourOf(series, start), p.windows * 24 / 5, 5);
  request.horizon = kNear;
  LOWTIDE_TRY(const ForecastScore persistence, NearPersistence(series, request));
  fmt::print("{:10} {:9} {:5} {:9.2f}", p.name, column == "ci_direct" ? "direct" : "lifecycle",
             p.region, *persistence.mape_pct);
  std::size_t next = 0;
  for (const Method& method : kMethods) {
    if (method.method != ForecastMethod::kBlend || (method.weather && method.mix)) continue;
    LOWTIDE_TRY(const Row row, Measure(series, grid, method, request));
    const double share = 100 * (*row.score.mape_pct / *persistence.mape_pct - 1);
    fmt::print(" {:9.2f} {:+6.1f}%", *row.score.mape_pct, share);
    change[next++] += share;
  }
  fmt::print("\n");
  return {};
}

struct Costs {
  double once = 1e9;
  double year = 0;
};

Result<Costs> Time(const Grid& grid, const Method& method) {
  const HourlySeries& series = grid.series.at("ci_direct");
  constexpr std::size_t kThreeYears = std::size_t{3} * 365 * 24;
  constexpr std::size_t kYear = std::size_t{365} * 24;
  HourlySeries three{series.start, {series.values.begin(), series.values.begin() + kThreeYears}};
  Costs costs;
  // The best of three, for the first ones fill the caches.
  for (int k = 0; k < 3; ++k) {
    LOWTIDE_TRY(const Row one, Measure(three, grid, method, Issues(kThreeYears, 1)));
    costs.once = std::min(costs.once, one.seconds);
  }
  LOWTIDE_TRY(const Row year,
              Measure(series, grid, method, Issues(series.values.size() - kYear - 96, 365)));
  costs.year = year.seconds;
  return costs;
}

std::vector<std::string> ColumnsOf(const std::string& which) {
  if (which == "direct" || which == "lifecycle") return {"ci_" + which};
  return {"ci_direct", "ci_lifecycle"};
}

// Prints the table; whether its bounds hold.
Result<bool> Accuracy(const std::string& which, const std::vector<Protocol>& protocols,
                      const std::map<std::string, Grid>& grids) {
  fmt::print(
      "mean absolute percentage error over 96 h; then each blend against the ridge that has the "
      "same weather, and the share of outcomes in its 80 % band\n{:10} {:9} {:5}",
      "protocol", "basis", "zone");
  for (const Method& method : kMethods) fmt::print(" {:>9}", method.name);
  fmt::print(" {:>10}", "CarbonCast");
  for (const Method& method : kMethods) {
    if (method.method == ForecastMethod::kBlend) fmt::print(" {:>14}", method.name);
  }
  fmt::print("\n");
  Totals totals;
  for (const Protocol& p : protocols) {
    for (const std::string& column : ColumnsOf(which)) {
      LOWTIDE_TRY_STATUS(PrintRow(p, column, grids.at(p.region), totals));
    }
  }
  bool held = !totals.failed && totals.least_coverage >= 75 && totals.greatest_coverage <= 85;
  fmt::print("against ridge, mean:");
  for (std::size_t k = 0; k < kMethods.size(); ++k) {
    if (kMethods[k].method != ForecastMethod::kBlend) continue;
    const double change = totals.change[k] / totals.rows;
    const double most = kMethods[k].weather || kMethods[k].mix ? kMostChange : 0;
    fmt::print(" {} {:+.1f} % (bound: {:+.0f});", kMethods[k].name, change, most);
    held = held && change <= most;
  }
  fmt::print(" coverage {:.1f} to {:.1f} % (bound: 75 to 85)\n", totals.least_coverage,
             totals.greatest_coverage);
  return held;
}

// Prints how forecasts of a run's coming hours compare; whether the blend is the better one.
Result<bool> Near(const std::string& which, const std::vector<Protocol>& protocols,
                  const std::map<std::string, Grid>& grids) {
  fmt::print(
      "\nmean absolute percentage error of the coming {} h, issued every 5 h: yesterday corrected "
      "by the latest reading, and blends against it\n{:10} {:9} {:5} {:>9} {:>17} {:>17} {:>17}\n",
      kNear, "protocol", "basis", "zone", "yesterday", "blend", "blend+mix", "blend+wx");
  std::array<double, 3> change{};
  int rows = 0;
  for (const Protocol& p : protocols) {
    for (const std::string& column : ColumnsOf(which)) {
      LOWTIDE_TRY_STATUS(PrintNearRow(p, column, grids.at(p.region), change));
      ++rows;
    }
  }
  fmt::print("against yesterday, mean: blend {:+.1f} %; blend+mix {:+.1f} %; blend+wx {:+.1f} %\n",
             change[0] / rows, change[1] / rows, change[2] / rows);
  return change[0] < 0;
}

Result<int> Run(const std::string& folder, const std::string& which) {
  std::vector<Protocol> protocols(kProtocols.begin(), kProtocols.end());
  if (which == "tuning") protocols.assign(kTuning.begin(), kTuning.end());
  std::map<std::string, Grid> grids;
  for (const Protocol& p : protocols) {
    if (grids.contains(p.region)) continue;
    LOWTIDE_TRY(grids[p.region], Load(folder, p.region));
  }
  bool held = true;
  if (which != "time" && which != "near") {
    LOWTIDE_TRY(held, Accuracy(which, protocols, grids));
  }
  if (which != "time") {
    LOWTIDE_TRY(const bool nearer, Near(which, protocols, grids));
    held = held && nearer;
  }
  fmt::print(
      "\nlearning from three years and predicting once (bound: 0.3 s of one core); a year of "
      "daily issues (bound: 3 s)\n");
  for (const Method& method : kMethods) {
    if (method.method == ForecastMethod::kPersistence || method.method == ForecastMethod::kWeekly) {
      continue;
    }
    LOWTIDE_TRY(const Costs costs, Time(grids.at("CISO"), method));
    fmt::print("{:9} {:.3f} s {:.2f} s\n", method.name, costs.once, costs.year);
    held = held && costs.once < 0.3 && costs.year < 3;
  }
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
