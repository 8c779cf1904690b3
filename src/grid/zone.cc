#include "grid/zone.h"

#include <fmt/format.h>

#include <algorithm>

namespace lowtide {
namespace {

constexpr std::size_t kLongestKey = 64;

bool IsAlphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool IsKeyCharacter(char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; }

}  // namespace

Result<Zone> ParseZone(std::string_view key) {
  if (key.empty() || key.size() > kLongestKey || !IsAlphanumeric(key.front()) ||
      !std::ranges::all_of(key, IsKeyCharacter)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("'{}' is not a zone key; expected letters, digits, '-', '_' or '.', at "
                            "most {}, such as DE or US-CAL-CISO",
                            key.substr(0, kLongestKey), kLongestKey));
  }
  return Zone{std::string(key)};
}

std::string CountryPart(const Zone& zone) {
  std::string country = zone.key.substr(0, zone.key.find('-'));
  for (char& c : country) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return country;
}

}  // namespace lowtide
