#include <cstdint>
#include <string_view>

#include "grid/providers/energy_charts_payload.h"
#include "payload_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto values :
       {lowtide::EnergyChartsValues::kActual, lowtide::EnergyChartsValues::kForecast}) {
    const auto out = lowtide::ParseEnergyCharts(text, values);
    lowtide::CheckError(out);
    if (out) lowtide::CheckPayload(*out);
  }
  return 0;
}
