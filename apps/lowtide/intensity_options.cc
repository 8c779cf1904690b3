#include "intensity_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/csv.h"
#include "base/embedded/embedded.h"
#include "grid/make_source.h"
#include "grid/trace.h"
#include "grid/zone.h"

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
                 "Grid zone, such as DE or US-CAL-CISO; alone it stands for the yearly average of "
                 "its country (default: not set; energy is then reported without carbon)")
      ->type_name("Z")
      ->group(kGroup)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

Result<std::unique_ptr<Source>> MakeSource(const IntensityFlags& flags) {
  IntensityOptions options;
  std::string blamed = "--zone";
  if (!flags.intensity.empty()) {
    LOWTIDE_TRY(options.constant_g_per_kwh, ParseIntensity(flags.intensity));
  }
  if (!flags.zone.empty()) {
    if (const auto zone = ParseZone(flags.zone); !zone) return Annotate(zone.error(), "--zone");
  }
  if (!flags.trace.empty()) {
    options.trace_argument = flags.trace;
    blamed = "--trace";
  }
  options.zone = flags.zone;
  LOWTIDE_TRY(options.countries_csv, EmbeddedFile("grid/countries.csv"));
  LOWTIDE_TRY(options.yearly_intensity_csv, EmbeddedFile("grid/yearly_intensity.csv"));
  auto source = lowtide::MakeSource(options);
  if (!source) return Annotate(source.error(), blamed);
  return source;
}

}  // namespace lowtide::cli
