// What a power policy would do with a job, without running it.
#pragma once

#include "base/result.h"
#include "plan/counterfactual.h"
#include "plan/plan.h"
#include "plan/policy.h"
#include "plan/power_curve.h"

namespace lowtide {

struct LimitPlanRequest {
  PowerCurve curve;
  Policy policy;
  Seconds duration{0};  // of the job at the highest limit; positive, at most 10 years
  TimePoint start;
  IntensityView intensity;  // taken as the forecast that the policy sees
  // How often the policy decides; nothing: at every slot of the intensity. At least 1 s.
  std::optional<Seconds> period;
};

inline constexpr std::size_t kMaxPlanSlots = 200'000;

// Slots from `start` until the work (duration x throughput at the highest limit) is done; a lower
// limit takes longer. A slot ends at every decision and wherever the intensity changes; with a
// constant or unknown intensity there is exactly one. After the last known intensity, and in gaps,
// intensity and carbon are nothing and the energy is still counted. The mean intensity of the
// coming period is the forecast; it counts as unknown when less than half of it is covered.
// Counterfactuals: full_power, and best_constant_limit with the same finish or sooner.
// kInvalidArgument: duration or period out of range, or a fixed limit outside the curve.
// kResourceExhausted: more than kMaxPlanSlots slots.
Result<Plan> MakeLimitPlan(const LimitPlanRequest& request);

}  // namespace lowtide
