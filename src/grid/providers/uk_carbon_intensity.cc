#include "grid/providers/uk_carbon_intensity.h"

#include <fmt/format.h>

#include <algorithm>

namespace lowtide {
namespace {

using namespace std::chrono_literals;

constexpr auto kSlot = 30min;
constexpr auto kLongestRange = 10 * 24h;

// "2018-01-20T12:00Z": seconds are not accepted.
std::string Minutes(TimePoint t) { return FormatTime(FloorTo(t, 1min)).substr(0, 16) + "Z"; }

bool IsRegionId(std::string_view name) {
  for (int id = 1; id <= 17; ++id) {
    if (name == fmt::format("{}", id)) return true;
  }
  return false;
}

// Ranges across New Year came back cut: no part crosses one.
std::vector<Interval> CutAtNewYear(const std::vector<Interval>& chunks) {
  std::vector<Interval> out;
  for (const auto& [from, to] : chunks) {
    const std::chrono::year_month_day last(std::chrono::floor<std::chrono::days>(to - 1ms));
    const TimePoint new_year = std::chrono::sys_days(last.year() / std::chrono::January / 1);
    if (from < new_year && new_year < to) {
      out.emplace_back(from, new_year);
      out.emplace_back(new_year, to);
    } else {
      out.emplace_back(from, to);
    }
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<Provider>> UkCarbonIntensity::Make(const ProviderSettings& settings,
                                                          HttpTransport& transport,
                                                          const ZoneTable& zones) {
  if (settings.signal == Signal::kMarginal) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: signal 'marginal'; it has only the average", kName));
  }
  if (settings.basis && *settings.basis != Basis::kDirect) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: basis '{}'; it has only direct emissions",
                                                    kName, BasisName(*settings.basis)));
  }
  for (const auto& [zone, name] : settings.zone_names) {
    if (name == "national" || IsRegionId(name)) continue;
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: zone_names: '{}={}'; allowed are national and the region ids 1 to "
                            "17",
                            kName, zone, name));
  }
  return std::unique_ptr<Provider>(
      new UkCarbonIntensity(kName, settings, kEndpoint, transport, zones));
}

ProviderAbilities UkCarbonIntensity::Abilities() const {
  return {.latest = true,
          .history = true,
          .forecast = true,
          .step = kSlot,
          .horizon = 48h,
          .signal = Signal::kAverage,
          .basis = Basis::kDirect};
}

Result<Payload> UkCarbonIntensity::Fetch(const std::string& region, TimePoint from, TimePoint to,
                                         const Zone& zone, UkValues values) const {
  const auto chunks = from < to ? Chunks(FloorTo(from, kSlot), CeilTo(to, kSlot), kLongestRange)
                                : Chunks(from, to, kLongestRange);
  if (!chunks) return Failed(chunks.error(), zone);
  const std::vector<Interval> parts = CutAtNewYear(*chunks);
  Payload whole;
  for (const auto& [start, end] : parts) {
    const std::string range = fmt::format("{}/{}", Minutes(start), Minutes(end));
    const HttpRequest request = Request(
        region == "national" ? "/intensity/" + range
                             : fmt::format("/regional/intensity/{}/regionid/{}", range, region));
    LOWTIDE_TRY(const std::string body, Body(request, zone));
    auto part = ParseUkCarbonIntensity(body, values);
    if (!part) return Failed(part.error(), zone);
    LOWTIDE_TRY_STATUS(CheckZone(*part, zone, region));
    if (const auto status = Append(whole, *std::move(part)); !status) {
      return Failed(status.error(), zone);
    }
  }
  const auto before = whole.duplicates;
  Normalise(whole);
  // The slot before the asked one comes with each part, which is no fault of the data.
  if (parts.size() > 1) whole.duplicates = before;
  KeepTouching(whole.slots, from, to);
  return whole;
}

ProviderAnswer UkCarbonIntensity::Finish(const Zone& zone, const std::string& region,
                                         IntensityKind kind, TimePoint now, Payload payload) const {
  ProviderAnswer out = Answer(zone, region, kind, now, std::move(payload));
  out.signal = Signal::kAverage;
  out.basis = Basis::kDirect;
  return out;
}

Result<ProviderAnswer> UkCarbonIntensity::Latest(const Zone& zone, TimePoint now) {
  LOWTIDE_TRY(const std::string region, NameOf(zone));
  LOWTIDE_TRY(Payload payload, Fetch(region, now - kSlot, now + kSlot, zone, UkValues::kActual));
  return Newest(Finish(zone, region, IntensityKind::kMeasured, now, std::move(payload)), now);
}

Result<ProviderAnswer> UkCarbonIntensity::History(const Zone& zone, TimePoint from, TimePoint to,
                                                  TimePoint now) {
  LOWTIDE_TRY(const std::string region, NameOf(zone));
  LOWTIDE_TRY(Payload payload, Fetch(region, from, to, zone, UkValues::kActual));
  // What lies ahead is a forecast, not history.
  std::erase_if(payload.slots, [now](const ProviderSlot& slot) { return slot.from > now; });
  return Finish(zone, region, IntensityKind::kMeasured, now, std::move(payload));
}

Result<ProviderAnswer> UkCarbonIntensity::Forecast(const Zone& zone, TimePoint from, TimePoint to,
                                                   TimePoint now) {
  LOWTIDE_TRY(const std::string region, NameOf(zone));
  LOWTIDE_TRY(Payload payload, Fetch(region, from, to, zone, UkValues::kForecast));
  return Finish(zone, region, IntensityKind::kForecast, now, std::move(payload));
}

}  // namespace lowtide
