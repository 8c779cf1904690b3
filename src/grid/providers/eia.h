// EIA's Open Data v2: hourly generation by energy source of a US balancing authority.
#pragma once

#include <memory>

#include "grid/providers/mix_provider.h"

namespace lowtide {

class Eia final : public MixProvider {
 public:
  static constexpr std::string_view kName = "eia";
  static constexpr std::string_view kEndpoint = "https://api.eia.gov";

  // kInvalidArgument: no key, a signal that it does not have.
  static Result<std::unique_ptr<Provider>> Make(const ProviderSettings& settings,
                                                HttpTransport& transport, const ZoneTable& zones,
                                                const EmissionFactors& factors);

  ProviderAbilities Abilities() const override;

 protected:
  Result<Mix> Fetch(const Zone& zone, const std::string& name, TimePoint from,
                    TimePoint to) override;
  std::chrono::milliseconds Lag() const override { return std::chrono::hours(48); }
  Error StatusError(const HttpResponse& response, const Zone& zone) const override;

 private:
  using MixProvider::MixProvider;
};

}  // namespace lowtide
