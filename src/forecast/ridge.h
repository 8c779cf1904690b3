// Ridge regressions, one per lead, of the logarithm of the intensity on the features of
// forecast/features.h.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "forecast/features.h"

namespace lowtide {

// What was said at each issue about the hours that follow it, in g/kWh: row k belongs to issue k
// and holds `horizon` values.
struct ForecastTable {
  std::size_t horizon = 0;
  std::vector<double> values;

  ForecastTable() = default;
  ForecastTable(std::size_t issues, std::size_t leads) : horizon(leads), values(issues * leads) {}
  double& At(std::size_t issue, std::size_t lead) { return values[issue * horizon + lead]; }
  double At(std::size_t issue, std::size_t lead) const { return values[issue * horizon + lead]; }
};

// Told when learning begins and ends, so that the caller can time it.
enum class Phase : std::uint8_t { kLearn, kPredict };
using PhaseListener = std::function<void(Phase)>;

// The reference's ridge. Per lead h: training issues every 24 h before `train_until` (same hour of
// the day), from kFirstIssue on, with issue + horizon < train_until; weight 0.5^(age / 365 d);
// columns standardised by their unweighted mean and deviation (+ 1e-9), the target centred on its
// weighted mean m; (Z'WZ + 30 I) b = Z'W (y - m); forecast exp(Zb + m). Hours that are not known
// are no targets. Without a single training issue the forecast is the last known value. `issues`
// ascend and lie in [kFirstIssue, table.Hours()].
ForecastTable RidgeForecasts(const FeatureTable& table, std::size_t train_until,
                             std::span<const std::size_t> issues, std::size_t horizon,
                             const PhaseListener& phase);

// How the blend learns; docs/reference/forecasts.md says how the defaults were chosen.
struct BlendOptions {
  double lambda = 15;        // of the first day of lead
  double later_lambda = 15;  // of the days after it
  double half_life_days = 730;
};

// Two ridges per lead that share one matrix, one for the logarithm and one for the intensity
// itself, averaged as logarithms. Refitted at each of `refits` (ascending hours), with all targets
// that were known by then; the forecast of an issue is that of the last refit at or before it.
// Issues before the first refit get that one's, which has then seen their targets: leave them out.
ForecastTable BlendForecasts(const FeatureTable& table, const BlendOptions& options,
                             std::span<const std::size_t> refits,
                             std::span<const std::size_t> issues, std::size_t horizon,
                             const PhaseListener& phase);

}  // namespace lowtide
