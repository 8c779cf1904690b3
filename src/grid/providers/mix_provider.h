// A provider of generation by fuel, whose intensity is computed here: average, of what is generated
// within the zone (imports are not counted), in one factor set throughout.
#pragma once

#include "grid/providers/generation_mix.h"
#include "grid/providers/provider_base.h"

namespace lowtide {

class MixProvider : public ProviderBase {
 public:
  // The newest hour that is complete; it may be many hours old.
  Result<ProviderAnswer> Latest(const Zone& zone, TimePoint now) override;
  Result<ProviderAnswer> History(const Zone& zone, TimePoint from, TimePoint to,
                                 TimePoint now) override;
  // kUnimplemented: what is forecast there is load or some fuels, no carbon.
  Result<ProviderAnswer> Forecast(const Zone& zone, TimePoint from, TimePoint to,
                                  TimePoint now) override;

 protected:
  // `factors` outlives the provider.
  MixProvider(std::string_view name, ProviderSettings settings, std::string_view endpoint,
              HttpTransport& transport, const ZoneTable& zones, const EmissionFactors& factors);

  struct Mix {
    std::vector<Generation> rows;
    std::vector<std::string> notes;
  };
  // What was generated in [from, to), of the zone that the provider calls `name`. An answer for
  // another zone is an error; no rows at all are kNotFound.
  virtual Result<Mix> Fetch(const Zone& zone, const std::string& name, TimePoint from,
                            TimePoint to) = 0;
  // How far back the newest value may be.
  virtual std::chrono::milliseconds Lag() const = 0;

 private:
  Result<ProviderAnswer> Compute(const Zone& zone, TimePoint from, TimePoint to, TimePoint now);

  const EmissionFactors& factors_;
};

}  // namespace lowtide
