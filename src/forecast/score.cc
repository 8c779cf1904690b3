#include "forecast/score.h"

#include <algorithm>
#include <cmath>

namespace lowtide {
namespace {

struct Mean {
  double sum = 0;
  std::size_t n = 0;

  void Add(double value) {
    sum += value;
    ++n;
  }
  std::optional<double> Value() const {
    return n > 0 ? std::optional(sum / static_cast<double>(n)) : std::nullopt;
  }
};

}  // namespace

ForecastScore Score(const HourlySeries& intensity, std::span<const HourlyForecast> forecasts) {
  ForecastScore score;
  std::vector<Mean> by_day;
  Mean relative;
  Mean absolute;
  Mean inside;
  for (const HourlyForecast& forecast : forecasts) {
    if (forecast.issue + forecast.mid.size() > intensity.values.size()) continue;
    by_day.resize(std::max(by_day.size(), (forecast.mid.size() + 23) / 24));
    const std::size_t before = absolute.n;
    for (std::size_t h = 0; h < forecast.mid.size(); ++h) {
      const auto& outcome = intensity.values[forecast.issue + h];
      if (!outcome) continue;
      const double error = std::abs(forecast.mid[h] - *outcome);
      absolute.Add(error);
      if (*outcome > 0) {
        relative.Add(100 * error / *outcome);
        by_day[h / 24].Add(100 * error / *outcome);
      }
      if (!forecast.low.empty()) {
        inside.Add(*outcome >= forecast.low[h] && *outcome <= forecast.high[h] ? 100 : 0);
      }
    }
    if (absolute.n > before) ++score.windows;
  }
  score.hours = absolute.n;
  for (const Mean& day : by_day) score.mape_pct_by_day.push_back(day.Value());
  score.mape_pct = relative.Value();
  score.mae = absolute.Value();
  score.coverage_pct = inside.Value();
  return score;
}

std::optional<HourlyForecast> AsHourlyForecast(const IntensitySeries& forecast,
                                               const HourlySeries& intensity, std::size_t horizon) {
  using std::chrono::hours;
  if (!forecast.issued_at || forecast.slots.empty()) return std::nullopt;
  const TimePoint first = std::chrono::ceil<hours>(*forecast.issued_at);
  if (first < intensity.start || first >= intensity.TimeOf(intensity.values.size())) {
    return std::nullopt;
  }
  const auto hourly =
      ToHourly(forecast.slots, first, first + hours(static_cast<std::int64_t>(horizon)));
  if (!hourly) return std::nullopt;
  HourlyForecast out;
  out.issue = static_cast<std::size_t>((first - intensity.start) / hours(1));
  for (const auto& value : hourly->values) {
    if (!value || out.issue + out.mid.size() == intensity.values.size()) break;
    out.mid.push_back(*value);
  }
  if (out.mid.empty()) return std::nullopt;
  return out;
}

}  // namespace lowtide
