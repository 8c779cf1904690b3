#include <cstdint>
#include <string>

#include "base/time.h"

// Whatever parses is finite, not negative and can be printed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto duration = lowtide::ParseDuration(std::string(data, data + size));
  if (!duration) return 0;
  if (!(duration->count() >= 0) || duration->count() > 4e9) __builtin_trap();
  if (lowtide::FormatDuration(*duration).empty()) __builtin_trap();
  return 0;
}
