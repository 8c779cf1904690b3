#include "grid/providers/energy_charts.h"

#include <fmt/format.h>

#include <algorithm>

namespace lowtide {
namespace {

using namespace std::chrono_literals;
constexpr auto kLongestRange = 30 * 24h;
constexpr auto kPublicationLag = 6h;

}  // namespace

Result<std::unique_ptr<Provider>> EnergyCharts::Make(const ProviderSettings& settings,
                                                     HttpTransport& transport,
                                                     const ZoneTable& zones) {
  if (settings.signal == Signal::kMarginal) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: signal 'marginal'; it has only the average", kName));
  }
  if (settings.basis) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: basis '{}'; it does not say which it has",
                                                    kName, BasisName(*settings.basis)));
  }
  return std::unique_ptr<Provider>(new EnergyCharts(kName, settings, kEndpoint, transport, zones));
}

ProviderAbilities EnergyCharts::Abilities() const {
  return {.latest = true,
          .history = true,
          .forecast = true,
          .step = 900s,
          .horizon = 24h,
          .signal = Signal::kAverage,
          .basis = Basis::kUnstated};
}

Result<Payload> EnergyCharts::Fetch(const Zone& zone, const std::string& country, TimePoint from,
                                    TimePoint to, EnergyChartsValues values) const {
  const auto chunks = Chunks(from, to, kLongestRange);
  if (!chunks) return Failed(chunks.error(), zone);
  Payload whole;
  for (const auto& [start, end] : *chunks) {
    HttpRequest request = Request("/co2eq");
    request.query.emplace_back("country", country);
    // A whole hour more, so that the slot of `start` is there and the step can be seen.
    request.query.emplace_back("start", WholeSeconds(FloorTo(start, 1h)));
    request.query.emplace_back("end", WholeSeconds(CeilTo(end, 1h) + 1h));
    LOWTIDE_TRY(const std::string body, Body(request, zone));
    auto part = ParseEnergyCharts(body, values);
    if (!part) return Failed(part.error(), zone);
    if (const auto status = Append(whole, *std::move(part)); !status) {
      return Failed(status.error(), zone);
    }
  }
  Normalise(whole);
  if (chunks->size() > 1) whole.duplicates = 0;  // parts overlap by an hour
  if (AllZero(whole.slots)) {
    return std::unexpected(Failure(Code::kUnavailable, zone,
                                   fmt::format("all {} values are 0, which is an outage, no clean "
                                               "grid",
                                               whole.slots.size())));
  }
  KeepTouching(whole.slots, from, to);
  return whole;
}

ProviderAnswer EnergyCharts::Finish(const Zone& zone, const std::string& country,
                                    IntensityKind kind, TimePoint now, Payload payload) const {
  ProviderAnswer out = Answer(zone, country, kind, now, std::move(payload));
  out.signal = Signal::kAverage;
  out.basis = Basis::kUnstated;
  return out;
}

Result<ProviderAnswer> EnergyCharts::Latest(const Zone& zone, TimePoint now) {
  LOWTIDE_TRY(const std::string country, NameOf(zone));
  LOWTIDE_TRY(Payload payload,
              Fetch(zone, country, now - kPublicationLag, now + 1h, EnergyChartsValues::kActual));
  return Newest(Finish(zone, country, IntensityKind::kMeasured, now, std::move(payload)), now);
}

Result<ProviderAnswer> EnergyCharts::History(const Zone& zone, TimePoint from, TimePoint to,
                                             TimePoint now) {
  LOWTIDE_TRY(const std::string country, NameOf(zone));
  LOWTIDE_TRY(Payload payload, Fetch(zone, country, from, to, EnergyChartsValues::kActual));
  std::erase_if(payload.slots, [now](const ProviderSlot& slot) { return slot.from > now; });
  return Finish(zone, country, IntensityKind::kMeasured, now, std::move(payload));
}

Result<ProviderAnswer> EnergyCharts::Forecast(const Zone& zone, TimePoint from, TimePoint to,
                                              TimePoint now) {
  LOWTIDE_TRY(const std::string country, NameOf(zone));
  LOWTIDE_TRY(Payload payload, Fetch(zone, country, from, to, EnergyChartsValues::kForecast));
  return Finish(zone, country, IntensityKind::kForecast, now, std::move(payload));
}

}  // namespace lowtide
