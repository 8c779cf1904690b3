#include "grid/source.h"

namespace lowtide {

Result<Series<GramsPerKwh>> KnownHistory(const Source& source, TimePoint from, TimePoint asked_from,
                                         TimePoint to, TimePoint now) {
  auto told = source.History(asked_from, to, now);
  auto kept = source.Kept(from, to, now);
  if (!told && (!kept || kept->slots.empty())) return std::unexpected(std::move(told).error());
  if (!kept) return std::move(told->slots);
  Series<GramsPerKwh> out = std::move(kept->slots);
  if (!told || told->slots.empty()) return out;
  const TimePoint told_from = told->slots.front().from;
  std::erase_if(out, [&](const auto& slot) { return slot.to > told_from; });
  out.insert(out.end(), told->slots.begin(), told->slots.end());
  return out;
}

}  // namespace lowtide
