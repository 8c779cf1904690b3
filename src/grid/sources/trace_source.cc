#include "grid/sources/trace_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/file.h"
#include "grid/trace.h"

namespace lowtide {

Result<std::unique_ptr<TraceSource>> TraceSource::Open(std::string_view argument,
                                                       const Zone& zone) {
  LOWTIDE_TRY(const TraceArgument parts, SplitTraceArgument(argument));
  LOWTIDE_TRY(const std::string text, ReadFile(parts.path));
  LOWTIDE_TRY(IntensitySeries series, ParseTrace(text, parts.path, parts.column, zone));
  return std::make_unique<TraceSource>(std::move(series));
}

Result<IntensitySeries> TraceSource::History(TimePoint from, TimePoint to, TimePoint now) const {
  IntensitySeries out{series_.origin, {}};
  if (from >= to) return out;
  const auto& slots = series_.slots;
  const auto begin =
      std::ranges::upper_bound(slots, from, {}, [](const auto& slot) { return slot.to; });
  const auto end = std::find_if(
      begin, slots.end(), [&](const auto& slot) { return slot.from >= to || slot.from > now; });
  out.slots.assign(begin, end);
  return out;
}

Result<IntensityReading> TraceSource::Latest(TimePoint now) const {
  if (const auto* slot = SlotAt(series_.slots, now)) return IntensityReading{Origin(), *slot};
  if (series_.slots.empty()) {
    return Fail(Code::kNotFound, fmt::format("{} has no value", Origin().source));
  }
  return Fail(Code::kNotFound,
              fmt::format("{} has no value at {}; it has values from {} to {}", Origin().source,
                          FormatTime(now), FormatTime(series_.slots.front().from),
                          FormatTime(series_.slots.back().to)));
}

Result<IntensitySeries> TraceSource::Forecast(TimePoint /*from*/, TimePoint /*to*/,
                                              TimePoint /*now*/) const {
  return Fail(Code::kUnimplemented, fmt::format("{} makes no forecast", Origin().source));
}

}  // namespace lowtide
