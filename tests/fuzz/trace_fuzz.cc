#include <algorithm>
#include <cstdint>
#include <string>

#include "base/csv.h"
#include "forecast/day_persistence.h"
#include "grid/sources/trace_source.h"
#include "grid/trace.h"

namespace {

using lowtide::GramsPerKwh;
using lowtide::IntensitySeries;
using lowtide::Result;
using lowtide::TimePoint;

bool IsSound(const IntensitySeries& series, double highest) {
  return lowtide::IsWellFormed(series.slots) &&
         std::ranges::all_of(series.slots, [&](const auto& slot) {
           return slot.value.v >= 0 && slot.value.v <= highest;
         });
}

std::string Quoted(const lowtide::CsvTable& table) {
  std::string out;
  const auto append = [&](const std::vector<std::string>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      out += i > 0 ? ",\"" : "\"";
      out += fields[i] + "\"";
    }
    out += "\n";
  };
  append(table.header);
  for (const auto& row : table.rows) append(row.fields);
  return out;
}

bool Agree(const Result<IntensitySeries>& a, const Result<IntensitySeries>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || std::ranges::equal(a->slots, b->slots, [](const auto& x, const auto& y) {
    return x.from == y.from && x.to == y.to && x.value == y.value;
  });
}

}  // namespace

// Text without quotes takes another way through the reader than text with them; both must agree.
// What parses is well formed, and a forecast from the middle of it is, too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const lowtide::Zone zone{"DE"};
  for (const char* column : {"", "ci"}) {
    const auto series = lowtide::ParseTrace(text, "fuzz.csv", column, zone);
    if (text.find('"') == std::string::npos) {
      const auto table = lowtide::ParseCsv(text, "fuzz.csv");
      if (!table && series) __builtin_trap();
      if (table && !Agree(series, lowtide::ParseTrace(Quoted(*table), "fuzz.csv", column, zone))) {
        __builtin_trap();
      }
    }
    if (!series) continue;
    if (series->slots.empty() || !IsSound(*series, 5000)) __builtin_trap();
    const lowtide::TraceSource source(*series);
    const TimePoint now = series->slots[series->slots.size() / 2].from;
    const auto forecast =
        lowtide::DayPersistence().Predict(source, now, now + std::chrono::hours(30), now);
    if (!forecast || !IsSound(*forecast, 10000)) __builtin_trap();
  }
  return 0;
}
