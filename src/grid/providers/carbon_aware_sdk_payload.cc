#include "grid/providers/carbon_aware_sdk_payload.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>

namespace lowtide {
namespace {

using Milliseconds = std::chrono::milliseconds;
constexpr std::string_view kWhat = "carbon_aware_sdk answer";
constexpr int kLongestMinutes = 7 * 24 * 60;

// .NET's TimeSpan: [d.]hh:mm[:ss[.fffffff]]; nothing when it is none, zero, or above a week.
std::optional<Milliseconds> ParseTimeSpan(std::string_view text) {
  std::array<long, 4> parts{};  // days, hours, minutes, seconds
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::size_t part = 1;
  if (text.substr(0, colon).find('.') != std::string_view::npos) part = 0;
  while (true) {
    const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), parts[part]);
    if (error != std::errc() || parts[part] < 0 || parts[part] > 10000) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(next - text.data()));
    if (text.empty() || part == 3) break;
    if (text.front() != (part == 0 ? '.' : ':')) return std::nullopt;
    text.remove_prefix(1);
    ++part;
  }
  const bool fraction_only = text.empty() || text.front() == '.';
  if (part < 2 || !fraction_only) return std::nullopt;
  const long seconds = ((parts[0] * 24 + parts[1]) * 60 + parts[2]) * 60 + parts[3];
  if (seconds <= 0 || seconds > kLongestMinutes * 60L) return std::nullopt;
  return std::chrono::seconds(seconds);
}

std::optional<Milliseconds> Minutes(const Json& row) {
  const auto minutes = TolerantMember(row, "duration");
  if (!minutes || !(*minutes > 0 && *minutes <= kLongestMinutes)) return std::nullopt;
  return ToMilliseconds(Seconds(*minutes * 60));
}

std::optional<Milliseconds> Span(const Json& row) {
  const auto text = JsonString(row, "duration");
  return text ? ParseTimeSpan(*text) : std::nullopt;
}

template <class Length>
Result<Payload> ParseRows(const Json& rows, const char* time_name, const char* value_name,
                          Length length_of) {
  if (!rows.is_array()) return Fail(Code::kDataLoss, fmt::format("{}: rows missing", kWhat));
  Payload out;
  std::vector<TimePoint> times;
  for (const Json& row : rows) {
    LOWTIDE_TRY(const TimePoint at, TimeMember(row, time_name, kWhat));
    times.push_back(at);
    const auto value = PlausibleIntensity(TolerantMember(row, value_name));
    if (!value) {
      ++out.missing;
      continue;
    }
    const std::optional<Milliseconds> length = length_of(row);
    out.slots.push_back({at, length ? at + *length : at, *value, false});
  }
  const auto step = UsualStep(std::move(times));
  for (ProviderSlot& slot : out.slots) {
    if (slot.to > slot.from) continue;
    if (!step) return Fail(Code::kDataLoss, fmt::format("{}: a row without duration", kWhat));
    slot.to = slot.from + *step;
  }
  Normalise(out);
  return out;
}

}  // namespace

Result<Payload> ParseSdkEmissions(std::string_view text) {
  LOWTIDE_TRY(const Json json, ParsePayloadJson(text, kWhat));
  return ParseRows(json, "time", "rating", Span);
}

Result<Payload> ParseSdkForecast(std::string_view text) {
  LOWTIDE_TRY(const Json json, ParsePayloadJson(text, kWhat));
  if (!json.is_array() || json.size() != 1 || !json.front().is_object()) {
    return Fail(Code::kDataLoss, fmt::format("{}: expected one forecast", kWhat));
  }
  const Json& forecast = json.front();
  const auto rows = forecast.find("forecastData");
  if (rows == forecast.end()) {
    return Fail(Code::kDataLoss, fmt::format("{}: 'forecastData' is missing", kWhat));
  }
  LOWTIDE_TRY(Payload out, ParseRows(*rows, "timestamp", "value", Minutes));
  out.zone = JsonString(forecast, "location").value_or("");
  if (const double window = TolerantMember(forecast, "windowSize").value_or(0); window > 0) {
    out.notes.push_back(fmt::format("values are means over {} minutes", window));
  }
  if (forecast.contains("generatedAt")) {
    LOWTIDE_TRY(out.issued_at, TimeMember(forecast, "generatedAt", kWhat));
  }
  return out;
}

}  // namespace lowtide
