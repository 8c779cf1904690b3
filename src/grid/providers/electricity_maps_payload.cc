#include "grid/providers/electricity_maps_payload.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <utility>

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;

constexpr std::string_view kWhat = "electricity_maps answer";

std::optional<Milliseconds> Granularity(const Json& object) {
  static const std::map<std::string, Milliseconds, std::less<>> kLengths = {
      {"5_minutes", 5min}, {"15_minutes", 15min}, {"hourly", 1h}, {"daily", 24h}};
  const auto name = JsonString(object, "temporalGranularity");
  if (!name) return std::nullopt;
  const auto it = kLengths.find(*name);
  if (it == kLengths.end()) return std::nullopt;
  return it->second;
}

struct Row {
  TimePoint at;
  std::optional<GramsPerKwh> value;
  bool estimated = false;
};

Result<Row> ParseRow(const Json& object) {
  if (!object.is_object()) {
    return Fail(Code::kDataLoss, fmt::format("{}: a row is no object", kWhat));
  }
  Row row;
  LOWTIDE_TRY(row.at, TimeMember(object, "datetime", kWhat));
  row.value = PlausibleIntensity(TolerantMember(object, "carbonIntensity"));
  row.estimated = JsonBool(object, "isEstimated").value_or(false);
  return row;
}

// Rows with a gap between them do not grow into it: each holds for `length`.
void AddRows(const std::vector<Row>& rows, Milliseconds length, Payload& out) {
  for (const Row& row : rows) {
    if (row.value) {
      out.slots.push_back({row.at, row.at + length, *row.value, row.estimated});
    } else {
      ++out.missing;
    }
  }
}

}  // namespace

Result<Payload> ParseElectricityMaps(std::string_view text) {
  LOWTIDE_TRY(const Json json, ParsePayloadJson(text, kWhat));
  if (!json.is_object()) return Fail(Code::kDataLoss, fmt::format("{}: no object", kWhat));
  if (json.contains("error")) {
    return Fail(Code::kUnavailable, fmt::format("answered with an error: {}", ErrorText(text)));
  }
  if (JsonString(json, "status") == "no-data") {
    return Fail(Code::kNotFound, "has no data for this zone now");
  }
  Payload out;
  out.zone = JsonString(json, "zone").value_or("");
  std::vector<Row> rows;
  const Json* list = nullptr;
  bool forecast = false;
  for (const char* name : {"history", "data", "forecast"}) {
    if (const auto it = json.find(name); it != json.end() && it->is_array()) {
      list = &*it;
      forecast = std::string_view(name) == "forecast";
      break;
    }
  }
  if (list != nullptr) {
    if (json.contains("updatedAt")) {
      LOWTIDE_TRY(out.issued_at, TimeMember(json, "updatedAt", kWhat));
    }
    for (const Json& element : *list) {
      LOWTIDE_TRY(const Row row, ParseRow(element));
      rows.push_back(row);
      if (forecast) rows.back().estimated = false;
      if (const auto zone = JsonString(element, "zone"); zone && out.zone.empty()) out.zone = *zone;
    }
  } else {
    LOWTIDE_TRY(const Row row, ParseRow(json));
    rows.push_back(row);
  }
  auto length = Granularity(json);
  if (!length && list != nullptr && !list->empty()) length = Granularity(list->front());
  if (!length) {
    std::vector<TimePoint> times;
    times.reserve(rows.size());
    for (const Row& row : rows) times.push_back(row.at);
    length = UsualStep(std::move(times));
  }
  AddRows(rows, length.value_or(Milliseconds(1h)), out);
  Normalise(out);
  return out;
}

}  // namespace lowtide
