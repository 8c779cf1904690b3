#include "grid/providers/electricity_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "grid/providers/electricity_maps_payload.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongestRange = 240h;  // of hourly values in one past-range
constexpr std::array<int, 4> kHorizons = {6, 24, 48, 72};

}  // namespace

Result<std::unique_ptr<Provider>> ElectricityMaps::Make(const ProviderSettings& settings,
                                                        HttpTransport& transport,
                                                        const ZoneTable& zones) {
  const auto refuse = [](std::string_view what) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: {}", kName, what));
  };
  if (settings.key.empty()) {
    return refuse(
        "no key; get one at https://app.electricitymaps.com and set "
        "LOWTIDE_ELECTRICITY_MAPS_KEY, ELECTRICITY_MAPS_API_KEY, or key_file in "
        "[sources.electricity_maps]");
  }
  if (!settings.version.empty() && settings.version != "v4" && settings.version != "v3") {
    return refuse(fmt::format("version '{}'; allowed are v4 and v3", settings.version));
  }
  if (settings.signal == Signal::kMarginal) {
    return refuse("signal 'marginal'; it has only the average");
  }
  return std::unique_ptr<Provider>(
      new ElectricityMaps(kName, settings, kEndpoint, transport, zones));
}

ProviderAbilities ElectricityMaps::Abilities() const {
  return {.latest = true,
          .history = true,
          .forecast = true,
          .step = 1h,
          .horizon = 72h,
          .signal = Signal::kAverage,
          .basis = Settings().basis == Basis::kDirect ? Basis::kDirect : Basis::kLifecycle};
}

HttpRequest ElectricityMaps::Query(std::string_view temporality) const {
  const std::string& endpoint = Settings().endpoint;
  const bool has_version = endpoint.ends_with("/v3") || endpoint.ends_with("/v4");
  const std::string version = Settings().version.empty() ? "v4" : Settings().version;
  const bool old = has_version ? endpoint.ends_with("/v3") : version == "v3";
  HttpRequest request =
      Request(fmt::format("{}/carbon-intensity/{}", has_version ? "" : "/" + version, temporality));
  const std::string header = Settings().key_header.empty() ? "auth-token" : Settings().key_header;
  request.headers.push_back({header, Settings().key});
  request.secret_names.push_back(header);
  request.query.emplace_back("emissionFactorType",
                             Settings().basis == Basis::kDirect ? "direct" : "lifecycle");
  // Without it an unknown zone is answered for the place that the caller's address points to.
  if (old) {
    request.query.emplace_back("shouldUseFallbackCallerLookup", "false");
  } else {
    request.query.emplace_back("disableCallerLookup", "true");
  }
  return request;
}

std::string ElectricityMaps::NameFor(const Zone& zone) const {
  return NameInSettings(zone).value_or(zone.key);
}

Error ElectricityMaps::StatusError(const HttpResponse& response, const Zone& zone) const {
  const std::string text = ErrorText(response.body);
  const auto has = [&text](const char* part) { return text.find(part) != std::string::npos; };
  if (response.status == 401 || response.status == 403) {
    const bool plan = has("Request unauthorized") || has("do not have access") ||
                      has("unauthorized for zoneKey") || has("Endpoint not available");
    return Failure(
        Code::kPermissionDenied, zone,
        plan ? fmt::format("the plan of this key does not cover this request ({}): {}; the key "
                           "itself is valid",
                           response.status, text)
             : fmt::format("the key is not accepted ({}): {}; a new key takes some minutes to "
                           "become active, and some keys serve one zone only",
                           response.status, text));
  }
  if (response.status == 404 && has("no Route matched")) {
    return Failure(Code::kUnavailable, zone,
                   fmt::format("{} is gone or is no endpoint of this interface (404): {}; set "
                               "'endpoint' in [sources.electricity_maps]",
                               Settings().endpoint, text));
  }
  return ProviderBase::StatusError(response, zone);
}

Result<Payload> ElectricityMaps::Fetch(const HttpRequest& request, const Zone& zone) const {
  LOWTIDE_TRY(const std::string body, Body(request, zone));
  auto payload = ParseElectricityMaps(body);
  if (!payload) return Failed(payload.error(), zone);
  LOWTIDE_TRY_STATUS(CheckZone(*payload, zone, NameFor(zone)));
  // Direct emissions are 0 where no fuel is burnt; lifecycle ones never are.
  if (Settings().basis != Basis::kDirect && AllZero(payload->slots)) {
    return std::unexpected(
        Failure(Code::kUnavailable, zone,
                fmt::format("all {} values are 0, which is an outage, no clean grid",
                            payload->slots.size())));
  }
  return payload;
}

ProviderAnswer ElectricityMaps::Finish(const Zone& zone, IntensityKind kind, TimePoint now,
                                       Payload payload) const {
  ProviderAnswer out = Answer(zone, NameFor(zone), kind, now, std::move(payload));
  out.signal = Signal::kAverage;
  out.basis = Settings().basis == Basis::kDirect ? Basis::kDirect : Basis::kLifecycle;
  return out;
}

Result<ProviderAnswer> ElectricityMaps::Latest(const Zone& zone, TimePoint now) {
  HttpRequest request = Query("latest");
  request.query.emplace_back("zone", NameFor(zone));
  LOWTIDE_TRY(Payload payload, Fetch(request, zone));
  return Newest(Finish(zone, IntensityKind::kMeasured, now, std::move(payload)), now);
}

Result<Payload> ElectricityMaps::LastDay(const Zone& zone) const {
  HttpRequest request = Query("history");
  request.query.emplace_back("zone", NameFor(zone));
  return Fetch(request, zone);
}

Result<Payload> ElectricityMaps::PastRange(const Zone& zone, TimePoint from, TimePoint to) const {
  const auto chunks = Chunks(FloorTo(from, 1h), CeilTo(to, 1h), kLongestRange);
  if (!chunks) return Failed(chunks.error(), zone);
  Payload whole;
  for (const auto& [start, end] : *chunks) {
    HttpRequest request = Query("past-range");
    request.query.emplace_back("zone", NameFor(zone));
    request.query.emplace_back("start", WholeSeconds(start));
    request.query.emplace_back("end", WholeSeconds(end));
    LOWTIDE_TRY(Payload part, Fetch(request, zone));
    if (const auto status = Append(whole, std::move(part)); !status) {
      return Failed(status.error(), zone);
    }
  }
  Normalise(whole);
  whole.issued_at.reset();
  return whole;
}

Result<ProviderAnswer> ElectricityMaps::History(const Zone& zone, TimePoint from, TimePoint to,
                                                TimePoint now) {
  if (from >= to) return Failed(Chunks(from, to, 1h).error(), zone);
  const bool within_a_day = from >= FloorTo(now, 1h) - 23h;
  auto payload = within_a_day ? LastDay(zone) : PastRange(zone, from, to);
  if (!payload && payload.error().code == Code::kPermissionDenied && !within_a_day &&
      to > now - 24h) {
    const std::string why = payload.error().message;
    payload = LastDay(zone);
    if (payload) payload->notes.push_back("only the last 24 hours: " + why);
  }
  if (!payload) return std::unexpected(payload.error());
  KeepTouching(payload->slots, from, to);
  return Finish(zone, IntensityKind::kMeasured, now, *std::move(payload));
}

Result<ProviderAnswer> ElectricityMaps::Forecast(const Zone& zone, TimePoint from, TimePoint to,
                                                 TimePoint now) {
  if (from >= to) return Failed(Chunks(from, to, 1h).error(), zone);
  const auto ahead = CeilTo(to, 1h) - FloorTo(now, 1h);
  const auto* horizon = std::ranges::find_if(
      kHorizons, [ahead](int hours) { return std::chrono::hours(hours + 1) >= ahead; });
  HttpRequest request = Query("forecast");
  request.query.emplace_back("zone", NameFor(zone));
  request.query.emplace_back(
      "horizonHours", fmt::format("{}", horizon == kHorizons.end() ? kHorizons.back() : *horizon));
  LOWTIDE_TRY(Payload payload, Fetch(request, zone));
  KeepTouching(payload.slots, from, to);
  return Finish(zone, IntensityKind::kForecast, now, std::move(payload));
}

Result<std::string> ElectricityMaps::NameAt(const Coordinates& at, TimePoint /*now*/) {
  LOWTIDE_TRY_STATUS(CheckCoordinates(at));
  HttpRequest request = Query("latest");
  request.query.emplace_back("lat", FormatDegrees(at.latitude));
  request.query.emplace_back("lon", FormatDegrees(at.longitude));
  LOWTIDE_TRY(const std::string body, Body(request, {}));
  const auto payload = ParseElectricityMaps(body);
  if (!payload) return Failed(payload.error(), {});
  if (!payload->zone.empty()) return payload->zone;
  return std::unexpected(Failure(Code::kDataLoss, {}, "the answer names no zone"));
}

}  // namespace lowtide
