// One provider as a Source for one zone: what it has said is kept, and asked for again only when
// that has grown old.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "grid/plausibility.h"
#include "grid/provider.h"
#include "grid/source.h"
#include "store/intensity_cache.h"

namespace lowtide {

struct Freshness {
  // Recent history is asked for again after this; nothing: half the provider's step, within 5 and
  // 30 minutes.
  std::optional<Seconds> history_age;
  Seconds forecast_age{1800};
  // As history_age, while no slot covers the present: a new one may have come.
  Seconds latest_age{300};
  // Providers revise what they have said. What was asked for this long after its end stays as it
  // is.
  Seconds settled_after{48 * 3600.0};
  // After a failure the provider is left alone for this long: the answer is the same failure.
  Seconds after_failure{60};
};

// Thread-safe.
class ProviderSource final : public Source {
 public:
  // `clock` and `cache` outlive this; `cache` may be null (nothing is kept beyond this object's own
  // answers). `kept_as`: what the cache calls the provider; empty: its name.
  ProviderSource(std::unique_ptr<Provider> provider, Zone zone, IntensityCache* cache, Clock& clock,
                 Freshness freshness = {}, std::string kept_as = "");

  // Signal and basis are those of the provider.
  const IntensityOrigin& Origin() const override { return origin_; }

  // From the cache where that is fresh; else the provider is asked. A newest value of the average
  // intensity that is not plausible (grid/plausibility.h) is left out until a later answer says it
  // again, with a notice. Errors: the provider's.
  Result<IntensitySeries> History(TimePoint from, TimePoint to, TimePoint now) const override;
  Result<IntensityReading> Latest(TimePoint now) const override;
  Result<IntensitySeries> Forecast(TimePoint from, TimePoint to, TimePoint now) const override;

  // The forecasts issued in [from, to), oldest first, each as it was issued: those the provider
  // keeps, or, where it keeps none, those it has given here. Errors: the provider's.
  Result<std::vector<IntensitySeries>> IssuedForecasts(TimePoint from, TimePoint to,
                                                       TimePoint now) const;

  // What is kept of the history, however old; asks nobody.
  Result<IntensitySeries> Kept(TimePoint from, TimePoint to, TimePoint now) const override;
  // The provider's remarks since the last call.
  std::vector<std::string> TakeNotices() const override;

 private:
  enum class What : std::uint8_t { kHistory, kForecast };
  CachedSeries SeriesOf(What what) const;
  // From the cache when it is fresh enough; nothing otherwise.
  std::optional<IntensitySeries> Fresh(What what, TimePoint from, TimePoint to, TimePoint now,
                                       Seconds age) const;
  Result<IntensitySeries> HistoryOfAge(TimePoint from, TimePoint to, TimePoint now,
                                       Seconds age) const;
  Result<IntensitySeries> Ask(What what, TimePoint from, TimePoint to, TimePoint now) const;
  // Where to ask from for [from, ...): what has settled is kept already.
  TimePoint AskFrom(TimePoint from, TimePoint now) const;
  void WithholdDoubtful(IntensitySeries& series, TimePoint now) const;
  IntensitySeries ToSeries(What what, const std::vector<CachedSlot>& slots) const;

  std::unique_ptr<Provider> provider_;
  Zone zone_;
  IntensityCache* cache_;
  Clock& clock_;
  Freshness freshness_;
  std::string kept_as_;
  IntensityOrigin origin_;

  mutable std::mutex mutex_;  // guards what follows
  mutable std::vector<std::string> notices_;
  struct Failure {
    MonoTime at;
    Error error;
  };
  mutable std::optional<Failure> failures_[2];  // by What
  mutable NewestDoubt doubt_;
};

}  // namespace lowtide
