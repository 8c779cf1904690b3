// Electricity Maps: average intensity of a zone, flow-traced; lifecycle (its default) or direct.
// v4 and v3 have the same paths below their version.
#pragma once

#include <memory>

#include "grid/providers/provider_base.h"

namespace lowtide {

class ElectricityMaps final : public ProviderBase {
 public:
  static constexpr std::string_view kName = "electricity_maps";
  static constexpr std::string_view kEndpoint = "https://api.electricitymaps.com";

  // kInvalidArgument, naming the setting: no key, a version other than v3 and v4, a signal that it
  // does not have.
  static Result<std::unique_ptr<Provider>> Make(const ProviderSettings& settings,
                                                HttpTransport& transport, const ZoneTable& zones);

  ProviderAbilities Abilities() const override;

  Result<ProviderAnswer> Latest(const Zone& zone, TimePoint now) override;
  // Of the last day from `history`, which every plan has; else from `past-range`, ten days a
  // request. A plan without past-range answers with what `history` has of the interval, and a note.
  Result<ProviderAnswer> History(const Zone& zone, TimePoint from, TimePoint to,
                                 TimePoint now) override;
  // Up to 72 hours from the current hour.
  Result<ProviderAnswer> Forecast(const Zone& zone, TimePoint from, TimePoint to,
                                  TimePoint now) override;
  Result<std::string> NameAt(const Coordinates& at, TimePoint now) override;

 protected:
  Error StatusError(const HttpResponse& response, const Zone& zone) const override;

 private:
  using ProviderBase::ProviderBase;
  HttpRequest Query(std::string_view temporality) const;
  std::string NameFor(const Zone& zone) const;
  Result<Payload> Fetch(const HttpRequest& request, const Zone& zone) const;
  ProviderAnswer Finish(const Zone& zone, IntensityKind kind, TimePoint now, Payload payload) const;
  Result<Payload> PastRange(const Zone& zone, TimePoint from, TimePoint to) const;
  Result<Payload> LastDay(const Zone& zone) const;
};

}  // namespace lowtide
