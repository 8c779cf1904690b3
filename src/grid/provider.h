// A service that is asked for intensities over the network. What it says comes back as it said it:
// slots of the length it delivers, flags kept, nulls left out and counted, nothing filled in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "grid/intensity.h"
#include "grid/zone_table.h"

namespace lowtide {

struct ProviderSlot {
  TimePoint from;
  TimePoint to;
  GramsPerKwh value;
  bool estimated = false;  // the provider says that it is not (or not yet) measured
  bool operator==(const ProviderSlot&) const = default;
};

struct ProviderAnswer {
  std::string provider;       // "electricity_maps", as in the settings
  Zone zone;                  // Electricity Maps' key of the zone that was asked for
  std::string provider_zone;  // what the provider calls it, and said it answered for
  Signal signal = Signal::kAverage;
  Basis basis = Basis::kUnstated;
  IntensityKind kind = IntensityKind::kMeasured;  // kMeasured or kForecast; see slots for estimates
  std::vector<ProviderSlot> slots;                // ascending, disjoint; gaps are gaps
  std::int64_t missing = 0;  // values that were null or no number, and are gaps now
  TimePoint fetched_at;
  std::optional<TimePoint> issued_at;  // of a forecast; of data where the provider says so
  std::vector<std::string> notes;      // what a user should know: shortened range, sandbox key
};

struct ProviderAbilities {
  bool latest = false;
  bool history = false;
  bool forecast = false;
  Seconds step{3600};              // usual slot length: no point in asking more often
  std::optional<Seconds> horizon;  // of forecasts
  // Of every answer.
  Signal signal = Signal::kAverage;
  Basis basis = Basis::kUnstated;
};

// Thread-safe. `now` is the real time. Errors, with the provider, the zone and what to do in the
// message, and never a key:
//   kPermissionDenied   bad key, plan does not cover it, terms not accepted
//   kNotFound           the provider does not know the zone, or has nothing for that time
//   kUnavailable        it cannot be reached, answers 5xx, or is out of its quota (429)
//   kDeadlineExceeded   no answer in time
//   kDataLoss           the answer is not what its interface promises
//   kUnimplemented      it has no such data at all
//   kInvalidArgument    an interval that ends before it begins, or would take too many requests
class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view Name() const = 0;
  virtual ProviderAbilities Abilities() const = 0;

  virtual Result<ProviderAnswer> Latest(const Zone& zone, TimePoint now) = 0;
  // Slots that touch [from, to).
  virtual Result<ProviderAnswer> History(const Zone& zone, TimePoint from, TimePoint to,
                                         TimePoint now) = 0;
  // What is forecast now for [from, to), as far as it goes.
  virtual Result<ProviderAnswer> Forecast(const Zone& zone, TimePoint from, TimePoint to,
                                          TimePoint now) = 0;

  // The forecasts that were issued in [from, to), oldest first, each as it was issued: for scoring
  // without a look at what came after. kUnimplemented where the provider keeps none.
  virtual Result<std::vector<ProviderAnswer>> PastForecasts(const Zone& zone, TimePoint from,
                                                            TimePoint to, TimePoint now);

  // What the provider calls the zone at these coordinates. kUnimplemented where it does not say;
  // kNotFound where it covers nothing there.
  virtual Result<std::string> NameAt(const Coordinates& at, TimePoint now);
};

}  // namespace lowtide
