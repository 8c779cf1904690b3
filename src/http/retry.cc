#include "http/retry.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace lowtide {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

std::optional<std::int64_t> ParseDigits(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> NumberIn(const HttpResponse& response, std::string_view name) {
  const auto text = response.Header(name);
  return text ? ParseDigits(*text) : std::nullopt;
}

// The moment at which the answer was made, by the server's clock where it tells.
TimePoint ServersNow(const HttpResponse& response) {
  if (const auto date = response.Header("date")) {
    if (const auto at = ParseHttpDate(*date)) return *at;
  }
  return response.received_at;
}

Seconds NotNegative(Seconds s) { return std::max(s, Seconds(0)); }

}  // namespace

bool IsTransient(int status) {
  return status == 429 || (status >= 500 && status <= 599 && status != 501 && status != 505);
}

std::optional<TimePoint> ParseHttpDate(std::string_view text) {
  constexpr std::string_view kShape = "Sun, 06 Nov 1994 08:49:37 GMT";
  if (text.size() != kShape.size() || text.substr(3, 2) != ", " || text[7] != ' ' ||
      text[11] != ' ' || text[16] != ' ' || text[19] != ':' || text[22] != ':' ||
      text.substr(25) != " GMT") {
    return std::nullopt;
  }
  const auto day = ParseDigits(text.substr(5, 2));
  const auto* const month = std::ranges::find(kMonths, text.substr(8, 3));
  const auto year = ParseDigits(text.substr(12, 4));
  const auto hour = ParseDigits(text.substr(17, 2));
  const auto minute = ParseDigits(text.substr(20, 2));
  const auto second = ParseDigits(text.substr(23, 2));
  if (!day || month == kMonths.end() || !year || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date(
      std::chrono::year(static_cast<int>(*year)),
      std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
      std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return TimePoint(std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(*hour) +
                   std::chrono::minutes(*minute) + std::chrono::seconds(*second));
}

std::optional<Seconds> RetryAfter(const HttpResponse& response) {
  const auto text = response.Header("retry-after");
  if (!text) return std::nullopt;
  if (const auto seconds = ParseDigits(*text)) return Seconds(static_cast<double>(*seconds));
  if (const auto at = ParseHttpDate(*text)) {
    // Not ToSeconds: in nanoseconds a date of the year 1 or 9999 would overflow.
    return NotNegative(Seconds(*at - ServersNow(response)));
  }
  return std::nullopt;
}

std::optional<Seconds> RateLimitWait(const HttpResponse& response) {
  // Above this a reset is a Unix time: no quota is 30 years long.
  constexpr std::int64_t kSmallestUnixTime = 1'000'000'000;
  for (const std::string_view prefix : {"x-ratelimit-", "ratelimit-"}) {
    const auto left = NumberIn(response, std::string(prefix) + "remaining");
    const auto reset = NumberIn(response, std::string(prefix) + "reset");
    if (!left || !reset || *left > 0) continue;
    if (*reset < kSmallestUnixTime) return Seconds(static_cast<double>(*reset));
    const auto now = std::chrono::floor<std::chrono::seconds>(ServersNow(response));
    return NotNegative(Seconds(static_cast<double>(*reset - now.time_since_epoch().count())));
  }
  return std::nullopt;
}

Seconds Backoff(int attempt, Seconds first, Seconds longest, double random) {
  const Seconds most = std::min(longest, first * std::exp2(std::min(attempt - 1, 30)));
  return most * random;
}

}  // namespace lowtide
