#include "grid/providers/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grid/providers/carbon_aware_sdk.h"
#include "grid/providers/eia.h"
#include "grid/providers/electricity_maps.h"
#include "grid/providers/energy_charts.h"
#include "grid/providers/entsoe.h"
#include "grid/providers/uk_carbon_intensity.h"
#include "grid/providers/watttime.h"

namespace lowtide {
namespace {

bool IsHttpAddress(std::string_view url) {
  const bool http = url.starts_with("http://") || url.starts_with("https://");
  return http && url.size() > url.find("//") + 2 && url.find_first_of("@?# ") == url.npos;
}

Status CheckSettings(std::string_view name, const ProviderSettings& settings,
                     const ZoneTable& zones) {
  if (!settings.endpoint.empty() && !IsHttpAddress(settings.endpoint)) {
    // Not repeated: it may hold a password.
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: endpoint: expected http:// or https:// with a host and perhaps a "
                            "path, without user, query or fragment",
                            name));
  }
  for (const auto& [zone, own_name] : settings.zone_names) {
    if (own_name.empty() || zones.Find(zone) == nullptr) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: zone_names: '{}={}': expected ZONE=NAME with a zone of 'lowtide "
                              "zones'",
                              name, zone.substr(0, 60), own_name.substr(0, 60)));
    }
  }
  return {};
}

}  // namespace

std::span<const ProviderInfo> Providers() {
  static const std::vector<ProviderInfo> kProviders = {
      {ElectricityMaps::kName,
       "Electricity Maps",
       ElectricityMaps::kEndpoint,
       Credential::kKey,
       {"ELECTRICITY_MAPS_API_KEY", "ELECTRICITYMAPS_API_KEY", "ELECTRICITY_MAPS_TOKEN"},
       "average, lifecycle or direct; hourly; forecast to 72 h",
       "https://app.electricitymaps.com"},
      {WattTime::kName,
       "WattTime",
       WattTime::kEndpoint,
       Credential::kLogin,
       {},
       "marginal (or average), direct; 5 min; forecast to 72 h of the marginal",
       "https://docs.watttime.org"},
      {UkCarbonIntensity::kName,
       "GB Carbon Intensity (NESO)",
       UkCarbonIntensity::kEndpoint,
       Credential::kNone,
       {},
       "average, direct; 30 min; forecast to 48 h",
       "https://carbonintensity.org.uk"},
      {EnergyCharts::kName,
       "energy-charts (Fraunhofer ISE)",
       EnergyCharts::kEndpoint,
       Credential::kNone,
       {},
       "average, basis not stated; 15 or 60 min; forecast to end of next day",
       "https://www.energy-charts.info"},
      {Entsoe::kName,
       "ENTSO-E Transparency Platform",
       Entsoe::kEndpoint,
       Credential::kKey,
       {"ENTSOE_API_KEY", "ENTSOE_TOKEN"},
       "average of generation, lifecycle or direct; 15 to 60 min; no forecast",
       "https://transparency.entsoe.eu"},
      {Eia::kName,
       "U.S. Energy Information Administration",
       Eia::kEndpoint,
       Credential::kKey,
       {"EIA_API_KEY", "EIA_KEY"},
       "average of generation, lifecycle or direct; hourly; no forecast",
       "https://www.eia.gov/opendata/register.php"},
      {CarbonAwareSdk::kName,
       "Carbon Aware SDK WebAPI",
       "",
       Credential::kNone,
       {},
       "what its own source gives; forecast where that has one",
       "https://github.com/Green-Software-Foundation/carbon-aware-sdk"},
  };
  return kProviders;
}

const ProviderInfo* FindProvider(std::string_view name) {
  const auto providers = Providers();
  const auto it = std::ranges::find(providers, name, &ProviderInfo::name);
  return it == providers.end() ? nullptr : &*it;
}

Result<std::unique_ptr<Provider>> MakeProvider(std::string_view name,
                                               const ProviderSettings& settings,
                                               const ProviderParts& parts) {
  if (FindProvider(name) == nullptr) {
    std::vector<std::string_view> names;
    for (const ProviderInfo& info : Providers()) names.push_back(info.name);
    return Fail(Code::kNotFound, fmt::format("no provider '{}'; there are {}", name.substr(0, 60),
                                             fmt::join(names, ", ")));
  }
  auto& transport = parts.transport;
  const ZoneTable& zones = parts.zones;
  LOWTIDE_TRY_STATUS(CheckSettings(name, settings, zones));
  if (name == ElectricityMaps::kName) return ElectricityMaps::Make(settings, transport, zones);
  if (name == WattTime::kName) return WattTime::Make(settings, transport, zones);
  if (name == UkCarbonIntensity::kName) return UkCarbonIntensity::Make(settings, transport, zones);
  if (name == EnergyCharts::kName) return EnergyCharts::Make(settings, transport, zones);
  if (name == Entsoe::kName) return Entsoe::Make(settings, transport, zones, parts.factors);
  if (name == Eia::kName) return Eia::Make(settings, transport, zones, parts.factors);
  return CarbonAwareSdk::Make(settings, transport, zones);
}

}  // namespace lowtide
