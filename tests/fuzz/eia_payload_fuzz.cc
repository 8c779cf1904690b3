#include <cstdint>
#include <string_view>

#include "grid/providers/eia_payload.h"
#include "mix_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto out = lowtide::ParseEia({reinterpret_cast<const char*>(data), size});
  lowtide::CheckError(out);
  if (!out) return 0;
  if (out->row_count != static_cast<std::int64_t>(out->rows.size())) __builtin_trap();
  lowtide::CheckMix(out->rows);
  return 0;
}
