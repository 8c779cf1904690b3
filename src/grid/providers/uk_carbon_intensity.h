// NESO's Carbon Intensity API: average, direct, imports included, of Great Britain or one of its 17
// regions, by the half hour. Needs no key.
#pragma once

#include <memory>

#include "grid/providers/provider_base.h"
#include "grid/providers/uk_carbon_intensity_payload.h"

namespace lowtide {

class UkCarbonIntensity final : public ProviderBase {
 public:
  static constexpr std::string_view kName = "uk_carbon_intensity";
  static constexpr std::string_view kEndpoint = "https://api.carbonintensity.org.uk";

  static Result<std::unique_ptr<Provider>> Make(const ProviderSettings& settings,
                                                HttpTransport& transport, const ZoneTable& zones);

  ProviderAbilities Abilities() const override;

  // Zone GB is "national"; zone_names may call a region by its id, "1" to "17".
  Result<ProviderAnswer> Latest(const Zone& zone, TimePoint now) override;
  // Ten days a request, cut at New Year. Regions have no measured values: theirs are estimated.
  Result<ProviderAnswer> History(const Zone& zone, TimePoint from, TimePoint to,
                                 TimePoint now) override;
  // As far as it goes, usually 48 hours; never padded.
  Result<ProviderAnswer> Forecast(const Zone& zone, TimePoint from, TimePoint to,
                                  TimePoint now) override;

 private:
  using ProviderBase::ProviderBase;
  Result<Payload> Fetch(const std::string& region, TimePoint from, TimePoint to, const Zone& zone,
                        UkValues values) const;
  ProviderAnswer Finish(const Zone& zone, const std::string& region, IntensityKind kind,
                        TimePoint now, Payload payload) const;
};

}  // namespace lowtide
