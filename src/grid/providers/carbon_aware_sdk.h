// A Carbon Aware SDK WebAPI. It passes on what its own source says, without saying which: whether
// the numbers are average or marginal is for the settings to state.
#pragma once

#include <memory>

#include "grid/providers/provider_base.h"

namespace lowtide {

class CarbonAwareSdk final : public ProviderBase {
 public:
  static constexpr std::string_view kName = "carbon_aware_sdk";

  // kInvalidArgument: no endpoint, no signal.
  static Result<std::unique_ptr<Provider>> Make(const ProviderSettings& settings,
                                                HttpTransport& transport, const ZoneTable& zones);

  ProviderAbilities Abilities() const override;

  // Its locations are named in zone_names; without that, by the zone's key.
  Result<ProviderAnswer> Latest(const Zone& zone, TimePoint now) override;
  // 10 days a request.
  Result<ProviderAnswer> History(const Zone& zone, TimePoint from, TimePoint to,
                                 TimePoint now) override;
  Result<ProviderAnswer> Forecast(const Zone& zone, TimePoint from, TimePoint to,
                                  TimePoint now) override;

 protected:
  Error StatusError(const HttpResponse& response, const Zone& zone) const override;

 private:
  using ProviderBase::ProviderBase;
  std::string LocationOf(const Zone& zone) const;
  // Nothing: 204, which is its word for no data.
  Result<std::optional<Payload>> Emissions(const Zone& zone, const std::string& location,
                                           std::optional<Interval> interval) const;
  ProviderAnswer Finish(const Zone& zone, const std::string& location, IntensityKind kind,
                        TimePoint now, Payload payload) const;
  Status CheckNotAllZero(const Payload& payload, const Zone& zone) const;
};

}  // namespace lowtide
