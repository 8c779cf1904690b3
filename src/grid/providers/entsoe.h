// ENTSO-E's Transparency Platform: generation per type (A75) of a European zone.
#pragma once

#include <memory>

#include "grid/providers/mix_provider.h"

namespace lowtide {

class Entsoe final : public MixProvider {
 public:
  static constexpr std::string_view kName = "entsoe";
  static constexpr std::string_view kEndpoint = "https://web-api.tp.entsoe.eu";

  // kInvalidArgument: no key, or an area code in zone_names that is not 16 characters long or is
  // not in the table of zones.
  static Result<std::unique_ptr<Provider>> Make(const ProviderSettings& settings,
                                                HttpTransport& transport, const ZoneTable& zones,
                                                const EmissionFactors& factors);

  ProviderAbilities Abilities() const override;

 protected:
  Result<Mix> Fetch(const Zone& zone, const std::string& name, TimePoint from,
                    TimePoint to) override;
  // Windows of up to 12 hours back were found empty, one of 16 was not.
  std::chrono::milliseconds Lag() const override { return std::chrono::hours(30); }
  Error StatusError(const HttpResponse& response, const Zone& zone) const override;

 private:
  using MixProvider::MixProvider;
};

}  // namespace lowtide
