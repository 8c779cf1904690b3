// A provider that answers from a function of time and counts what it is asked. For tests only.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "grid/provider.h"

namespace lowtide {

class TestProvider final : public Provider {
 public:
  explicit TestProvider(std::string name) : name_(std::move(name)) {}

  std::string_view Name() const override { return name_; }
  ProviderAbilities Abilities() const override { return abilities; }
  Result<ProviderAnswer> Latest(const Zone& zone, TimePoint now) override {
    return History(zone, now - std::chrono::hours(1), now, now);
  }
  Result<ProviderAnswer> History(const Zone& zone, TimePoint from, TimePoint to,
                                 TimePoint now) override {
    ++asked;
    if (asked_outside != nullptr) ++*asked_outside;
    return Make(zone, from, std::min(to, now), now, IntensityKind::kMeasured);
  }
  Result<ProviderAnswer> Forecast(const Zone& zone, TimePoint from, TimePoint to,
                                  TimePoint now) override {
    ++forecasts_asked;
    return Make(zone, from, to, now, IntensityKind::kForecast);
  }

  ProviderAbilities abilities{.latest = true,
                              .history = true,
                              .forecast = true,
                              .step = std::chrono::hours(1),
                              .horizon = std::nullopt,
                              .signal = Signal::kAverage,
                              .basis = Basis::kLifecycle};
  std::optional<Error> error;
  // g/kWh of the hour that begins then; nothing: a gap.
  std::function<std::optional<double>(TimePoint)> value = [](TimePoint) { return 100.0; };
  // The same for forecasts; none: as `value`.
  std::function<std::optional<double>(TimePoint)> forecast_value;
  // Counted outside too where the provider may be gone before its count is looked at.
  int* asked_outside = nullptr;
  int asked = 0;
  int forecasts_asked = 0;

 private:
  Result<ProviderAnswer> Make(const Zone& zone, TimePoint from, TimePoint to, TimePoint now,
                              IntensityKind kind) {
    if (error) return std::unexpected(*error);
    ProviderAnswer answer;
    answer.provider = name_;
    answer.zone = zone;
    answer.signal = abilities.signal;
    answer.basis = abilities.basis;
    answer.kind = kind;
    answer.fetched_at = now;
    if (kind == IntensityKind::kForecast) answer.issued_at = now;
    for (TimePoint t = std::chrono::floor<std::chrono::hours>(from); t < to;
         t += std::chrono::hours(1)) {
      const bool ahead = kind == IntensityKind::kForecast && forecast_value;
      if (const auto v = ahead ? forecast_value(t) : value(t)) {
        answer.slots.push_back({t, t + std::chrono::hours(1), GramsPerKwh(*v), false});
      }
    }
    return answer;
  }
  std::string name_;
};

}  // namespace lowtide
