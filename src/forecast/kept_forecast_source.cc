#include "forecast/kept_forecast_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lowtide {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// A forecast is made this far at least, so that the next question finds it.
constexpr milliseconds kAhead = hours(96);
constexpr milliseconds kBehind = hours(48);

// A source that says only what it has kept, so that a forecaster that asks it asks nobody.
class Memory final : public Source {
 public:
  explicit Memory(const Source& source) : source_(source) {}
  const IntensityOrigin& Origin() const override { return source_.Origin(); }
  Result<IntensitySeries> History(TimePoint from, TimePoint to, TimePoint now) const override {
    return Kept(from, to, now);
  }
  Result<IntensityReading> Latest(TimePoint now) const override {
    return Fail(Code::kNotFound,
                fmt::format("{}: nothing is kept for {}", Origin().source, FormatTime(now)));
  }
  Result<IntensitySeries> Forecast(TimePoint, TimePoint, TimePoint) const override {
    return Fail(Code::kUnimplemented, Origin().source + ": what is kept makes no forecast");
  }
  Result<IntensitySeries> Kept(TimePoint from, TimePoint to, TimePoint now) const override {
    LOWTIDE_TRY(IntensitySeries kept, source_.Kept(from, to, now));
    std::erase_if(kept.slots, [&](const auto& s) { return s.from > now; });
    return kept;
  }

 private:
  const Source& source_;
};

}  // namespace

KeptForecastSource::KeptForecastSource(std::vector<const Source*> sources)
    : sources_(std::move(sources)), origin_(sources_.front()->Origin()) {
  origin_.source = "forecast of what " + origin_.source + " has said";
  origin_.kind = IntensityKind::kForecast;
}

Result<IntensitySeries> KeptForecastSource::Make(TimePoint from, TimePoint to,
                                                 TimePoint now) const {
  std::string reasons;
  for (const Source* source : sources_) {
    auto forecast = forecaster_.PredictBand(Memory(*source), from, to, now);
    if (forecast) {
      return IntensitySeries{std::move(forecast->middle.origin),
                             std::move(forecast->middle.slots),
                             {},
                             std::move(forecast->p10),
                             std::move(forecast->p90)};
    }
    reasons += (reasons.empty() ? "" : "; ") + forecast.error().message;
  }
  return Fail(Code::kUnavailable, reasons);
}

Result<IntensitySeries> KeptForecastSource::Forecast(TimePoint from, TimePoint to,
                                                     TimePoint now) const {
  const TimePoint hour = std::chrono::floor<hours>(now);
  const std::scoped_lock lock(mutex_);
  if (!made_ || made_->hour != hour || from < made_->from || to > made_->to) {
    Made made{hour, std::min(from, now - kBehind), std::max(to, hour + kAhead), {}};
    LOWTIDE_TRY(made.series, Make(made.from, made.to, now));
    made_ = std::move(made);
  }
  return Touching(made_->series, from, to);
}

Result<IntensitySeries> KeptForecastSource::History(TimePoint from, TimePoint to,
                                                    TimePoint now) const {
  to = std::min(to, now + milliseconds(1));
  if (from >= to) return IntensitySeries{origin_, {}};
  return Forecast(from, to, now);
}

Result<IntensityReading> KeptForecastSource::Latest(TimePoint now) const {
  LOWTIDE_TRY(const IntensitySeries series, History(now, now + milliseconds(1), now));
  if (const auto* slot = SlotAt(series.slots, now)) return IntensityReading{series.origin, *slot};
  return Fail(Code::kNotFound,
              fmt::format("{}: it says nothing of {}", origin_.source, FormatTime(now)));
}

}  // namespace lowtide
