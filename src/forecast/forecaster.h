// Predicts a zone's intensity from what was known at `now`; never looks past it.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "grid/intensity.h"
#include "grid/source.h"

namespace lowtide {

// A forecast and the band that is to hold the outcome 8 times of 10. The bands cover the same hours
// as the forecast of them; both are empty where nothing is known of past errors.
struct BandedForecast {
  IntensitySeries middle;
  Series<GramsPerKwh> p10;
  Series<GramsPerKwh> p90;
};

class Forecaster {
 public:
  virtual ~Forecaster() = default;
  virtual std::string_view Name() const = 0;
  // Slots covering [from, to) as far as they can be predicted; gaps where they cannot.
  // kUnavailable when nothing at all can be said, with the reason.
  virtual Result<IntensitySeries> Predict(const Source& source, TimePoint from, TimePoint to,
                                          TimePoint now) const = 0;
  // As Predict, with its band where the method has one.
  virtual Result<BandedForecast> PredictBand(const Source& source, TimePoint from, TimePoint to,
                                             TimePoint now) const {
    LOWTIDE_TRY(IntensitySeries middle, Predict(source, from, to, now));
    return BandedForecast{std::move(middle), {}, {}};
  }
};

// The one number that the carbon-aware cost asks for: the intensity expected over the coming epoch.
struct ExpectedIntensity {
  IntensityOrigin origin;
  std::optional<GramsPerKwh> value;  // time-weighted mean of what is covered; nothing if none is
  double coverage = 0;               // covered share of [from, to), in [0, 1]
};

// The mean of the forecast made at `now` over [from, to); at `from` itself when the interval is
// empty. Errors of Predict.
Result<ExpectedIntensity> MeanForecast(const Forecaster& forecaster, const Source& source,
                                       TimePoint from, TimePoint to, TimePoint now);

}  // namespace lowtide
