#include "grid/providers/mix_provider.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace lowtide {

using namespace std::chrono_literals;

MixProvider::MixProvider(std::string_view name, ProviderSettings settings,
                         std::string_view endpoint, HttpTransport& transport,
                         const ZoneTable& zones, const EmissionFactors& factors)
    : ProviderBase(name, std::move(settings), endpoint, transport, zones), factors_(factors) {}

Result<ProviderAnswer> MixProvider::Compute(const Zone& zone, TimePoint from, TimePoint to,
                                            TimePoint now) {
  LOWTIDE_TRY(const std::string name, NameOf(zone));
  LOWTIDE_TRY(Mix mix, Fetch(zone, name, from, to));
  const Basis basis = Settings().basis == Basis::kDirect ? Basis::kDirect : Basis::kLifecycle;
  std::set<std::string> unknown;
  for (const Generation& row : mix.rows) {
    if (row.fuel == "unknown" && row.amount.value_or(0) > 0) unknown.insert(row.code);
  }
  Payload payload = IntensityFromMix(mix.rows, factors_, basis);
  payload.notes = std::move(mix.notes);
  if (!unknown.empty()) {
    payload.notes.push_back(
        fmt::format("of unknown fuel and counted with that factor: {}", fmt::join(unknown, ", ")));
  }
  KeepTouching(payload.slots, from, to);
  ProviderAnswer out = Answer(zone, name, IntensityKind::kMeasured, now, std::move(payload));
  out.signal = Signal::kAverage;
  out.basis = basis;
  out.notes.emplace_back("computed from generation within the zone; imports are not counted");
  return out;
}

Result<ProviderAnswer> MixProvider::Latest(const Zone& zone, TimePoint now) {
  LOWTIDE_TRY(ProviderAnswer answer, Compute(zone, FloorTo(now - Lag(), 1h), CeilTo(now, 1h), now));
  return Newest(std::move(answer), now);
}

Result<ProviderAnswer> MixProvider::History(const Zone& zone, TimePoint from, TimePoint to,
                                            TimePoint now) {
  if (from >= to) return Failed(Chunks(from, to, 1h).error(), zone);
  return Compute(zone, from, to, now);
}

Result<ProviderAnswer> MixProvider::Forecast(const Zone& zone, TimePoint /*from*/, TimePoint /*to*/,
                                             TimePoint /*now*/) {
  return std::unexpected(Failure(Code::kUnimplemented, zone,
                                 "has no carbon forecast; Lowtide's own serves in its place"));
}

}  // namespace lowtide
