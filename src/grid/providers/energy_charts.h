// Fraunhofer ISE's energy-charts: average intensity of a European country, by the quarter hour or
// hour. Needs no key. It does not say whether its factors are of the whole life cycle.
#pragma once

#include <memory>

#include "grid/providers/energy_charts_payload.h"
#include "grid/providers/provider_base.h"

namespace lowtide {

class EnergyCharts final : public ProviderBase {
 public:
  static constexpr std::string_view kName = "energy_charts";
  static constexpr std::string_view kEndpoint = "https://api.energy-charts.info";

  static Result<std::unique_ptr<Provider>> Make(const ProviderSettings& settings,
                                                HttpTransport& transport, const ZoneTable& zones);

  ProviderAbilities Abilities() const override;

  Result<ProviderAnswer> Latest(const Zone& zone, TimePoint now) override;
  // 30 days a request.
  Result<ProviderAnswer> History(const Zone& zone, TimePoint from, TimePoint to,
                                 TimePoint now) override;
  // To the end of today, from about 19:00 local time to the end of tomorrow.
  Result<ProviderAnswer> Forecast(const Zone& zone, TimePoint from, TimePoint to,
                                  TimePoint now) override;

 private:
  using ProviderBase::ProviderBase;
  Result<Payload> Fetch(const Zone& zone, const std::string& country, TimePoint from, TimePoint to,
                        EnergyChartsValues values) const;
  ProviderAnswer Finish(const Zone& zone, const std::string& country, IntensityKind kind,
                        TimePoint now, Payload payload) const;
};

}  // namespace lowtide
