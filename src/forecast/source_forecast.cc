#include "forecast/source_forecast.h"

#include <algorithm>

namespace lowtide {
namespace {

// What has been told already counts before what was forecast of it.
void PutKnownFirst(const Source& source, TimePoint from, TimePoint to, TimePoint now,
                   Series<GramsPerKwh>& slots) {
  const auto known = source.History(from, to, now);
  if (!known) return;
  Series<GramsPerKwh> out;
  TimePoint reached = from;
  for (auto slot : known->slots) {
    if (slot.from > reached) break;  // the forecast fills the gap
    slot.from = std::max(slot.from, reached);
    slot.to = std::min(slot.to, to);
    if (slot.from >= slot.to) continue;
    reached = slot.to;
    out.push_back(slot);
  }
  for (auto slot : slots) {
    slot.from = std::max(slot.from, reached);
    if (slot.from < slot.to) out.push_back(slot);
  }
  slots = std::move(out);
}

}  // namespace

Result<IntensitySeries> SourceForecast::Predict(const Source& source, TimePoint from, TimePoint to,
                                                TimePoint now) const {
  auto told = source.Forecast(from, to, now);
  if (told && MeanOver(told->slots, from, to).coverage > 0) {
    PutKnownFirst(source, from, to, now, told->slots);
    return told;
  }
  auto fallback = fallback_.Predict(source, from, to, now);
  if (fallback || told || told.error().code == Code::kUnimplemented) return fallback;
  return Fail(fallback.error().code, told.error().message + "; " + fallback.error().message);
}

}  // namespace lowtide
