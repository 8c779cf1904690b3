#include "grid/providers/provider_base.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "http/base64.h"
#include "http/redact.h"

namespace lowtide {
namespace {

std::string WithoutSlash(std::string_view url) {
  while (url.ends_with('/')) url.remove_suffix(1);
  return std::string(url);
}

}  // namespace

ProviderBase::ProviderBase(std::string_view name, ProviderSettings settings,
                           std::string_view endpoint, HttpTransport& transport,
                           const ZoneTable& zones)
    : name_(name), settings_(std::move(settings)), transport_(transport), zones_(zones) {
  settings_.endpoint = WithoutSlash(settings_.endpoint.empty() ? endpoint : settings_.endpoint);
}

HttpRequest ProviderBase::Request(std::string_view path) const {
  HttpRequest request;
  request.url = settings_.endpoint + std::string(path);
  request.headers.push_back({"Accept", "application/json"});
  for (const std::string& secret : {settings_.key, settings_.password}) {
    if (!secret.empty()) request.secrets.push_back(secret);
  }
  return request;
}

Result<HttpResponse> ProviderBase::Send(const HttpRequest& request) const {
  auto response = transport_.Send(request);
  if (response) return response;
  return Fail(response.error().code,
              Redacted(fmt::format("{}: {}", name_, response.error().message)));
}

Result<std::string> ProviderBase::Body(const HttpRequest& request, const Zone& zone) const {
  LOWTIDE_TRY(HttpResponse response, Send(request));
  if (response.status == 200) return std::move(response.body);
  return std::unexpected(StatusError(response, zone));
}

Error ProviderBase::StatusError(const HttpResponse& response, const Zone& zone) const {
  const std::string text = ErrorText(response.body);
  const std::string said = text.empty() ? "" : fmt::format(": {}", text);
  const int status = response.status;
  if (status == 401 || status == 403) {
    return Failure(Code::kPermissionDenied, zone,
                   fmt::format("not permitted ({}){}", status, said));
  }
  if (status == 404) return Failure(Code::kNotFound, zone, fmt::format("not found (404){}", said));
  if (status == 429) {
    const auto after = response.Header("retry-after");
    return Failure(
        Code::kUnavailable, zone,
        fmt::format("asked too often (429){}{}",
                    after ? fmt::format(", again after {}", after->substr(0, 40)) : "", said));
  }
  if (status >= 500) {
    return Failure(Code::kUnavailable, zone, fmt::format("fails ({}){}", status, said));
  }
  if (status >= 400) {
    return Failure(Code::kUnavailable, zone,
                   fmt::format("refuses the request ({}){}", status, said));
  }
  return Failure(Code::kUnavailable, zone, fmt::format("unexpected status {}{}", status, said));
}

Error ProviderBase::Failure(Code code, const Zone& zone, std::string_view what) const {
  const std::string of = zone.key.empty() ? "" : fmt::format("zone {}: ", zone.key);
  return Error{code, Redacted(fmt::format("{}: {}{}", name_, of, what))};
}

std::unexpected<Error> ProviderBase::Failed(const Error& error, const Zone& zone) const {
  return std::unexpected(Failure(error.code, zone, error.message));
}

std::optional<std::string> ProviderBase::NameInSettings(const Zone& zone) const {
  const auto it = std::ranges::find(settings_.zone_names, zone.key,
                                    &std::pair<std::string, std::string>::first);
  if (it == settings_.zone_names.end()) return std::nullopt;
  return it->second;
}

Result<std::string> ProviderBase::NameOf(const Zone& zone) const {
  if (auto name = NameInSettings(zone)) return *std::move(name);
  if (auto name = zones_.ProviderName(name_, zone)) return *std::move(name);
  const auto known = zones_.ZonesOf(name_);
  return std::unexpected(Failure(
      Code::kNotFound, zone,
      fmt::format("does not cover it, as far as the table of zones knows; it covers {}{}",
                  fmt::join(known, ", "), known.empty() ? "none: name them in zone_names" : "")));
}

ProviderAnswer ProviderBase::Answer(const Zone& zone, std::string provider_zone, IntensityKind kind,
                                    TimePoint now, Payload payload) const {
  ProviderAnswer out;
  out.provider = name_;
  out.zone = zone;
  out.provider_zone = std::move(provider_zone);
  out.kind = kind;
  out.slots = std::move(payload.slots);
  out.missing = payload.missing;
  out.fetched_at = now;
  out.issued_at = payload.issued_at;
  for (const std::string& note : payload.notes) out.notes.push_back(Redacted(note));
  if (payload.duplicates > 0) {
    out.notes.push_back(fmt::format("{} slots came more than once", payload.duplicates));
  }
  return out;
}

Status ProviderBase::CheckZone(const Payload& payload, const Zone& zone,
                               std::string_view asked) const {
  if (payload.zone.empty() || payload.zone == asked) return {};
  return std::unexpected(Failure(Code::kDataLoss, zone,
                                 fmt::format("asked for '{}', answered for '{}': not used", asked,
                                             payload.zone.substr(0, 60))));
}

Result<ProviderAnswer> ProviderBase::Newest(ProviderAnswer answer, TimePoint now) const {
  // A slot labelled a little ahead is normal for "latest" when it is the only one.
  const auto begins_later = [now](const ProviderSlot& slot) { return slot.from > now; };
  if (answer.slots.size() > 1) std::erase_if(answer.slots, begins_later);
  if (answer.slots.empty()) {
    return std::unexpected(Failure(
        Code::kNotFound, answer.zone,
        answer.missing > 0 ? fmt::format("its {} newest values are missing (null)", answer.missing)
                           : "has no value now"));
  }
  answer.slots.erase(answer.slots.begin(), answer.slots.end() - 1);
  return answer;
}

std::string ProviderBase::Redacted(std::string text, std::string_view secret) const {
  // A prefix alone ("Basic") is no secret; what stands for user name and password is.
  return Redact(std::move(text),
                {settings_.key, settings_.password,
                 Base64(settings_.username + ":" + settings_.password), std::string(secret)});
}

Result<std::vector<Interval>> Chunks(TimePoint from, TimePoint to,
                                     std::chrono::milliseconds length) {
  if (from >= to) {
    return Fail(Code::kInvalidArgument, fmt::format("the interval from {} to {} is empty",
                                                    FormatTime(from), FormatTime(to)));
  }
  const auto count =
      static_cast<std::size_t>((to - from - std::chrono::milliseconds(1)) / length) + 1;
  if (count > kMostRequests) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} to {} would take {} requests; at most {} are sent at once",
                            FormatTime(from), FormatTime(to), count, kMostRequests));
  }
  std::vector<Interval> out;
  for (TimePoint at = from; at < to; at += length) out.emplace_back(at, std::min(at + length, to));
  return out;
}

TimePoint FloorTo(TimePoint t, std::chrono::milliseconds step) {
  const auto rest = t.time_since_epoch() % step;
  return t - (rest.count() < 0 ? rest + step : rest);
}

TimePoint CeilTo(TimePoint t, std::chrono::milliseconds step) {
  const TimePoint floor = FloorTo(t, step);
  return floor == t ? t : floor + step;
}

std::string WholeSeconds(TimePoint t) { return FormatTime(FloorTo(t, std::chrono::seconds(1))); }

}  // namespace lowtide
