#include "grid/providers/watttime_payload.h"

#include <fmt/format.h>

#include <cmath>

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;

constexpr std::string_view kWhat = "watttime answer";
constexpr std::string_view kPounds = "lbs_co2_per_mwh";
constexpr double kLongestPeriod = 24 * 3600.0;

struct Meta {
  std::string region;
  std::string signal;
  std::string model;
  std::optional<Milliseconds> period;
  std::optional<TimePoint> generated_at;
  std::vector<std::string> notes;
};

Result<Meta> ParseMeta(const Json& json) {
  Meta out;
  const auto it = json.find("meta");
  if (it == json.end() || !it->is_object()) {
    return Fail(Code::kDataLoss, fmt::format("{}: 'meta' is missing", kWhat));
  }
  const Json& meta = *it;
  const std::string units = JsonString(meta, "units").value_or("");
  if (units != kPounds) {
    return Fail(Code::kDataLoss, fmt::format("{}: values are in '{}', expected {}", kWhat,
                                             units.substr(0, 40), kPounds));
  }
  out.region = JsonString(meta, "region").value_or("");
  out.signal = JsonString(meta, "signal_type").value_or("");
  if (const auto model = meta.find("model"); model != meta.end()) {
    out.model = JsonString(*model, "date").value_or("");
  }
  const auto period = TolerantMember(meta, "data_point_period_seconds");
  if (period && *period >= 1 && *period <= kLongestPeriod) {
    out.period = ToMilliseconds(Seconds(*period));
  }
  if (meta.contains("generated_at")) {
    LOWTIDE_TRY(out.generated_at, TimeMember(meta, "generated_at", kWhat));
  }
  if (const auto warnings = meta.find("warnings"); warnings != meta.end()) {
    if (warnings->is_array()) {
      for (const Json& warning : *warnings) {
        if (out.notes.size() < 5) {
          out.notes.push_back(fmt::format("warns: {}", ErrorText(DumpJson(warning))));
        }
      }
    }
  }
  return out;
}

Result<WattTimePayload> ParsePoints(const Json& points, const Meta& meta) {
  if (!points.is_array()) {
    return Fail(Code::kDataLoss, fmt::format("{}: the points are no array", kWhat));
  }
  WattTimePayload out;
  out.signal = meta.signal;
  out.model = meta.model;
  out.series.zone = meta.region;
  out.series.issued_at = meta.generated_at;
  out.series.notes = meta.notes;
  std::vector<TimePoint> times;
  for (const Json& point : points) {
    LOWTIDE_TRY(const TimePoint at, TimeMember(point, "point_time", kWhat));
    times.push_back(at);
    auto pounds = TolerantMember(point, "value");
    if (pounds) *pounds *= kGramsPerKwhInPoundsPerMwh;
    const auto value = PlausibleIntensity(pounds);
    if (value) {
      out.series.slots.push_back(
          {at, at, *value, JsonBool(point, "imputed_data_used").value_or(false)});
    } else {
      ++out.series.missing;
    }
  }
  auto length = meta.period;
  if (!length) length = UsualStep(std::move(times));
  for (ProviderSlot& slot : out.series.slots) slot.to = slot.from + length.value_or(5min);
  Normalise(out.series);
  return out;
}

Result<Json> ParseDocument(std::string_view text) {
  LOWTIDE_TRY(Json json, ParsePayloadJson(text, kWhat));
  if (!json.is_object()) return Fail(Code::kDataLoss, fmt::format("{}: no object", kWhat));
  if (json.contains("error")) {
    return Fail(Code::kUnavailable, fmt::format("answered with an error: {}", ErrorText(text)));
  }
  if (!json.contains("data")) {
    return Fail(Code::kDataLoss, fmt::format("{}: 'data' is missing", kWhat));
  }
  return json;
}

}  // namespace

Result<WattTimePayload> ParseWattTime(std::string_view text) {
  LOWTIDE_TRY(const Json json, ParseDocument(text));
  LOWTIDE_TRY(const Meta meta, ParseMeta(json));
  return ParsePoints(json["data"], meta);
}

Result<std::vector<WattTimePayload>> ParseWattTimePastForecasts(std::string_view text) {
  LOWTIDE_TRY(const Json json, ParseDocument(text));
  LOWTIDE_TRY(Meta meta, ParseMeta(json));
  if (!json["data"].is_array()) {
    return Fail(Code::kDataLoss, fmt::format("{}: 'data' is no array", kWhat));
  }
  std::vector<WattTimePayload> out;
  for (const Json& row : json["data"]) {
    LOWTIDE_TRY(meta.generated_at, TimeMember(row, "generated_at", kWhat));
    const auto points = row.find("forecast");
    if (points == row.end()) {
      return Fail(Code::kDataLoss, fmt::format("{}: 'forecast' is missing", kWhat));
    }
    LOWTIDE_TRY(WattTimePayload payload, ParsePoints(*points, meta));
    out.push_back(std::move(payload));
  }
  return out;
}

Result<std::string> ParseWattTimeToken(std::string_view text) {
  const auto json = ParsePayloadJson(text, "watttime login");
  if (json) {
    auto token = JsonString(*json, "token");
    if (token && !token->empty()) return *std::move(token);
  }
  // The text is left out: it may hold a token in another place.
  return Fail(Code::kDataLoss, "the answer to the login has no token");
}

Result<std::string> ParseWattTimeRegion(std::string_view text) {
  LOWTIDE_TRY(const Json json, ParsePayloadJson(text, kWhat));
  auto region = JsonString(json, "region");
  if (region && !region->empty()) return *std::move(region);
  return Fail(Code::kDataLoss, fmt::format("{}: 'region' is missing", kWhat));
}

bool IsWattTimeScopeError(std::string_view body) {
  const auto json = ParsePayloadJson(body, kWhat);
  return json && json->is_object();
}

}  // namespace lowtide
