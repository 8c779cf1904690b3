#include <cmath>
#include <cstdint>
#include <string>

#include "forecast/hourly.h"

namespace {

// What parses has a start on a whole hour and finite columns of one length.
void Check(const lowtide::HourlyColumns& columns, double least) {
  if (columns.start != std::chrono::floor<std::chrono::hours>(columns.start)) __builtin_trap();
  if (columns.Hours() == 0 || columns.Hours() > lowtide::kMaxHours) __builtin_trap();
  if (columns.names.size() != columns.columns.size()) __builtin_trap();
  for (const auto& column : columns.columns) {
    if (column.size() != columns.Hours()) __builtin_trap();
    for (const double value : column) {
      if (!std::isfinite(value) || value < least) __builtin_trap();
    }
  }
}

}  // namespace

// Weather, and the generation mix, which is read by the same rules.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto weather = lowtide::ParseWeather(text, "fuzz.csv");
  if (weather) Check(*weather, -1e300);
  if (!weather && weather.error().message.empty()) __builtin_trap();
  const auto mix = lowtide::ParseGenerationMix(text, "fuzz.csv");
  if (mix) Check(*mix, 0);
  if (!mix && mix.error().message.empty()) __builtin_trap();
  return 0;
}
