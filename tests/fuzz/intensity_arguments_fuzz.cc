#include <cstdint>
#include <string>

#include "grid/max_intensity.h"
#include "grid/trace.h"
#include "grid/zone.h"

// What the options of a command line accept is put together again to what was given.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  if (const auto trace = lowtide::SplitTraceArgument(text)) {
    const std::string again =
        trace->column.empty() ? trace->path : trace->path + ":" + trace->column;
    if (again != text || trace->path.empty()) __builtin_trap();
  }
  if (const auto zone = lowtide::ParseZone(text)) {
    if (zone->key != text || text.empty() || text.size() > 64) __builtin_trap();
    if (text.find_first_of(" /:,\n\"") != std::string::npos) __builtin_trap();
    if (lowtide::CountryPart(*zone).size() > text.size()) __builtin_trap();
  }
  if (const auto maximum = lowtide::ParseMaxCarbonIntensity(text)) {
    if (const auto* number = std::get_if<lowtide::GramsPerKwh>(&*maximum)) {
      if (!(number->v > 0 && number->v <= 5000)) __builtin_trap();
    } else if (const auto window = std::get<lowtide::DynamicMaximum>(*maximum).window;
               !(window >= std::chrono::hours(1) && window <= std::chrono::days(3660))) {
      __builtin_trap();
    }
  }
  return 0;
}
