#include "grid/sources/constant_source.h"

namespace lowtide {

Result<IntensitySeries> ConstantSource::History(TimePoint from, TimePoint to, TimePoint now) const {
  IntensitySeries out{origin_, {}};
  if (from < to && from <= now) out.slots.push_back({from, to, value_});
  return out;
}

Result<IntensityReading> ConstantSource::Latest(TimePoint now) const {
  const TimePoint day = std::chrono::floor<std::chrono::days>(now);
  return IntensityReading{origin_, {day, day + std::chrono::days(1), value_}};
}

Result<IntensitySeries> ConstantSource::Forecast(TimePoint from, TimePoint to,
                                                 TimePoint /*now*/) const {
  IntensitySeries out{origin_, {}};
  if (from < to) out.slots.push_back({from, to, value_});
  return out;
}

}  // namespace lowtide
