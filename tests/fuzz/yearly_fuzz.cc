#include <cstdint>
#include <string>

#include "grid/sources/yearly_source.h"

// The input is the two tables with a line "---" between them. In what parses every country has a
// plausible value or none, and is found exactly when it has one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const std::string separator = "\n---\n";
  const auto at = text.find(separator);
  if (at == std::string::npos) return 0;
  const auto table =
      lowtide::YearlyTable::Parse(text.substr(0, at + 1), text.substr(at + separator.size()));
  if (!table) return 0;
  for (const auto& average : table->Averages()) {
    if (average.value && !(average.value->v > 0 && average.value->v <= 5000)) __builtin_trap();
    if (average.year < 1990 || average.year > 2100) __builtin_trap();
    const auto source = table->MakeSource(lowtide::Zone{average.iso2 + "-PART"});
    if (source.has_value() != average.value.has_value()) __builtin_trap();
    if (table->MakeSource(lowtide::Zone{average.iso3})) __builtin_trap();
  }
  return 0;
}
