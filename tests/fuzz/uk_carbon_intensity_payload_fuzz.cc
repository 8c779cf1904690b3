#include <cstdint>
#include <string_view>

#include "grid/providers/uk_carbon_intensity_payload.h"
#include "payload_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using lowtide::UkValues;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto actual = lowtide::ParseUkCarbonIntensity(text, UkValues::kActual);
  const auto forecast = lowtide::ParseUkCarbonIntensity(text, UkValues::kForecast);
  lowtide::CheckError(actual);
  if (actual.has_value() != forecast.has_value()) __builtin_trap();
  if (!actual) return 0;
  lowtide::CheckPayload(*actual);
  lowtide::CheckPayload(*forecast);
  // What is a forecast is not marked as an estimate of itself.
  for (const auto& slot : forecast->slots) {
    if (slot.estimated) __builtin_trap();
  }
  if (forecast->slots.size() > actual->slots.size()) __builtin_trap();
  return 0;
}
