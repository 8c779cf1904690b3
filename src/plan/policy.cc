#include "plan/policy.h"

#include <fmt/format.h>

#include <cmath>

#include "base/csv.h"
#include "base/near_names.h"
#include "base/time.h"

namespace lowtide {
namespace {

constexpr double kMaxIntensity = 5000;  // g/kWh; no generator comes near

Status CheckEta(double eta) {
  if (eta >= 0 && eta <= 1) return {};
  return Fail(Code::kInvalidArgument, fmt::format("eta is {:g}; allowed is 0 to 1", eta));
}

Status CheckMaxIntensity(GramsPerKwh intensity) {
  if (intensity.v > 0 && intensity.v <= kMaxIntensity) return {};
  return Fail(
      Code::kInvalidArgument,
      fmt::format("the maximum carbon intensity is {:g} g/kWh; allowed is above 0 up to {:g}",
                  intensity.v, kMaxIntensity));
}

Status CheckHysteresis(const Hysteresis& hysteresis) {
  if (!(hysteresis.min_dwell.count() >= 0)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("the minimum dwell is {:g} s; it must be at least 0",
                            hysteresis.min_dwell.count()));
  }
  if (!(hysteresis.min_gain >= 0 && hysteresis.min_gain < 1)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("the minimum gain is {:g}; allowed is a share from 0 to below 1",
                            hysteresis.min_gain));
  }
  return {};
}

// What the policy would choose were there no past.
struct Choice {
  PowerPoint best;
  // Share of the current limit's cost that `best` saves; nothing without a current limit, and for
  // a selector that keeps a bound instead of minimising a cost.
  std::optional<double> gain;
  std::string why;  // what was compared, with its numbers
};

// The curve's value at a limit that need not be one of its points (a driver may round).
PowerPoint PointAt(const PowerCurve& curve, Watts limit) {
  if (const PowerPoint* point = curve.Find(limit)) return *point;
  return Interpolate(curve, limit);
}

double RelativeGain(double current_cost, double cost) {
  return current_cost == 0 ? 0 : (current_cost - cost) / std::abs(current_cost);
}

std::optional<double> SelectorGain(const PowerCurve& curve, const PowerPoint& best,
                                   const PowerPoint& current, const Selector& selector) {
  switch (selector.kind) {
    case SelectorKind::kEnergy:
      return RelativeGain(EnergyPerUnit(current).v, EnergyPerUnit(best).v);
    case SelectorKind::kTime:
      return RelativeGain(TimePerUnit(current).count(), TimePerUnit(best).count());
    case SelectorKind::kZeus:
      return RelativeGain(ZeusCostPerUnit(curve, current, selector.eta).v,
                          ZeusCostPerUnit(curve, best, selector.eta).v);
    case SelectorKind::kMaxSlowdown: return std::nullopt;
  }
  return std::nullopt;
}

Choice ChooseZeus(const PowerCurve& curve, const Selector& selector, std::optional<Watts> current) {
  Choice choice;
  choice.best = SelectLimit(curve, selector);
  if (current) choice.gain = SelectorGain(curve, choice.best, PointAt(curve, *current), selector);
  const PowerPoint& full = curve.Highest();
  choice.why = fmt::format("{} chooses {:g} W: {:+.1f} % energy and {:+.1f} % time against {:g} W",
                           Describe(selector), choice.best.limit.v,
                           100 * (EnergyPerUnit(choice.best) / EnergyPerUnit(full) - 1),
                           100 * (TimePerUnit(choice.best) / TimePerUnit(full) - 1), full.limit.v);
  return choice;
}

Choice ChooseChase(const PowerCurve& curve, const CarbonWeights& weights, GramsPerKwh forecast,
                   std::optional<Watts> current) {
  Choice choice;
  choice.best = SelectCarbonAware(curve, forecast, weights);
  if (current) {
    choice.gain =
        RelativeGain(CarbonCostPerUnit(curve, PointAt(curve, *current), forecast, weights).v,
                     CarbonCostPerUnit(curve, choice.best, forecast, weights).v);
  }
  choice.why = fmt::format(
      "chase chooses {:g} W at {:.1f} g/kWh (eta {:g}, maximum {:g} g/kWh x {:g} W)",
      choice.best.limit.v, forecast.v, weights.eta, weights.max_intensity.v, curve.MaxPower().v);
  return choice;
}

bool SameLimit(Watts a, Watts b) { return std::abs(a.v - b.v) <= 0.5; }

Decision Hold(Watts current, std::string reason) {
  return {Outcome::kHeld, current, std::move(reason)};
}

Decision WithHysteresis(const Choice& choice, const Situation& situation,
                        const Hysteresis& hysteresis) {
  const Watts best = choice.best.limit;
  if (!situation.current) return {Outcome::kChanged, best, choice.why};
  const Watts current = *situation.current;
  if (SameLimit(current, best)) return Hold(current, choice.why);
  const std::string gain =
      choice.gain ? fmt::format("a gain of {:.3f} % over {:g} W", 100 * *choice.gain, current.v)
                  : "";
  if (choice.gain && *choice.gain < hysteresis.min_gain) {
    return Hold(current, fmt::format("{}; kept {:g} W: {} is below the minimum of {:g} %",
                                     choice.why, current.v, gain, 100 * hysteresis.min_gain));
  }
  if (situation.since_change < hysteresis.min_dwell) {
    return Hold(current, fmt::format("{}; kept {:g} W: set {} ago, the minimum dwell is {}",
                                     choice.why, current.v, FormatDuration(situation.since_change),
                                     FormatDuration(hysteresis.min_dwell)));
  }
  return {Outcome::kChanged, best, gain.empty() ? choice.why : choice.why + ", " + gain};
}

Decision DecideFixed(Watts limit, std::optional<Watts> current) {
  const bool in_force = current && SameLimit(*current, limit);
  return {in_force ? Outcome::kHeld : Outcome::kChanged, limit,
          fmt::format("fixed at {:g} W", limit.v)};
}

Decision DecideZeus(const Policy& policy, const Situation& situation) {
  const Choice choice = ChooseZeus(*situation.curve, policy.selector, situation.current);
  return WithHysteresis(choice, situation, policy.hysteresis);
}

Decision DecideChase(const Policy& policy, const Situation& situation) {
  const CarbonWeights& weights = policy.weights;
  if (situation.forecast) {
    return WithHysteresis(
        ChooseChase(*situation.curve, weights, *situation.forecast, situation.current), situation,
        policy.hysteresis);
  }
  if (situation.current) {
    return Hold(*situation.current,
                fmt::format("no intensity forecast: kept {:g} W", situation.current->v));
  }
  const Selector zeus{SelectorKind::kZeus, weights.eta, 1};
  const Choice choice = ChooseZeus(*situation.curve, zeus, std::nullopt);
  return {Outcome::kChanged, choice.best.limit,
          "no intensity forecast: as policy zeus, " + choice.why};
}

}  // namespace

Result<Selector> ParseSelector(std::string_view text, double eta) {
  const auto colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const bool has_value = colon != std::string_view::npos;
  std::optional<double> value;
  if (has_value) value = ParseNumber(text.substr(colon + 1));
  Selector selector;
  if (name == "energy" && !has_value) {
    selector.kind = SelectorKind::kEnergy;
    return selector;
  }
  if (name == "time" && !has_value) {
    selector.kind = SelectorKind::kTime;
    return selector;
  }
  if (name == "zeus" && (value || !has_value)) {
    selector.kind = SelectorKind::kZeus;
    selector.eta = value.value_or(eta);
    LOWTIDE_TRY_STATUS(CheckEta(selector.eta));
    return selector;
  }
  if (name == "max-slowdown" && value && *value >= 1) {
    selector.kind = SelectorKind::kMaxSlowdown;
    selector.max_slowdown = *value;
    return selector;
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("'{}' is not a selector; allowed are energy, time, zeus[:ETA] and "
                          "max-slowdown:FACTOR with FACTOR at least 1",
                          text.substr(0, 64)));
}

Result<Policy> ParsePolicy(std::string_view text, const PolicyOptions& options) {
  Policy policy;
  if (options.hysteresis) policy.hysteresis = *options.hysteresis;
  if (text == "none") {
    policy.kind = PolicyKind::kNone;
    return policy;
  }
  constexpr std::string_view kFixedPrefix = "fixed:";
  if (text.starts_with(kFixedPrefix)) {
    const auto watts = ParseNumber(text.substr(kFixedPrefix.size()));
    if (!watts || *watts <= 0) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format("'{}' is not a policy; expected fixed:WATTS with WATTS above 0, such as "
                      "fixed:200",
                      text.substr(0, 64)));
    }
    policy.kind = PolicyKind::kFixed;
    policy.fixed_limit = Watts(*watts);
    return policy;
  }
  LOWTIDE_TRY_STATUS(CheckHysteresis(policy.hysteresis));
  if (text == "zeus") {
    policy.kind = PolicyKind::kZeus;
    LOWTIDE_TRY(policy.selector, ParseSelector(options.selector, options.eta.value_or(kZeusEta)));
    return policy;
  }
  if (text == "chase") {
    policy.kind = PolicyKind::kChase;
    policy.weights = {options.eta.value_or(kChaseEta), options.max_intensity};
    LOWTIDE_TRY_STATUS(CheckEta(policy.weights.eta));
    LOWTIDE_TRY_STATUS(CheckMaxIntensity(options.max_intensity));
    return policy;
  }
  const std::string near = DidYouMean(text.substr(0, text.find(':')),
                                      std::vector<std::string>{"none", "fixed", "zeus", "chase"});
  return Fail(Code::kInvalidArgument,
              fmt::format("'{}' is not a policy; {}{}allowed are none, fixed:WATTS, zeus and chase",
                          text.substr(0, 64), near, near.empty() ? "" : " "));
}

std::string PolicyName(const Policy& policy) {
  switch (policy.kind) {
    case PolicyKind::kNone: return "none";
    case PolicyKind::kFixed: return fmt::format("fixed:{:g}", policy.fixed_limit.v);
    case PolicyKind::kZeus: return "zeus";
    case PolicyKind::kChase: return "chase";
  }
  return {};
}

Decision Decide(const Policy& policy, const Situation& situation) {
  switch (policy.kind) {
    case PolicyKind::kNone: return {Outcome::kNoLimit, std::nullopt, "policy none"};
    case PolicyKind::kFixed: return DecideFixed(policy.fixed_limit, situation.current);
    case PolicyKind::kZeus:
    case PolicyKind::kChase: break;
  }
  if (situation.curve == nullptr) {
    return {Outcome::kNoLimit, std::nullopt,
            "no power curve of this job yet: the limit is left alone"};
  }
  return policy.kind == PolicyKind::kZeus ? DecideZeus(policy, situation)
                                          : DecideChase(policy, situation);
}

}  // namespace lowtide
