// WattTime v3: marginal operating emissions (co2_moer), or the past of the average (co2_aoer);
// direct, converted from pounds per MWh.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "grid/providers/provider_base.h"
#include "grid/providers/watttime_payload.h"

namespace lowtide {

class WattTime final : public ProviderBase {
 public:
  static constexpr std::string_view kName = "watttime";
  static constexpr std::string_view kEndpoint = "https://api.watttime.org";

  // kInvalidArgument, naming the setting: no user name or password, an endpoint of v2 (which ended
  // in 2024), a basis that it does not have.
  static Result<std::unique_ptr<Provider>> Make(const ProviderSettings& settings,
                                                HttpTransport& transport, const ZoneTable& zones);

  ProviderAbilities Abilities() const override;

  // The forecast's value for now, an estimate: measured values follow minutes to hours later.
  // kUnimplemented for the average, which has no forecast.
  Result<ProviderAnswer> Latest(const Zone& zone, TimePoint now) override;
  // 30 days a request.
  Result<ProviderAnswer> History(const Zone& zone, TimePoint from, TimePoint to,
                                 TimePoint now) override;
  // Up to 72 hours from now.
  Result<ProviderAnswer> Forecast(const Zone& zone, TimePoint from, TimePoint to,
                                  TimePoint now) override;
  // Eight hours of forecasts a request.
  Result<std::vector<ProviderAnswer>> PastForecasts(const Zone& zone, TimePoint from, TimePoint to,
                                                    TimePoint now) override;
  Result<std::string> NameAt(const Coordinates& at, TimePoint now) override;

 protected:
  Error StatusError(const HttpResponse& response, const Zone& zone) const override;

 private:
  struct Region {
    std::string name;
    TimePoint resolved_at;
    std::string note;
  };

  using ProviderBase::ProviderBase;
  std::string_view SignalType() const;
  // A token that is not `refused` and younger than 25 minutes; logs in for it when there is none.
  Result<std::string> Token(TimePoint now, const std::string& refused);
  // The body of a 200. An expired token is renewed, once.
  Result<std::string> Get(std::string_view path,
                          std::vector<std::pair<std::string, std::string>> query, const Zone& zone,
                          TimePoint now);
  Result<Region> RegionOf(const Zone& zone, TimePoint now);
  // For the region and the signal that were asked for.
  Status Check(const WattTimePayload& payload, const Zone& zone, const Region& region) const;
  // kUnavailable for nothing but zeros over 12 hours or, in a shorter series, over the day before.
  Status CheckOutage(const Payload& payload, const Zone& zone, const Region& region, TimePoint now);
  Result<WattTimePayload> FetchHistory(const Zone& zone, const Region& region,
                                       const Interval& interval, TimePoint now);
  ProviderAnswer Finish(const Zone& zone, const Region& region, IntensityKind kind, TimePoint now,
                        WattTimePayload payload) const;
  Result<WattTimePayload> FetchForecast(const Zone& zone, const Region& region, int hours,
                                        TimePoint now);

  std::mutex mutex_;  // held during a login, so that threads share one
  std::string token_;
  TimePoint obtained_at_;
  std::map<std::string, Region, std::less<>> regions_;  // of zones resolved by coordinates
};

}  // namespace lowtide
