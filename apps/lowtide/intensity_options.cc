#include "intensity_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/csv.h"
#include "base/embedded/embedded.h"
#include "grid/make_source.h"
#include "grid/sources/trace_source.h"
#include "grid/zone.h"
#include "option_checks.h"
#include "zone_tables.h"

namespace lowtide::cli {
namespace {

constexpr const char* kGroup = "Carbon intensity";

Result<double> ParseIntensity(const std::string& text) {
  const auto number = ParseNumber(text);
  if (number && CheckedIntensity(*number)) return *number;
  return Fail(Code::kInvalidArgument,
              fmt::format("--intensity: '{}' is not allowed; give a number from 0 to {}, in g/kWh",
                          text.substr(0, 64), kHighestIntensity.v));
}

}  // namespace

void AddIntensityOptions(CLI::App& app, IntensityFlags& flags) {
  CLI::Option* const constant =
      app.add_option("--intensity", flags.intensity,
                     "Carbon intensity in gCO2e/kWh, the same at all times (default: not set)")
          ->type_name("N")
          ->check(NumberFrom(0, kHighestIntensity.v, "g/kWh"))
          ->group(kGroup)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  // So that one typed drops the other where a setting gives it.
  app.add_option("--trace", flags.trace,
                 "Carbon intensity over time in gCO2e/kWh, from a CSV file with a UTC time in the "
                 "first column; COLUMN defaults to the zone's column, or to the only one (default: "
                 "not set)")
      ->type_name("FILE[:COLUMN]")
      ->excludes(constant)
      ->group(kGroup)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("--zone", flags.zone,
                 "Grid zone, such as DE or US-CAL-CISO, or a cloud region, such as "
                 "gcp:europe-north1; without --sources it stands for the yearly average of its "
                 "country (default: not set; energy is then reported without carbon)")
      ->type_name("Z")
      ->group(kGroup)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  AddSourceOptions(app, flags);
}

void AddSourceOptions(CLI::App& app, IntensityFlags& flags) {
  CLI::Option* const sources =
      app.add_option("--sources", flags.sources,
                     "Live sources for --zone, in the order in which they are asked: "
                     "electricity_maps, watttime, uk_carbon_intensity, energy_charts, entsoe, eia, "
                     "carbon_aware_sdk; then forecast (of what those have said before) and yearly "
                     "(default: none; nobody is asked over the network)")
          ->type_name("A,B,...")
          ->delimiter(',')
          ->check(ParsedBy(CheckSourceName))
          ->group(kGroup)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  sources->allow_extra_args(false);
  // So that one typed drops the other where a setting gives it.
  for (const char* other : {"--intensity", "--trace"}) {
    if (CLI::Option* const option = app.get_option_no_throw(other)) sources->excludes(option);
  }
  app.add_option("--signal", flags.signal,
                 "average or marginal: which intensity of --sources counts; sources of the other "
                 "one are passed over (default: that of the first source)")
      ->check(OneOf({"average", "marginal"}))
      ->group(kGroup)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

namespace {

// A zone of the table, by its key in any case or a cloud region in it. Others are countries without
// a series of their own, or, with a trace, whatever its columns are called.
Result<std::string> ZoneKey(const IntensityFlags& flags) {
  if (flags.zone.empty()) return std::string();
  LOWTIDE_TRY(const ZoneTable zones, EmbeddedZoneTable());
  const bool is_region = flags.zone.find(':') != std::string::npos;
  if (flags.trace.empty() || is_region) {
    const auto zone = zones.Resolve(flags.zone);
    if (zone) return zone->key;
    if (is_region) return Annotate(zone.error(), "--zone");
  }
  const auto zone = ParseZone(flags.zone);
  if (!zone) return Annotate(zone.error(), "--zone");
  return zone->key;
}

Result<std::unique_ptr<Source>> MakeFixed(const IntensityFlags& flags) {
  IntensityOptions options;
  std::string blamed = "--zone";
  if (!flags.intensity.empty()) {
    LOWTIDE_TRY(options.constant_g_per_kwh, ParseIntensity(flags.intensity));
  }
  LOWTIDE_TRY(options.zone, ZoneKey(flags));
  if (!flags.trace.empty()) {
    options.trace_argument = flags.trace;
    blamed = "--trace";
  }
  LOWTIDE_TRY(options.countries_csv, EmbeddedFile("grid/countries.csv"));
  LOWTIDE_TRY(options.yearly_intensity_csv, EmbeddedFile("grid/yearly_intensity.csv"));
  auto source = lowtide::MakeSource(options);
  if (!source) return Annotate(source.error(), blamed);
  return source;
}

}  // namespace

Result<GridAccess> OpenGrid(const IntensityFlags& flags, Clock& clock) {
  GridAccess access;
  if (flags.sources.empty()) {
    LOWTIDE_TRY(access.fixed, MakeFixed(flags));
    return access;
  }
  LiveGridRequest request{flags.sources, std::nullopt, flags.zone};
  if (!flags.signal.empty()) {
    request.signal = flags.signal == "marginal" ? Signal::kMarginal : Signal::kAverage;
  }
  LOWTIDE_TRY(access.live, LiveGrid::Open(request, clock));
  return access;
}

Status CheckTraceCovers(const Source& source, TimePoint at) {
  const auto* trace = dynamic_cast<const TraceSource*>(&source);
  if (trace == nullptr) return {};
  const auto& slots = trace->Recorded().slots;
  if (slots.empty() || (at >= slots.front().from && at < slots.back().to)) return {};
  return Fail(Code::kNotFound, fmt::format("{} covers {} to {}, and not {}", source.Origin().source,
                                           FormatTime(slots.front().from),
                                           FormatTime(slots.back().to), FormatTime(at)));
}

}  // namespace lowtide::cli
