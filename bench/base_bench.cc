// The parsers and the series that every run goes through.
#include <benchmark/benchmark.h>

#include <string>

#include "base/csv.h"
#include "base/series.h"
#include "base/time.h"
#include "base/units.h"

namespace lowtide {
namespace {

constexpr int kYear = 8760;  // hours
constexpr TimePoint kStart = FromUnixMillis(1'640'995'200'000);

std::string YearOfHours() {
  std::string csv = "datetime_utc,ci_direct,ci_lifecycle\n";
  for (int hour = 0; hour < kYear; ++hour) {
    csv += FormatTime(kStart + std::chrono::hours(hour)) + ",401.25,455.5\n";
  }
  return csv;
}

void ParseYearOfCsv(benchmark::State& state) {
  const std::string csv = YearOfHours();
  for (auto _ : state) benchmark::DoNotOptimize(ParseCsv(csv, "year.csv"));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(csv.size()));
}
BENCHMARK(ParseYearOfCsv)->Unit(benchmark::kMillisecond);

void ParseOneTime(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ParseTime("2022-03-15T12:30:00.250+01:00"));
}
BENCHMARK(ParseOneTime);

void MeanOfOneMinuteInAYear(benchmark::State& state) {
  Series<GramsPerKwh> year;
  for (int hour = 0; hour < kYear; ++hour) {
    const TimePoint from = kStart + std::chrono::hours(hour);
    year.push_back({from, from + std::chrono::hours(1), GramsPerKwh(400)});
  }
  const TimePoint from = kStart + std::chrono::hours(4321) + std::chrono::minutes(59);
  for (auto _ : state) {
    benchmark::DoNotOptimize(MeanOver(year, from, from + std::chrono::minutes(2)));
  }
}
BENCHMARK(MeanOfOneMinuteInAYear);

}  // namespace
}  // namespace lowtide
