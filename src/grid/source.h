// Something that knows the carbon intensity of a zone.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "grid/intensity.h"

namespace lowtide {

// Implementations are thread-safe for const calls. A source serves one zone and one signal; times
// are grid times (which an accelerated run scales).
class Source {
 public:
  virtual ~Source() = default;

  virtual const IntensityOrigin& Origin() const = 0;

  // Slots that touch [from, to) and were known at `now` (nothing that starts after `now`).
  // An empty series is an answer: nothing is known there.
  virtual Result<IntensitySeries> History(TimePoint from, TimePoint to, TimePoint now) const = 0;

  // The slot covering `now`. kNotFound when `now` is in a gap.
  virtual Result<IntensityReading> Latest(TimePoint now) const = 0;

  // What the source itself says, as of `now`, about [from, to). kUnimplemented where it gives none.
  virtual Result<IntensitySeries> Forecast(TimePoint from, TimePoint to, TimePoint now) const = 0;

  // What is kept of the history from earlier answers, however old; asks nobody. Empty where nothing
  // is kept.
  virtual Result<IntensitySeries> Kept(TimePoint from, TimePoint to, TimePoint now) const {
    static_cast<void>(from);
    static_cast<void>(to);
    static_cast<void>(now);
    return IntensitySeries{Origin(), {}, {}};
  }

  // What a user should know of what has happened since the last call: another source answers, a
  // range was cut short.
  virtual std::vector<std::string> TakeNotices() const { return {}; }
};

// What is known of [from, to) at `now`: what the source says of [asked_from, to) when asked, and
// before that what is kept. Errors: the source's, where nothing is kept either.
Result<Series<GramsPerKwh>> KnownHistory(const Source& source, TimePoint from, TimePoint asked_from,
                                         TimePoint to, TimePoint now);

}  // namespace lowtide
