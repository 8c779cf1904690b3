#include "grid/providers/carbon_aware_sdk.h"

#include <fmt/format.h>

#include <algorithm>

#include "grid/providers/carbon_aware_sdk_payload.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
constexpr auto kLongestRange = 10 * 24h;

}  // namespace

Result<std::unique_ptr<Provider>> CarbonAwareSdk::Make(const ProviderSettings& settings,
                                                       HttpTransport& transport,
                                                       const ZoneTable& zones) {
  const auto refuse = [](std::string_view what) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: {}", kName, what));
  };
  if (settings.endpoint.empty()) {
    return refuse(
        "no endpoint; set LOWTIDE_CARBON_AWARE_SDK_ENDPOINT, or endpoint in "
        "[sources.carbon_aware_sdk], to the address of the server");
  }
  if (!settings.signal) {
    return refuse(
        "no signal; the server does not say what its source gives: set signal = "
        "'average' or 'marginal' in [sources.carbon_aware_sdk]");
  }
  return std::unique_ptr<Provider>(new CarbonAwareSdk(kName, settings, "", transport, zones));
}

ProviderAbilities CarbonAwareSdk::Abilities() const {
  return {.latest = true,
          .history = true,
          .forecast = true,
          .step = 300s,
          .horizon = std::nullopt,
          .signal = *Settings().signal,
          .basis = Settings().basis.value_or(Basis::kUnstated)};
}

std::string CarbonAwareSdk::LocationOf(const Zone& zone) const {
  return NameInSettings(zone).value_or(zone.key);
}

Error CarbonAwareSdk::StatusError(const HttpResponse& response, const Zone& zone) const {
  const std::string text = ErrorText(response.body);
  if (text.find("Unknown Location") != std::string::npos ||
      text.find("Unknown region") != std::string::npos) {
    return Failure(Code::kNotFound, zone,
                   fmt::format("the server has no location '{}' ({}): {}; name it in zone_names",
                               LocationOf(zone), response.status, text));
  }
  if (response.status == 501) {
    return Failure(Code::kUnimplemented, zone,
                   fmt::format("the server's source has no such data (501): {}", text));
  }
  return ProviderBase::StatusError(response, zone);
}

Result<std::optional<Payload>> CarbonAwareSdk::Emissions(const Zone& zone,
                                                         const std::string& location,
                                                         std::optional<Interval> interval) const {
  HttpRequest request = Request("/emissions/bylocation");
  request.query.emplace_back("location", location);
  if (interval) {
    request.query.emplace_back("time", WholeSeconds(interval->first));
    request.query.emplace_back("toTime", WholeSeconds(interval->second));
  }
  LOWTIDE_TRY(const HttpResponse response, Send(request));
  if (response.status == 204) return std::nullopt;
  if (response.status != 200) return std::unexpected(StatusError(response, zone));
  auto payload = ParseSdkEmissions(response.body);
  if (!payload) return Failed(payload.error(), zone);
  return *std::move(payload);
}

Status CarbonAwareSdk::CheckNotAllZero(const Payload& payload, const Zone& zone) const {
  if (!AllZero(payload.slots)) return {};
  return std::unexpected(Failure(
      Code::kUnavailable, zone,
      fmt::format("all {} values are 0, which is an outage, no clean grid", payload.slots.size())));
}

ProviderAnswer CarbonAwareSdk::Finish(const Zone& zone, const std::string& location,
                                      IntensityKind kind, TimePoint now, Payload payload) const {
  ProviderAnswer out = Answer(zone, location, kind, now, std::move(payload));
  out.signal = *Settings().signal;
  out.basis = Settings().basis.value_or(Basis::kUnstated);
  return out;
}

Result<ProviderAnswer> CarbonAwareSdk::Latest(const Zone& zone, TimePoint now) {
  const std::string location = LocationOf(zone);
  LOWTIDE_TRY(std::optional<Payload> payload, Emissions(zone, location, std::nullopt));
  if (!payload) {
    return std::unexpected(Failure(Code::kNotFound, zone, "has no value now (204)"));
  }
  LOWTIDE_TRY_STATUS(CheckNotAllZero(*payload, zone));
  return Newest(Finish(zone, location, IntensityKind::kMeasured, now, *std::move(payload)), now);
}

Result<ProviderAnswer> CarbonAwareSdk::History(const Zone& zone, TimePoint from, TimePoint to,
                                               TimePoint now) {
  const auto chunks = Chunks(from, to, kLongestRange);
  if (!chunks) return Failed(chunks.error(), zone);
  const std::string location = LocationOf(zone);
  Payload whole;
  for (const Interval& chunk : *chunks) {
    LOWTIDE_TRY(std::optional<Payload> part, Emissions(zone, location, chunk));
    if (!part) continue;
    if (const auto status = Append(whole, *std::move(part)); !status) {
      return Failed(status.error(), zone);
    }
  }
  Normalise(whole);
  LOWTIDE_TRY_STATUS(CheckNotAllZero(whole, zone));
  // The server pads what was asked for, by up to a day.
  KeepTouching(whole.slots, from, to);
  std::erase_if(whole.slots, [now](const ProviderSlot& slot) { return slot.from > now; });
  if (whole.slots.empty() && whole.missing == 0) {
    return std::unexpected(Failure(Code::kNotFound, zone, "has nothing for that time"));
  }
  return Finish(zone, location, IntensityKind::kMeasured, now, std::move(whole));
}

Result<ProviderAnswer> CarbonAwareSdk::Forecast(const Zone& zone, TimePoint from, TimePoint to,
                                                TimePoint now) {
  if (from >= to) return Failed(Chunks(from, to, 1h).error(), zone);
  const std::string location = LocationOf(zone);
  HttpRequest request = Request("/emissions/forecasts/current");
  // Without bounds: the server refuses those beyond what it has, which is not known beforehand.
  request.query.emplace_back("location", location);
  LOWTIDE_TRY(const HttpResponse response, Send(request));
  if (response.status == 204) {
    return std::unexpected(Failure(Code::kNotFound, zone, "has no forecast now (204)"));
  }
  if (response.status != 200) return std::unexpected(StatusError(response, zone));
  auto payload = ParseSdkForecast(response.body);
  if (!payload) return Failed(payload.error(), zone);
  LOWTIDE_TRY_STATUS(CheckZone(*payload, zone, location));
  LOWTIDE_TRY_STATUS(CheckNotAllZero(*payload, zone));
  KeepTouching(payload->slots, from, to);
  return Finish(zone, location, IntensityKind::kForecast, now, *std::move(payload));
}

}  // namespace lowtide
