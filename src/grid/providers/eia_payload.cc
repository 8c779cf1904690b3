#include "grid/providers/eia_payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace lowtide {
namespace {

using namespace std::chrono_literals;
constexpr std::string_view kWhat = "eia answer";

Status AddRow(const Json& row, EiaGeneration& out) {
  const auto period = JsonString(row, "period");
  const auto code = JsonString(row, "fueltype");
  if (!period || !code || period->size() != 13) {
    return Fail(Code::kDataLoss, fmt::format("{}: a row without hourly period or fueltype", kWhat));
  }
  const auto end = ParseTime(*period + ":00Z");
  if (!end) return Fail(Code::kDataLoss, fmt::format("{}: period '{}'", kWhat, *period));
  const std::string respondent = JsonString(row, "respondent").value_or("");
  if (!out.zone.empty() && out.zone != respondent) {
    return Fail(Code::kDataLoss,
                fmt::format("{}: respondents '{}' and '{}' in one", kWhat, out.zone, respondent));
  }
  out.zone = respondent;
  const auto unit = JsonString(row, "value-units");
  if (unit && *unit != "megawatthours") {
    return Fail(Code::kDataLoss, fmt::format("{}: values are in '{}', expected megawatthours",
                                             kWhat, unit->substr(0, 40)));
  }
  out.rows.push_back(
      {*code, std::string(EiaFuel(*code)), *end - 1h, *end, TolerantMember(row, "value")});
  return {};
}

}  // namespace

std::string_view EiaFuel(std::string_view code) {
  using Pair = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<Pair, 20> kFuels = {{
      {"COL", "coal"},    {"NG", "gas"},      {"NUC", "nuclear"},      {"OIL", "oil"},
      {"WAT", "hydro"},   {"SUN", "solar"},   {"WND", "wind"},         {"WIND", "wind"},
      {"BM", "biomass"},  {"BIO", "biomass"}, {"GEO", "geothermal"},   {"OTH", "unknown"},
      {"UNK", "unknown"}, {"SNB", "solar"},   {"WNB", "wind"},         {"BAT", "battery"},
      {"OES", "battery"}, {"UES", "battery"}, {"PS", "hydro_storage"}, {"NGL", "gas"},
  }};
  const auto* it = std::ranges::find(kFuels, code, &Pair::first);
  return it == kFuels.end() ? "unknown" : it->second;
}

std::string EiaPeriod(TimePoint hour) { return FormatTime(hour).substr(0, 13); }

Result<EiaGeneration> ParseEia(std::string_view text) {
  LOWTIDE_TRY(const Json json, ParsePayloadJson(text, kWhat));
  if (!json.is_object()) return Fail(Code::kDataLoss, fmt::format("{}: no object", kWhat));
  if (json.contains("error")) {
    const std::string message = ErrorText(text);
    const bool key = message.find("API_KEY") != std::string::npos;
    return Fail(key ? Code::kPermissionDenied : Code::kUnavailable,
                fmt::format("answered with an error: {}", message));
  }
  const auto response = json.find("response");
  if (response == json.end() || !response->is_object()) {
    return Fail(Code::kDataLoss, fmt::format("{}: 'response' is missing", kWhat));
  }
  const auto data = response->find("data");
  if (data == response->end() || !data->is_array()) {
    return Fail(Code::kDataLoss, fmt::format("{}: 'response.data' is missing", kWhat));
  }
  EiaGeneration out;
  for (const Json& row : *data) LOWTIDE_TRY_STATUS(AddRow(row, out));
  out.row_count = static_cast<std::int64_t>(data->size());
  const double total = TolerantMember(*response, "total").value_or(0);
  if (total > 0 && total < 1e12) out.total = static_cast<std::int64_t>(total);
  return out;
}

}  // namespace lowtide
