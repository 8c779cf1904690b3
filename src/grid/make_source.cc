#include "grid/make_source.h"

#include <fmt/format.h>

#include "grid/sources/constant_source.h"
#include "grid/sources/no_source.h"
#include "grid/sources/trace_source.h"
#include "grid/sources/yearly_source.h"
#include "grid/zone.h"

namespace lowtide {
namespace {

constexpr std::string_view kNothingGiven =
    "no zone, trace or intensity given; energy is reported without carbon";

}  // namespace

Result<GramsPerKwh> CheckedIntensity(double g_per_kwh) {
  if (g_per_kwh >= 0 && g_per_kwh <= kHighestIntensity.v) return GramsPerKwh(g_per_kwh);
  return Fail(Code::kInvalidArgument,
              fmt::format("intensity {} g/kWh is out of range; allowed are 0 to {}", g_per_kwh,
                          kHighestIntensity.v));
}

Result<std::unique_ptr<Source>> MakeSource(const IntensityOptions& options) {
  Zone zone;
  if (!options.zone.empty()) {
    LOWTIDE_TRY(zone, ParseZone(options.zone));
  }
  if (options.constant_g_per_kwh && options.trace_argument) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("an intensity ({} g/kWh) and a trace ('{}') were both given; a run uses "
                    "one of them",
                    *options.constant_g_per_kwh, *options.trace_argument));
  }
  if (options.constant_g_per_kwh) {
    LOWTIDE_TRY(const GramsPerKwh value, CheckedIntensity(*options.constant_g_per_kwh));
    IntensityOrigin origin;
    origin.source = fmt::format("constant:{}", value.v);
    origin.zone = zone;
    origin.kind = IntensityKind::kConstant;
    return std::make_unique<ConstantSource>(std::move(origin), value);
  }
  if (options.trace_argument) return TraceSource::Open(*options.trace_argument, zone);
  if (zone.key.empty()) return std::make_unique<NoSource>(zone, std::string(kNothingGiven));
  if (options.yearly_averages == YearlyAverages::kRefuse) {
    return std::make_unique<NoSource>(
        zone, fmt::format("only a yearly average is known for zone {}, and those are not wanted; "
                          "energy is reported without carbon",
                          zone.key));
  }
  LOWTIDE_TRY(const YearlyTable table,
              YearlyTable::Parse(options.countries_csv, options.yearly_intensity_csv));
  return table.MakeSource(zone);
}

std::optional<std::string> WhyNoIntensity(const Source& source) {
  const auto* none = dynamic_cast<const NoSource*>(&source);
  if (none == nullptr) return std::nullopt;
  return none->Reason();
}

}  // namespace lowtide
