// A recorded series as a Source: nothing after `now` is shown, so a replay cannot see the future.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "grid/source.h"

namespace lowtide {

class TraceSource final : public Source {
 public:
  // `series` must be well formed (base/series.h), as ParseTrace returns it.
  explicit TraceSource(IntensitySeries series) : series_(std::move(series)) {}

  // Reads `argument`, FILE[:COLUMN] (grid/trace.h has the format and the choice of column). Errors
  // of ReadFile and ParseTrace.
  static Result<std::unique_ptr<TraceSource>> Open(std::string_view argument, const Zone& zone);

  const IntensityOrigin& Origin() const override { return series_.origin; }
  Result<IntensitySeries> History(TimePoint from, TimePoint to, TimePoint now) const override;
  Result<IntensityReading> Latest(TimePoint now) const override;
  // kUnimplemented: a recording makes no forecast; forecasters do.
  Result<IntensitySeries> Forecast(TimePoint from, TimePoint to, TimePoint now) const override;

  // A recording is kept whole.
  Result<IntensitySeries> Kept(TimePoint from, TimePoint to, TimePoint now) const override {
    return History(from, to, now);
  }

  // The whole recording, the future included: for perfect-foresight comparisons only.
  const IntensitySeries& Recorded() const { return series_; }

 private:
  IntensitySeries series_;
};

}  // namespace lowtide
