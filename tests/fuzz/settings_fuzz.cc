#include "settings.h"

#include <cstdint>
#include <string>

// Whatever parses has keys with values and says where it stands.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto settings = lowtide::cli::ParseSettings(std::string(data, data + size), "lowtide.toml");
  if (!settings) {
    if (!settings.error().message.starts_with("lowtide.toml:")) __builtin_trap();
    return 0;
  }
  for (const auto& setting : *settings) {
    if (!setting.origin.starts_with("lowtide.toml:")) __builtin_trap();
    for (const auto& value : setting.values) {
      if (value.empty()) __builtin_trap();
    }
  }
  return 0;
}
