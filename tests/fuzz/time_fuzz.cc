#include <cstdint>
#include <string>

#include "base/time.h"

// Whatever parses prints as RFC 3339 that parses to the same moment, and prints the same again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  for (const auto offset : {lowtide::Offset::kRequired, lowtide::Offset::kAssumeUtc}) {
    const auto time = lowtide::ParseTime(text, offset);
    if (!time) continue;
    const std::string printed = lowtide::FormatTime(*time);
    const auto again = lowtide::ParseTime(printed);
    if (!again || *again != *time || lowtide::FormatTime(*again) != printed) __builtin_trap();
  }
  return 0;
}
