#include "grid/providers/uk_carbon_intensity_payload.h"

#include <fmt/format.h>

namespace lowtide {
namespace {

constexpr std::string_view kWhat = "uk_carbon_intensity answer";

Status AddSlot(const Json& object, UkValues values, Payload& out) {
  ProviderSlot slot;
  LOWTIDE_TRY(slot.from, TimeMember(object, "from", kWhat));
  LOWTIDE_TRY(slot.to, TimeMember(object, "to", kWhat));
  if (slot.from >= slot.to) {
    return Fail(Code::kDataLoss, fmt::format("{}: a slot from {} to {}", kWhat,
                                             FormatTime(slot.from), FormatTime(slot.to)));
  }
  const auto intensity = object.find("intensity");
  if (intensity == object.end()) {
    ++out.missing;
    return {};
  }
  std::optional<GramsPerKwh> value;
  if (values == UkValues::kActual) {
    value = PlausibleIntensity(TolerantMember(*intensity, "actual"));
    slot.estimated = !value;
  }
  if (!value) value = PlausibleIntensity(TolerantMember(*intensity, "forecast"));
  if (value) {
    slot.value = *value;
    out.slots.push_back(slot);
  } else {
    ++out.missing;
  }
  return {};
}

Status AddSlots(const Json& slots, UkValues values, Payload& out) {
  if (!slots.is_array()) return Fail(Code::kDataLoss, fmt::format("{}: no slots", kWhat));
  for (const Json& slot : slots) LOWTIDE_TRY_STATUS(AddSlot(slot, values, out));
  return {};
}

Status AddRegion(const Json& region, UkValues values, Payload& out) {
  const auto id = TolerantMember(region, "regionid");
  const auto slots = region.find("data");
  if (!id || slots == region.end()) {
    return Fail(Code::kDataLoss, fmt::format("{}: a region without id or data", kWhat));
  }
  std::string zone = fmt::format("{}", *id);
  if (!out.zone.empty() && out.zone != zone) {
    return Fail(Code::kDataLoss,
                fmt::format("{}: regions {} and {} in one", kWhat, out.zone, zone));
  }
  out.zone = std::move(zone);
  return AddSlots(*slots, values, out);
}

}  // namespace

Result<Payload> ParseUkCarbonIntensity(std::string_view text, UkValues values) {
  LOWTIDE_TRY(const Json json, ParsePayloadJson(text, kWhat));
  if (!json.is_object()) return Fail(Code::kDataLoss, fmt::format("{}: no object", kWhat));
  if (json.contains("error")) {
    return Fail(Code::kUnavailable, fmt::format("answered with an error: {}", ErrorText(text)));
  }
  Payload out;
  const auto data = json.find("data");
  if (data == json.end()) {
    if (json.empty()) return out;
    return Fail(Code::kDataLoss, fmt::format("{}: 'data' is missing", kWhat));
  }
  if (data->is_object()) {
    LOWTIDE_TRY_STATUS(AddRegion(*data, values, out));
  } else if (!data->is_array()) {
    return Fail(Code::kDataLoss, fmt::format("{}: 'data' is no array", kWhat));
  } else if (!data->empty() && data->front().is_object() && data->front().contains("regionid")) {
    for (const Json& region : *data) LOWTIDE_TRY_STATUS(AddRegion(region, values, out));
  } else {
    if (!data->empty()) out.zone = "national";
    LOWTIDE_TRY_STATUS(AddSlots(*data, values, out));
  }
  Normalise(out);
  return out;
}

}  // namespace lowtide
