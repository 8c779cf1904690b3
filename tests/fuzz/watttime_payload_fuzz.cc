#include <cstdint>
#include <string_view>

#include "grid/providers/watttime_payload.h"
#include "payload_checks.h"

// Every answer of the service, whichever it is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto one = lowtide::ParseWattTime(text);
  lowtide::CheckError(one);
  if (one) lowtide::CheckPayload(one->series);
  const auto many = lowtide::ParseWattTimePastForecasts(text);
  lowtide::CheckError(many);
  if (many) {
    for (const auto& forecast : *many) {
      if (!forecast.series.issued_at) __builtin_trap();
      lowtide::CheckPayload(forecast.series);
    }
  }
  const auto token = lowtide::ParseWattTimeToken(text);
  lowtide::CheckError(token);
  if (token && token->empty()) __builtin_trap();
  const auto region = lowtide::ParseWattTimeRegion(text);
  lowtide::CheckError(region);
  if (region && region->empty()) __builtin_trap();
  lowtide::IsWattTimeScopeError(text);
  return 0;
}
