#include "base/time.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace lowtide {
namespace {

// Reads exactly `digits` decimal digits at the front of `text`.
std::optional<int> TakeDigits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const char c = text[i];
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool TakeChar(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<int> TakeFractionMillis(std::string_view& text) {
  int millis = 0;
  int digits = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    if (digits < 3) millis = millis * 10 + (text.front() - '0');
    if (++digits > 9) return std::nullopt;
    text.remove_prefix(1);
  }
  if (digits == 0) return std::nullopt;
  for (; digits < 3; ++digits) millis *= 10;
  return millis;
}

// The offset in minutes, or nothing when malformed. Empty text is UTC if that is allowed.
std::optional<int> TakeOffset(std::string_view& text, Offset offset) {
  if (text.empty()) {
    return offset == Offset::kAssumeUtc ? std::optional<int>(0) : std::nullopt;
  }
  if (TakeChar(text, 'Z') || TakeChar(text, 'z')) return 0;
  const char sign = text.front();
  if (sign != '+' && sign != '-') return std::nullopt;
  text.remove_prefix(1);
  const auto hours = TakeDigits(text, 2);
  if (!hours || *hours > 23 || !TakeChar(text, ':')) return std::nullopt;
  const auto minutes = TakeDigits(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  const int total = *hours * 60 + *minutes;
  return sign == '-' ? -total : total;
}

std::optional<TimePoint> Parse(std::string_view text, Offset offset) {
  using std::chrono::hours, std::chrono::milliseconds, std::chrono::minutes, std::chrono::seconds,
      std::chrono::sys_days, std::chrono::year_month_day;
  const auto year = TakeDigits(text, 4);
  if (!year || !TakeChar(text, '-')) return std::nullopt;
  const auto month = TakeDigits(text, 2);
  if (!month || !TakeChar(text, '-')) return std::nullopt;
  const auto day = TakeDigits(text, 2);
  if (!day) return std::nullopt;
  const year_month_day date(std::chrono::year(*year),
                            std::chrono::month(static_cast<unsigned>(*month)),
                            std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  if (!TakeChar(text, 'T') && !TakeChar(text, 't') && !TakeChar(text, ' ')) return std::nullopt;
  const auto hour = TakeDigits(text, 2);
  if (!hour || *hour > 23 || !TakeChar(text, ':')) return std::nullopt;
  const auto minute = TakeDigits(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  int second = 0;
  int millis = 0;
  if (TakeChar(text, ':')) {
    const auto s = TakeDigits(text, 2);
    if (!s || *s > 59) return std::nullopt;
    second = *s;
    if (TakeChar(text, '.')) {
      const auto ms = TakeFractionMillis(text);
      if (!ms) return std::nullopt;
      millis = *ms;
    }
  }
  const auto offset_minutes = TakeOffset(text, offset);
  if (!offset_minutes || !text.empty()) return std::nullopt;
  const TimePoint time = TimePoint(sys_days(date)) + hours(*hour) + minutes(*minute) +
                         seconds(second) + milliseconds(millis) - minutes(*offset_minutes);
  // An offset can carry the ends of the calendar out of the four-digit years.
  constexpr TimePoint kFirst = sys_days(std::chrono::year(0) / 1 / 1);
  constexpr TimePoint kEnd = sys_days(std::chrono::year(10000) / 1 / 1);
  if (time < kFirst || time >= kEnd) return std::nullopt;
  return time;
}

std::optional<double> UnitSeconds(std::string_view unit) {
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  if (unit == "m" || unit == "min") return 60;
  if (unit == "h") return 3600;
  if (unit == "d") return 86400;
  return std::nullopt;
}

}  // namespace

Result<TimePoint> ParseTime(std::string_view text, Offset offset) {
  const auto t = Parse(text, offset);
  if (!t) {
    return Fail(Code::kInvalidArgument,
                fmt::format("'{}' is not a time; expected RFC 3339 such as 2026-11-30T12:00:00Z",
                            text.substr(0, 64)));
  }
  return *t;
}

std::string FormatTime(TimePoint t) {
  using std::chrono::days, std::chrono::hh_mm_ss, std::chrono::milliseconds,
      std::chrono::year_month_day;
  const auto day = floor<days>(t);
  const year_month_day date(day);
  const hh_mm_ss<milliseconds> time(t - day);
  std::string out =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  time.hours().count(), time.minutes().count(), time.seconds().count());
  if (time.subseconds().count() != 0) out += fmt::format(".{:03}", time.subseconds().count());
  return out + "Z";
}

Result<Seconds> ParseDuration(std::string_view text) {
  const auto bad = [&] {
    return Fail(Code::kInvalidArgument,
                fmt::format("'{}' is not a duration; expected a number and a unit (ms, s, m, h, d) "
                            "such as 90s, 1h30m or 60d",
                            text.substr(0, 64)));
  };
  double total = 0;
  std::string_view rest = text;
  if (rest.empty()) return bad();
  while (!rest.empty()) {
    if (rest.front() < '0' || rest.front() > '9') return bad();
    double value = 0;
    const auto [end, ec] =
        std::from_chars(rest.data(), rest.data() + rest.size(), value, std::chars_format::fixed);
    if (ec != std::errc()) return bad();
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const auto unit_length = std::min(rest.find_first_of("0123456789"), rest.size());
    const auto unit = UnitSeconds(rest.substr(0, unit_length));
    if (!unit) return bad();
    rest.remove_prefix(unit_length);
    total += value * *unit;
  }
  constexpr double kHundredYears = 100 * 366 * 86400.0;
  if (!(total <= kHundredYears)) return bad();
  return Seconds(total);
}

std::string FormatDuration(Seconds d) {
  const double s = d.count();
  if (s < 0) return "-" + FormatDuration(-d);
  if (s < 9.995) return fmt::format("{:.2f}s", s);
  if (s < 59.95) return fmt::format("{:.1f}s", s);
  const auto whole = static_cast<std::int64_t>(std::llround(s));
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  const std::int64_t minutes = (whole + 30) / 60;
  constexpr std::int64_t kMinutesADay = 1440;
  if (minutes < kMinutesADay) return fmt::format("{}h{:02}m", minutes / 60, minutes % 60);
  const std::int64_t hours = (whole + 1800) / 3600;
  return fmt::format("{}d{:02}h", hours / 24, hours % 24);
}

}  // namespace lowtide
