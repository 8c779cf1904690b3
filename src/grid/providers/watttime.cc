#include "grid/providers/watttime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "http/base64.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;

constexpr auto kTokenAge = 25min;  // of the 30 that a token is valid
constexpr auto kRegionAge = 30 * 24h;
constexpr auto kLongestHistory = 30 * 24h;  // of 32 days, both ends inclusive
// Of generated_at in one request: a day is allowed, but would be 288 forecasts of 864 points.
constexpr auto kLongestPast = 8h;
constexpr int kLongestHorizon = 72;
constexpr int kShortestHorizon = 24;  // asked for: zeros that last a day are no forecast
constexpr auto kNotZeroFor = 12h;

// A 401, or a 403 that is no JSON: the token is not accepted (any more).
bool IsTokenRefused(const HttpResponse& response) {
  return response.status == 401 || (response.status == 403 && !IsWattTimeScopeError(response.body));
}

}  // namespace

Result<std::unique_ptr<Provider>> WattTime::Make(const ProviderSettings& settings,
                                                 HttpTransport& transport, const ZoneTable& zones) {
  const auto refuse = [](std::string_view what) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: {}", kName, what));
  };
  if (settings.username.empty() || settings.password.empty()) {
    return refuse(
        "no user name or password; register as https://docs.watttime.org says, and set "
        "WATTTIME_USERNAME and WATTTIME_PASSWORD, or username and password_file in "
        "[sources.watttime]");
  }
  const std::string& endpoint = settings.endpoint;
  if (endpoint.find("api2.watttime.org") != std::string::npos || endpoint.ends_with("/v2") ||
      endpoint.ends_with("/v2/") || settings.version == "v2") {
    return refuse(
        fmt::format("WattTime retired version 2 ({}) in 2024; leave 'endpoint' and "
                    "'version' out to use v3",
                    endpoint.empty() ? "v2" : endpoint));
  }
  if (!settings.version.empty() && settings.version != "v3") {
    return refuse(fmt::format("version '{}'; there is only v3", settings.version));
  }
  if (settings.basis && *settings.basis != Basis::kDirect) {
    return refuse(
        fmt::format("basis '{}'; it has only direct emissions", BasisName(*settings.basis)));
  }
  return std::unique_ptr<Provider>(new WattTime(kName, settings, kEndpoint, transport, zones));
}

std::string_view WattTime::SignalType() const {
  return Settings().signal == Signal::kAverage ? "co2_aoer" : "co2_moer";
}

ProviderAbilities WattTime::Abilities() const {
  const bool marginal = Settings().signal != Signal::kAverage;
  ProviderAbilities out{.latest = marginal,
                        .history = true,
                        .forecast = marginal,
                        .step = 300s,
                        .horizon = std::nullopt,
                        .signal = marginal ? Signal::kMarginal : Signal::kAverage,
                        .basis = Basis::kDirect};
  if (marginal) out.horizon = 72h;
  return out;
}

Error WattTime::StatusError(const HttpResponse& response, const Zone& zone) const {
  const std::string text = ErrorText(response.body);
  if (response.status == 403 && IsWattTimeScopeError(response.body)) {
    return Failure(Code::kPermissionDenied, zone,
                   fmt::format("the plan of this account does not cover this request (403): {}; "
                               "free accounts have CAISO_NORTH (zone US-CAL-CISO) only",
                               text));
  }
  if (IsTokenRefused(response)) {
    return Failure(Code::kPermissionDenied, zone,
                   fmt::format("a token just obtained is refused ({}): {}", response.status, text));
  }
  if (response.status == 404 && text.find("No coverage") != std::string::npos) {
    return Failure(Code::kNotFound, zone, fmt::format("covers nothing there (404): {}", text));
  }
  return ProviderBase::StatusError(response, zone);
}

Result<std::string> WattTime::Token(TimePoint now, const std::string& refused) {
  const std::scoped_lock lock(mutex_);
  const auto age = now - obtained_at_;
  if (!token_.empty() && token_ != refused && age >= 0s && age < kTokenAge) return token_;
  token_.clear();
  HttpRequest request = Request("/login");
  const std::string basic = Base64(Settings().username + ":" + Settings().password);
  request.headers.push_back({"Authorization", "Basic " + basic});
  request.secret_names.emplace_back("Authorization");
  request.secrets.push_back(basic);
  LOWTIDE_TRY(const HttpResponse response, Send(request));
  if (response.status == 401 || response.status == 403) {
    return std::unexpected(Failure(Code::kPermissionDenied, {},
                                   fmt::format("user name or password is not accepted ({}): {}",
                                               response.status, ErrorText(response.body))));
  }
  if (response.status != 200) return std::unexpected(StatusError(response, {}));
  auto token = ParseWattTimeToken(response.body);
  if (!token) return Failed(token.error(), {});
  token_ = *std::move(token);
  obtained_at_ = now;
  return token_;
}

Result<std::string> WattTime::Get(std::string_view path,
                                  std::vector<std::pair<std::string, std::string>> query,
                                  const Zone& zone, TimePoint now) {
  HttpRequest request = Request(path);
  request.query = std::move(query);
  request.query.emplace_back("signal_type", SignalType());
  request.secret_names.emplace_back("Authorization");
  const std::size_t headers = request.headers.size();
  const std::size_t secrets = request.secrets.size();
  std::string token;
  for (int attempt = 0;; ++attempt) {
    LOWTIDE_TRY(token, Token(now, token));
    request.headers.resize(headers);
    request.secrets.resize(secrets);
    request.headers.push_back({"Authorization", "Bearer " + token});
    request.secrets.push_back(token);
    auto response = Send(request);
    if (!response) {
      return Fail(response.error().code, Redacted(response.error().message, token));
    }
    // What a parser says of the body is told, and a body may repeat the token.
    if (response->status == 200) return Redacted(std::move(response->body), token);
    if (attempt > 0 || !IsTokenRefused(*response)) {
      Error error = StatusError(*response, zone);
      error.message = Redacted(std::move(error.message), token);
      return std::unexpected(std::move(error));
    }
  }
}

Result<std::string> WattTime::NameAt(const Coordinates& at, TimePoint now) {
  LOWTIDE_TRY_STATUS(CheckCoordinates(at));
  LOWTIDE_TRY(const std::string body, Get("/v3/region-from-loc",
                                          {{"latitude", FormatDegrees(at.latitude)},
                                           {"longitude", FormatDegrees(at.longitude)}},
                                          {}, now));
  auto region = ParseWattTimeRegion(body);
  if (!region) return Failed(region.error(), {});
  return region;
}

Result<WattTime::Region> WattTime::RegionOf(const Zone& zone, TimePoint now) {
  if (auto name = NameInSettings(zone)) return Region{*std::move(name), now, ""};
  if (auto name = Zones().ProviderName(kName, zone)) return Region{*std::move(name), now, ""};
  const ZoneInfo* info = Zones().Find(zone.key);
  if (info == nullptr) {
    return std::unexpected(
        Failure(Code::kNotFound, zone, "not in the table of zones; name its region in zone_names"));
  }
  {
    const std::scoped_lock lock(mutex_);
    const auto it = regions_.find(zone.key);
    if (it != regions_.end() && now - it->second.resolved_at < kRegionAge) return it->second;
  }
  auto name = NameAt(info->at, now);
  if (!name) return Failed(name.error(), zone);
  Region region{*std::move(name), now, ""};
  region.note =
      fmt::format("region {} is WattTime's for {}, in zone {}", region.name, info->place, zone.key);
  const std::scoped_lock lock(mutex_);
  regions_.insert_or_assign(zone.key, region);
  return region;
}

Status WattTime::Check(const WattTimePayload& payload, const Zone& zone,
                       const Region& region) const {
  LOWTIDE_TRY_STATUS(CheckZone(payload.series, zone, region.name));
  if (!payload.signal.empty() && payload.signal != SignalType()) {
    return std::unexpected(Failure(Code::kDataLoss, zone,
                                   fmt::format("asked for {}, answered with {}: not used",
                                               SignalType(), payload.signal.substr(0, 40))));
  }
  return {};
}

Status WattTime::CheckOutage(const Payload& payload, const Zone& zone, const Region& region,
                             TimePoint now) {
  if (!AllZero(payload.slots)) return {};
  std::size_t zeros = payload.slots.size();
  const TimePoint end = payload.slots.back().to;
  if (end - payload.slots.front().from < kNotZeroFor) {
    // Surplus sun makes hours of zero; whether it is that, the day before tells.
    LOWTIDE_TRY(const WattTimePayload day, FetchHistory(zone, region, {end - 24h, end}, now));
    if (!AllZero(day.series.slots)) return {};
    zeros = day.series.slots.size();
  }
  return std::unexpected(
      Failure(Code::kUnavailable, zone,
              fmt::format("all {} values are 0, which is an outage, no clean grid", zeros)));
}

Result<WattTimePayload> WattTime::FetchHistory(const Zone& zone, const Region& region,
                                               const Interval& interval, TimePoint now) {
  LOWTIDE_TRY(const std::string body, Get("/v3/historical",
                                          {{"region", region.name},
                                           {"start", WholeSeconds(interval.first)},
                                           {"end", WholeSeconds(interval.second)},
                                           {"include_imputed_marker", "true"}},
                                          zone, now));
  auto payload = ParseWattTime(body);
  if (!payload) return Failed(payload.error(), zone);
  LOWTIDE_TRY_STATUS(Check(*payload, zone, region));
  return payload;
}

ProviderAnswer WattTime::Finish(const Zone& zone, const Region& region, IntensityKind kind,
                                TimePoint now, WattTimePayload payload) const {
  if (!region.note.empty()) payload.series.notes.push_back(region.note);
  ProviderAnswer out = Answer(zone, region.name, kind, now, std::move(payload.series));
  out.signal = Settings().signal == Signal::kAverage ? Signal::kAverage : Signal::kMarginal;
  out.basis = Basis::kDirect;
  if (!payload.model.empty()) out.notes.push_back(fmt::format("model {}", payload.model));
  return out;
}

Result<WattTimePayload> WattTime::FetchForecast(const Zone& zone, const Region& region, int hours,
                                                TimePoint now) {
  if (Settings().signal == Signal::kAverage) {
    return std::unexpected(
        Failure(Code::kUnimplemented, zone, "there is no forecast of the average"));
  }
  LOWTIDE_TRY(
      const std::string body,
      Get("/v3/forecast", {{"region", region.name}, {"horizon_hours", fmt::format("{}", hours)}},
          zone, now));
  auto payload = ParseWattTime(body);
  if (!payload) return Failed(payload.error(), zone);
  LOWTIDE_TRY_STATUS(Check(*payload, zone, region));
  LOWTIDE_TRY_STATUS(CheckOutage(payload->series, zone, region, now));
  return payload;
}

Result<ProviderAnswer> WattTime::Latest(const Zone& zone, TimePoint now) {
  LOWTIDE_TRY(const Region region, RegionOf(zone, now));
  LOWTIDE_TRY(WattTimePayload payload, FetchForecast(zone, region, kShortestHorizon, now));
  for (ProviderSlot& slot : payload.series.slots) slot.estimated = true;
  ProviderAnswer answer = Finish(zone, region, IntensityKind::kForecast, now, std::move(payload));
  std::erase_if(answer.slots, [now](const ProviderSlot& slot) {
    return slot.to <= now - 30min || slot.from > now;
  });
  return Newest(std::move(answer), now);
}

Result<ProviderAnswer> WattTime::History(const Zone& zone, TimePoint from, TimePoint to,
                                         TimePoint now) {
  const auto chunks = Chunks(from < to ? FloorTo(from, 5min) : from, to, kLongestHistory);
  if (!chunks) return Failed(chunks.error(), zone);
  LOWTIDE_TRY(const Region region, RegionOf(zone, now));
  WattTimePayload whole;
  for (const auto& [start, end] : *chunks) {
    LOWTIDE_TRY(WattTimePayload part, FetchHistory(zone, region, {start, end}, now));
    // Series of different models are on different scales.
    if (!whole.series.slots.empty() && part.model != whole.model) {
      return std::unexpected(Failure(
          Code::kDataLoss, zone,
          fmt::format(
              "the interval holds values of models {} and {}, which must not be joined; ask "
              "for the time from {} on",
              whole.model, part.model, FormatTime(start))));
    }
    whole.model = part.model;
    if (const auto status = Append(whole.series, std::move(part.series)); !status) {
      return Failed(status.error(), zone);
    }
  }
  // Both ends are inclusive, so that parts share a point.
  const auto shared = static_cast<std::int64_t>(chunks->size()) - 1;
  Normalise(whole.series);
  whole.series.duplicates = std::max<std::int64_t>(0, whole.series.duplicates - shared);
  LOWTIDE_TRY_STATUS(CheckOutage(whole.series, zone, region, now));
  KeepTouching(whole.series.slots, from, to);
  return Finish(zone, region, IntensityKind::kMeasured, now, std::move(whole));
}

Result<ProviderAnswer> WattTime::Forecast(const Zone& zone, TimePoint from, TimePoint to,
                                          TimePoint now) {
  if (from >= to) return Failed(Chunks(from, to, 1h).error(), zone);
  LOWTIDE_TRY(const Region region, RegionOf(zone, now));
  const auto ahead = std::chrono::ceil<std::chrono::hours>(to - now).count();
  const int hours =
      static_cast<int>(std::clamp<std::int64_t>(ahead, kShortestHorizon, kLongestHorizon));
  LOWTIDE_TRY(WattTimePayload payload, FetchForecast(zone, region, hours, now));
  KeepTouching(payload.series.slots, from, to);
  return Finish(zone, region, IntensityKind::kForecast, now, std::move(payload));
}

Result<std::vector<ProviderAnswer>> WattTime::PastForecasts(const Zone& zone, TimePoint from,
                                                            TimePoint to, TimePoint now) {
  const auto chunks = Chunks(from, to, kLongestPast);
  if (!chunks) return Failed(chunks.error(), zone);
  LOWTIDE_TRY(const Region region, RegionOf(zone, now));
  std::map<TimePoint, WattTimePayload> by_issue;
  for (const auto& [start, end] : *chunks) {
    LOWTIDE_TRY(const std::string body, Get("/v3/forecast/historical",
                                            {{"region", region.name},
                                             {"start", WholeSeconds(start)},
                                             {"end", WholeSeconds(end)},
                                             {"horizon_hours", fmt::format("{}", kLongestHorizon)}},
                                            zone, now));
    auto forecasts = ParseWattTimePastForecasts(body);
    if (!forecasts) return Failed(forecasts.error(), zone);
    for (WattTimePayload& forecast : *forecasts) {
      LOWTIDE_TRY_STATUS(Check(forecast, zone, region));
      LOWTIDE_TRY_STATUS(CheckOutage(forecast.series, zone, region, now));
      const TimePoint issued = *forecast.series.issued_at;
      if (issued >= from && issued < to) by_issue.insert_or_assign(issued, std::move(forecast));
    }
  }
  std::vector<ProviderAnswer> out;
  out.reserve(by_issue.size());
  for (auto& [issued, forecast] : by_issue) {
    out.push_back(Finish(zone, region, IntensityKind::kForecast, now, std::move(forecast)));
  }
  return out;
}

}  // namespace lowtide
