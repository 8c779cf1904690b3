// Zeus's profile JSON, Lowtide's power curves and the curves in reports.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "power_curve_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto curve = lowtide::ReadPowerCurve(text, "curve.json");
  lowtide::CheckCurve(curve);
  if (!curve) return 0;
  const auto again = lowtide::ReadPowerCurve(lowtide::WritePowerCurve(*curve), "again.json");
  lowtide::Must(again.has_value() && again->gpus == curve->gpus &&
                again->points.size() == curve->points.size());
  return 0;
}
