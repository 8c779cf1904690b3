#include <cmath>
#include <cstdint>
#include <string>

#include "forecast/hourly.h"

// What parses has a start on a whole hour and finite columns of one length.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto weather = lowtide::ParseWeather(std::string(data, data + size), "fuzz.csv");
  if (!weather) {
    if (weather.error().message.empty()) __builtin_trap();
    return 0;
  }
  if (weather->start != std::chrono::floor<std::chrono::hours>(weather->start)) __builtin_trap();
  if (weather->Hours() == 0 || weather->Hours() > lowtide::kMaxHours) __builtin_trap();
  if (weather->names.size() != weather->columns.size()) __builtin_trap();
  for (const auto& column : weather->columns) {
    if (column.size() != weather->Hours()) __builtin_trap();
    for (const double value : column) {
      if (!std::isfinite(value)) __builtin_trap();
    }
  }
  return 0;
}
