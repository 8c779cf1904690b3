#include "grid/providers/payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/csv.h"
#include "base/sort_stably.h"

namespace lowtide {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kLongestErrorText = 300;

std::string OneLine(std::string_view text) {
  std::string out;
  bool blank = false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f') {
      blank = !out.empty();
      continue;
    }
    if (out.size() >= kLongestErrorText) return out + "...";
    if (blank) out += ' ';
    blank = false;
    out += c;
  }
  return out;
}

// The texts of the members that carry the message, joined; FastAPI puts them in an array.
std::string Message(const Json& value, int depth = 0) {
  if (value.is_string()) return value.get<std::string>();
  if (depth > 3) return "";
  std::string out;
  const auto add = [&out](const std::string& text) {
    if (text.empty() || out.find(text) != std::string::npos) return;
    if (!out.empty()) out += ": ";
    out += text;
  };
  if (value.is_array()) {
    for (const auto& element : value) {
      if (out.size() < kLongestErrorText) add(Message(element, depth + 1));
    }
  } else if (value.is_object()) {
    static constexpr std::array kMembers = {"code", "title",  "error", "message",
                                            "msg",  "detail", "loc",   "text"};
    for (const char* name : kMembers) {
      if (const auto it = value.find(name); it != value.end()) add(Message(*it, depth + 1));
    }
    if (const auto errors = value.find("errors"); errors != value.end() && errors->is_object()) {
      for (const auto& [name, texts] : errors->items()) {
        if (name != "stackTrace") add(Message(texts, depth + 1));
      }
    }
  }
  return out;
}

}  // namespace

Result<Json> ParsePayloadJson(std::string_view text, std::string_view what) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  auto json = ParseJson(text, what);
  if (!json) return Fail(Code::kDataLoss, json.error().message);
  return json;
}

std::optional<double> TolerantNumber(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  return ParseNumber(value.get_ref<const std::string&>());
}

std::optional<double> TolerantMember(const Json& object, std::string_view key) {
  if (!object.is_object()) return std::nullopt;
  const auto it = object.find(std::string(key));
  if (it == object.end()) return std::nullopt;
  return TolerantNumber(*it);
}

Result<TimePoint> TimeMember(const Json& object, std::string_view key, std::string_view what) {
  const auto text = JsonString(object, key);
  if (!text) return Fail(Code::kDataLoss, fmt::format("{}: '{}' is missing", what, key));
  const auto time = ParseTime(*text);
  if (time) return *time;
  return Fail(Code::kDataLoss, fmt::format("{}: '{}': {}", what, key, time.error().message));
}

std::optional<GramsPerKwh> PlausibleIntensity(std::optional<double> g_per_kwh) {
  if (!g_per_kwh || !(*g_per_kwh >= 0 && *g_per_kwh <= kHighestIntensity.v)) return std::nullopt;
  return GramsPerKwh(*g_per_kwh);
}

void Normalise(Payload& payload) {
  auto& slots = payload.slots;
  std::erase_if(slots, [](const ProviderSlot& slot) { return slot.from >= slot.to; });
  SortStably(slots, &ProviderSlot::from);
  std::vector<ProviderSlot> out;
  out.reserve(slots.size());
  for (const ProviderSlot& slot : slots) {
    if (out.empty() || out.back().from != slot.from) {
      if (!out.empty()) out.back().to = std::min(out.back().to, slot.from);
      out.push_back(slot);
      continue;
    }
    ++payload.duplicates;
    if (out.back().estimated || !slot.estimated) out.back() = slot;
  }
  slots = std::move(out);
}

std::optional<std::chrono::milliseconds> UsualStep(std::vector<TimePoint> times) {
  std::ranges::sort(times);
  std::vector<std::chrono::milliseconds> steps;
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] > times[i - 1]) steps.push_back(times[i] - times[i - 1]);
  }
  if (steps.empty()) return std::nullopt;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
  std::ranges::nth_element(steps, middle);
  return *middle;
}

bool AllZero(const std::vector<ProviderSlot>& slots) {
  return slots.size() >= 2 &&
         std::ranges::all_of(slots, [](const ProviderSlot& slot) { return slot.value.v == 0; });
}

void KeepTouching(std::vector<ProviderSlot>& slots, TimePoint from, TimePoint to) {
  std::erase_if(slots,
                [&](const ProviderSlot& slot) { return slot.to <= from || slot.from >= to; });
}

std::string ErrorText(std::string_view body) {
  if (body.empty()) return "";
  if (const auto json = ParsePayloadJson(body, "body")) {
    const std::string message = OneLine(Message(*json));
    return message.empty() ? OneLine(DumpJson(*json)) : message;
  }
  const std::string text = OneLine(body);
  return text.starts_with('<') ? "an HTML or XML page" : text;
}

Status Append(Payload& whole, Payload part) {
  if (!part.zone.empty() && !whole.zone.empty() && part.zone != whole.zone) {
    return Fail(Code::kDataLoss, fmt::format("one part of the answer is for '{}', another for '{}'",
                                             whole.zone, part.zone));
  }
  if (!part.zone.empty()) whole.zone = std::move(part.zone);
  std::ranges::move(part.slots, std::back_inserter(whole.slots));
  whole.missing += part.missing;
  whole.duplicates += part.duplicates;
  if (part.issued_at && (!whole.issued_at || *part.issued_at > *whole.issued_at)) {
    whole.issued_at = part.issued_at;
  }
  for (auto& note : part.notes) {
    if (std::ranges::find(whole.notes, note) == whole.notes.end()) {
      whole.notes.push_back(std::move(note));
    }
  }
  return {};
}

}  // namespace lowtide
