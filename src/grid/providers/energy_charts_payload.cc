#include "grid/providers/energy_charts_payload.h"

#include <fmt/format.h>

namespace lowtide {
namespace {

constexpr std::string_view kWhat = "energy_charts answer";
constexpr double kLatest = 253402300799.0;  // 9999-12-31T23:59:59Z

// The array of that name; nullptr when absent or null.
Result<const Json*> Array(const Json& json, const char* name, std::size_t size) {
  const auto it = json.find(name);
  if (it == json.end() || it->is_null()) return nullptr;
  if (!it->is_array() || it->size() != size) {
    return Fail(Code::kDataLoss,
                fmt::format("{}: '{}' has {} values for {} times", kWhat, name, it->size(), size));
  }
  return &*it;
}

}  // namespace

Result<Payload> ParseEnergyCharts(std::string_view text, EnergyChartsValues values) {
  LOWTIDE_TRY(const Json json, ParsePayloadJson(text, kWhat));
  const auto seconds = json.is_object() ? json.find("unix_seconds") : json.end();
  if (seconds == json.end() || !seconds->is_array()) {
    return Fail(Code::kDataLoss, fmt::format("{}: 'unix_seconds' is missing", kWhat));
  }
  LOWTIDE_TRY(const Json* actual, Array(json, "co2eq", seconds->size()));
  LOWTIDE_TRY(const Json* forecast, Array(json, "co2eq_forecast", seconds->size()));
  if (actual == nullptr && forecast == nullptr) {
    return Fail(Code::kDataLoss, fmt::format("{}: neither 'co2eq' nor 'co2eq_forecast'", kWhat));
  }
  Payload out;
  std::vector<TimePoint> times;
  for (std::size_t i = 0; i < seconds->size(); ++i) {
    const auto at = TolerantNumber((*seconds)[i]);
    if (!at || !(*at >= 0 && *at <= kLatest)) {
      return Fail(Code::kDataLoss, fmt::format("{}: unix_seconds[{}] is no time", kWhat, i));
    }
    const TimePoint time = FromUnixMillis(static_cast<std::int64_t>(*at * 1000));
    times.push_back(time);
    const auto value_in = [i](const Json* array) {
      return array == nullptr ? std::nullopt : PlausibleIntensity(TolerantNumber((*array)[i]));
    };
    std::optional<GramsPerKwh> value;
    bool estimated = false;
    if (values == EnergyChartsValues::kActual) {
      value = value_in(actual);
      estimated = !value;
    }
    if (!value) value = value_in(forecast);
    if (value) {
      out.slots.push_back({time, time, *value, estimated});
    } else {
      ++out.missing;
    }
  }
  const auto step = UsualStep(std::move(times));
  if (!step && !out.slots.empty()) {
    return Fail(Code::kDataLoss, fmt::format("{}: one time alone has no length", kWhat));
  }
  for (ProviderSlot& slot : out.slots) slot.to = slot.from + *step;
  if (JsonBool(json, "deprecated").value_or(false)) {
    out.notes.emplace_back("says that this interface ends within six months");
  }
  Normalise(out);
  return out;
}

}  // namespace lowtide
