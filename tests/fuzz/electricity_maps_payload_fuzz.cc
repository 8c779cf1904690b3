#include <cstdint>
#include <string_view>

#include "grid/providers/electricity_maps_payload.h"
#include "payload_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto out = lowtide::ParseElectricityMaps({reinterpret_cast<const char*>(data), size});
  lowtide::CheckError(out);
  if (out) lowtide::CheckPayload(*out);
  return 0;
}
