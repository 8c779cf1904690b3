#include <cstdint>
#include <string_view>

#include "grid/providers/carbon_aware_sdk_payload.h"
#include "payload_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto emissions = lowtide::ParseSdkEmissions(text);
  lowtide::CheckError(emissions);
  if (emissions) lowtide::CheckPayload(*emissions);
  const auto forecast = lowtide::ParseSdkForecast(text);
  lowtide::CheckError(forecast);
  if (forecast) lowtide::CheckPayload(*forecast);
  return 0;
}
