#include <cstdint>
#include <string>
#include <string_view>

#include "base/csv.h"
#include "device/cpu_model/tdp_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = lowtide::TdpTable::Parse(text, "t.csv");
  if (!table) {
    if (table.error().message.empty()) __builtin_trap();
    return 0;
  }
  // Every name is either found, within bounds, or says why not; and none vanishes.
  const auto csv = lowtide::ParseCsv(text, "t.csv");
  const auto name = csv->Find("Name");
  for (const auto& row : csv->rows) {
    const auto entry = table->Find(row.fields[*name]);
    if (entry) {
      if (!(entry->tdp.v > 0 && entry->tdp.v <= 2000)) __builtin_trap();
    } else if (table->RejectedRows().empty()) {
      __builtin_trap();
    }
  }
  return 0;
}
