// Predicts a zone's intensity from what was known at `now`; never looks past it.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "grid/intensity.h"
#include "grid/source.h"

namespace lowtide {

class Forecaster {
 public:
  virtual ~Forecaster() = default;
  virtual std::string_view Name() const = 0;
  // Slots covering [from, to) as far as they can be predicted; gaps where they cannot.
  // kUnavailable when nothing at all can be said, with the reason.
  virtual Result<IntensitySeries> Predict(const Source& source, TimePoint from, TimePoint to,
                                          TimePoint now) const = 0;
};

}  // namespace lowtide
