#include <cstdint>
#include <string_view>

#include "grid/providers/entsoe_payload.h"
#include "mix_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto out = lowtide::ParseEntsoe({reinterpret_cast<const char*>(data), size});
  lowtide::CheckError(out);
  if (!out) return 0;
  for (const auto& row : out->rows) {
    if (row.from >= row.to || row.code.empty()) __builtin_trap();
  }
  // Computing with millions of rows is slow, and no other code.
  if (out->rows.size() < 10'000) lowtide::CheckMix(out->rows);
  return 0;
}
