#include "forecast/learned_forecast.h"

#include <fmt/format.h>

#include <algorithm>

#include "forecast/hourly_forecast.h"

namespace lowtide {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::milliseconds;

constexpr milliseconds kLongestHistory = days(4 * 366);
constexpr milliseconds kAsked = days(2);
constexpr milliseconds kOldestReading = days(1);
constexpr milliseconds kLongestLead = hours(kMaxHorizon);

// What is kept, with the last two days as the source tells them.
Result<Series<GramsPerKwh>> HistoryOf(const Source& source, TimePoint now) {
  const TimePoint asked_from = now - kAsked;
  // One tick past `now`, so that a slot starting just now is in it.
  const TimePoint end = now + milliseconds(1);
  LOWTIDE_TRY(IntensitySeries recent, source.History(asked_from, end, now));
  LOWTIDE_TRY(IntensitySeries kept, source.Kept(now - kLongestHistory, end, now));
  Series<GramsPerKwh> out = std::move(kept.slots);
  if (!recent.slots.empty()) {
    const TimePoint told_from = recent.slots.front().from;
    std::erase_if(out, [&](const auto& slot) { return slot.to > told_from; });
    out.insert(out.end(), recent.slots.begin(), recent.slots.end());
  }
  return out;
}

double KnownShare(const HourlySeries& series) {
  const auto known =
      std::ranges::count_if(series.values, [](const auto& v) { return v.has_value(); });
  return static_cast<double>(known) /
         static_cast<double>(std::max<std::size_t>(1, series.values.size()));
}

bool Covers(const HourlyColumns& given, const HourlySeries& series, std::size_t horizon) {
  const auto length = [](std::size_t n) { return hours(static_cast<std::int64_t>(n)); };
  return given.start <= series.start && given.start + length(given.Hours()) >=
                                            series.start + length(series.values.size() + horizon);
}

std::string_view MixText(const HourlyRequest& request, bool given) {
  if (!given) return "";
  if (UsesMix(request)) return ", generation mix";
  return request.mix != nullptr ? ", too few of them to learn from the generation mix"
                                : ", the generation mix does not cover it";
}

// The hours of `forecast`, from `begin` on, clipped to [from, to).
void Append(const std::vector<double>& values, TimePoint start, TimePoint from, TimePoint to,
            Series<GramsPerKwh>& out) {
  for (std::size_t h = 0; h < values.size(); ++h) {
    const TimePoint slot = start + hours(static_cast<std::int64_t>(h));
    const TimePoint begin = std::max(slot, from);
    const TimePoint end = std::min<TimePoint>(slot + hours(1), to);
    if (begin < end) out.push_back({begin, end, GramsPerKwh(values[h])});
  }
}

}  // namespace

Result<BandedForecast> LearnedForecast::Fallback(const Source& source, TimePoint from, TimePoint to,
                                                 TimePoint now, const std::string& why) const {
  LOWTIDE_TRY(BandedForecast forecast, fallback_.PredictBand(source, from, to, now));
  forecast.middle.origin.source += fmt::format("; not blend: {}", why);
  return forecast;
}

Result<BandedForecast> LearnedForecast::PredictBand(const Source& source, TimePoint from,
                                                    TimePoint to, TimePoint now) const {
  const IntensityKind kind = source.Origin().kind;
  if (from >= to || kind == IntensityKind::kConstant || kind == IntensityKind::kYearlyAverage) {
    return fallback_.PredictBand(source, from, to, now);
  }
  if (to - now > kLongestLead - kOldestReading) {
    return Fallback(source, from, to, now, "it reaches 13 days ahead");
  }
  LOWTIDE_TRY(const Series<GramsPerKwh> history, HistoryOf(source, now));
  if (history.empty()) return Fallback(source, from, to, now, "there is no history");
  const TimePoint known_until = history.back().to;
  if (now - known_until > kOldestReading) {
    return Fallback(source, from, to, now,
                    fmt::format("the latest reading ends at {}", FormatTime(known_until)));
  }
  LOWTIDE_TRY(const HourlySeries series, ToHourly(history, history.front().from, known_until));
  if (KnownShare(series) < 0.5) {
    return Fallback(source, from, to, now,
                    fmt::format("only {:.0f} % of the history since {} is known",
                                100 * KnownShare(series), FormatTime(series.start)));
  }

  HourlyRequest request;
  request.intensity = &series;
  request.train_until = series.values.size();
  request.issues = {series.values.size()};
  const TimePoint issue = series.TimeOf(series.values.size());
  request.horizon = static_cast<std::size_t>(
      std::max<std::int64_t>(1, (to - issue + hours(1) - milliseconds(1)) / hours(1)));
  const bool weather = weather_ && Covers(*weather_, series, request.horizon);
  if (weather) request.weather = &*weather_;
  if (mix_ && Covers(*mix_, series, 0)) request.mix = &*mix_;
  const auto forecasts = ForecastHours(request);
  if (!forecasts && forecasts.error().code == Code::kUnavailable) {
    return Fallback(source, from, to, now, forecasts.error().message);
  }
  if (!forecasts) return std::unexpected(forecasts.error());

  BandedForecast out{IntensitySeries{source.Origin(), {}, {}}, {}, {}};
  for (auto slot : history) {
    slot.from = std::max(slot.from, from);
    slot.to = std::min(slot.to, to);
    if (slot.from < slot.to) out.middle.slots.push_back(slot);
  }
  const HourlyForecast& forecast = forecasts->front();
  const TimePoint begin = std::max(from, known_until);
  Append(forecast.mid, issue, begin, to, out.middle.slots);
  Append(forecast.low, issue, begin, to, out.p10);
  Append(forecast.high, issue, begin, to, out.p90);
  out.middle.origin.kind = IntensityKind::kForecast;
  out.middle.origin.source =
      fmt::format("blend of {} ({:.0f} days of history until {}{}{})", source.Origin().source,
                  static_cast<double>(series.values.size()) / 24, FormatTime(known_until),
                  weather ? ", weather" : (weather_ ? ", the weather does not cover it" : ""),
                  MixText(request, mix_.has_value()));
  return out;
}

Result<IntensitySeries> LearnedForecast::Predict(const Source& source, TimePoint from, TimePoint to,
                                                 TimePoint now) const {
  LOWTIDE_TRY(BandedForecast forecast, PredictBand(source, from, to, now));
  return std::move(forecast.middle);
}

}  // namespace lowtide
