#include "plan/limit_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lowtide {
namespace {

using std::chrono::milliseconds;

constexpr Seconds kLongestJob = std::chrono::hours(24 * 366 * 10);
constexpr Seconds kShortestPeriod{1};
constexpr double kEnoughCoverage = 0.5;
constexpr Seconds kRounding{1e-6};  // work that takes less is not worth a slot of its own

Status Check(const LimitPlanRequest& request) {
  if (!(request.duration.count() > 0 && request.duration <= kLongestJob)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("the duration is {:g} s; allowed is above 0 up to "
                            "10 years",
                            request.duration.count()));
  }
  if (request.period && !(*request.period >= kShortestPeriod && *request.period <= kLongestJob)) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("the period is {:g} s; allowed is 1 s to 10 years", request.period->count()));
  }
  const auto& series = request.intensity.series;
  if (series != nullptr && !IsWellFormed(*series)) {
    return Fail(Code::kInvalidArgument, "the intensity series is not ordered or overlaps");
  }
  const Policy& policy = request.policy;
  if (policy.kind == PolicyKind::kFixed &&
      (policy.fixed_limit.v > request.curve.Highest().limit.v + 0.5 ||
       policy.fixed_limit.v < request.curve.Lowest().limit.v - 0.5)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("policy fixed:{:g}: the power curve covers {:g} to {:g} W",
                            policy.fixed_limit.v, request.curve.Lowest().limit.v,
                            request.curve.Highest().limit.v));
  }
  return {};
}

// Ends of stretches in which neither the decision nor the intensity changes.
class Boundaries {
 public:
  explicit Boundaries(const LimitPlanRequest& request)
      : start_(request.start),
        series_(request.intensity.constant ? nullptr : request.intensity.series) {
    // A constant never changes a decision, so periods only matter on a series.
    if (series_ != nullptr && request.period) period_ = ToMilliseconds(*request.period);
  }

  // The first moment after `t` at which the intensity changes or becomes unknown.
  std::optional<TimePoint> NextChange(TimePoint t) const {
    if (series_ == nullptr) return std::nullopt;
    const auto it = std::ranges::upper_bound(*series_, t, {}, &Sample<GramsPerKwh>::to);
    if (it == series_->end()) return std::nullopt;
    return it->from > t ? it->from : it->to;
  }

  // The next decision after `t`: with no period, wherever the intensity changes. After the last
  // known intensity there is nothing to decide on.
  std::optional<TimePoint> NextDecision(TimePoint t) const {
    const auto change = NextChange(t);
    if (!period_ || !change) return change;
    return start_ + ((t - start_) / *period_ + 1) * *period_;
  }

 private:
  TimePoint start_;
  const Series<GramsPerKwh>* series_;
  std::optional<milliseconds> period_;
};

// Walks the job from decision to decision.
class Planner {
 public:
  explicit Planner(const LimitPlanRequest& request)
      : request_(request),
        boundaries_(request),
        now_(request.start),
        work_left_(request.duration.count() * request.curve.Highest().throughput_per_s) {}

  Result<Plan> Make() {
    plan_.policy = PolicyName(request_.policy);
    while (work_left_ > 0) {
      const auto until = boundaries_.NextDecision(now_);
      DecideFor(until);
      LOWTIDE_TRY_STATUS(RunUntil(until));
    }
    plan_.finishes_at = now_;
    if (plan_.energy_without_intensity.v == 0) plan_.carbon = plan_.known_carbon;
    return std::move(plan_);
  }

 private:
  void DecideFor(std::optional<TimePoint> until) {
    Situation situation;
    situation.curve = &request_.curve;
    situation.current = limit_;
    // In the last stretch nothing changes any more, so its first moment stands for it.
    const auto mean = request_.intensity.Mean(now_, until.value_or(now_));
    if (mean.coverage >= kEnoughCoverage) situation.forecast = mean.value;
    situation.since_change = ToSeconds(now_ - changed_at_);
    Decision decision = Decide(request_.policy, situation);
    if (decision.outcome == Outcome::kChanged) {
      limit_ = decision.limit;
      changed_at_ = now_;
    }
    reason_ = std::move(decision.reason);
    // Left alone, a GPU runs at its highest limit.
    const Watts limit = limit_.value_or(request_.curve.Highest().limit);
    const PowerPoint* const point = request_.curve.Find(limit);
    point_ = point != nullptr ? *point : Interpolate(request_.curve, limit);
  }

  Status RunUntil(std::optional<TimePoint> until) {
    while (work_left_ > 0 && (!until || now_ < *until)) {
      if (plan_.slots.size() == kMaxPlanSlots) {
        return Fail(Code::kResourceExhausted,
                    fmt::format("the plan has more than {} slots at {}: take a longer period",
                                kMaxPlanSlots, FormatTime(now_)));
      }
      auto end = boundaries_.NextChange(now_);
      if (until && (!end || *until < *end)) end = until;
      AddSlot(end);
    }
    return {};
  }

  void AddSlot(std::optional<TimePoint> end) {
    Slot slot;
    slot.from = now_;
    Seconds length = work_left_ * TimePerUnit(point_);
    if (end && length - ToSeconds(*end - now_) > kRounding) {
      length = ToSeconds(*end - now_);
      slot.to = *end;
      slot.work = length.count() * point_.throughput_per_s;
      work_left_ -= slot.work;
    } else {
      slot.to = now_ + std::max(milliseconds(1), ToMilliseconds(length));
      slot.work = work_left_;
      work_left_ = 0;
    }
    slot.limit = point_.limit;
    slot.energy = point_.draw * length;
    slot.reason = reason_;
    slot.intensity = request_.intensity.Mean(slot.from, slot.from).value;
    if (slot.intensity) {
      slot.carbon = slot.energy * *slot.intensity;
      plan_.known_carbon += *slot.carbon;
    } else {
      plan_.energy_without_intensity += slot.energy;
    }
    plan_.energy += slot.energy;
    now_ = slot.to;
    plan_.slots.push_back(std::move(slot));
  }

  const LimitPlanRequest& request_;
  Boundaries boundaries_;
  Plan plan_;
  TimePoint now_;
  double work_left_;
  std::optional<Watts> limit_;
  TimePoint changed_at_;
  PowerPoint point_;
  std::string reason_;
};

}  // namespace

Result<Plan> MakeLimitPlan(const LimitPlanRequest& request) {
  LOWTIDE_TRY_STATUS(Check(request));
  LOWTIDE_TRY(Plan plan, Planner(request).Make());
  const PowerCurve& curve = request.curve;
  const Work work{request.duration.count() * curve.Highest().throughput_per_s, request.start, 1};
  plan.counterfactuals.push_back(FullPower(curve, work, request.intensity));
  // The plan's finish is rounded to a millisecond.
  const Seconds longest = ToSeconds(plan.finishes_at - request.start) + milliseconds(1);
  if (auto best = BestConstantLimit(curve, work, request.intensity, longest)) {
    plan.counterfactuals.push_back(*std::move(best));
  }
  return plan;
}

}  // namespace lowtide
