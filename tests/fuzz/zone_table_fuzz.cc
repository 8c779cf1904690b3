#include <cstdint>
#include <string>

#include "grid/zone_table.h"

// The input is the three tables with a line "---" between them, and after another one a text to
// resolve. Whatever parses resolves its own keys and regions, and to zones of the table only.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string rest(data, data + size);
  std::string parts[4];
  for (int i = 0; i < 3; ++i) {
    const auto at = rest.find("---\n");
    if (at == std::string::npos) return 0;
    parts[i] = rest.substr(0, at);
    rest.erase(0, at + 4);
  }
  parts[3] = rest;
  const auto table = lowtide::ZoneTable::Parse(parts[0], parts[1], parts[2]);
  if (!table) return 0;
  for (const auto& region : table->Regions()) {
    if (table->Find(region.zone.key) == nullptr) __builtin_trap();
  }
  const auto resolved = table->Resolve(parts[3]);
  if (resolved && table->Find(resolved->key) == nullptr) __builtin_trap();
  if (!resolved && resolved.error().message.empty()) __builtin_trap();
  const auto near = table->Near({0, 0}, 3);
  for (const auto& zone : near) {
    if (!(zone.distance_km >= 0 && zone.distance_km < 20100)) __builtin_trap();
  }
  return 0;
}
