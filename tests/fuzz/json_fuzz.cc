#include <cstdint>
#include <string>

#include "base/json.h"

// Whatever parses can be dumped, and the dump parses to the same text again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto value = lowtide::ParseJson(text, "fuzz");
  if (!value) return 0;
  for (const char* key : {"type", "epoch", ""}) {
    lowtide::JsonNumber(*value, key);
    lowtide::JsonString(*value, key);
    lowtide::JsonBool(*value, key);
  }
  const std::string dumped = lowtide::DumpJson(*value);
  if (dumped.find('\n') != std::string::npos) __builtin_trap();
  const auto again = lowtide::ParseJson(dumped, "again");
  if (!again || lowtide::DumpJson(*again) != dumped) __builtin_trap();
  return 0;
}
