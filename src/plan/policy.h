// The rule that chooses one power limit for all GPUs of a run, again and again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "plan/cost.h"
#include "plan/power_curve.h"

namespace lowtide {

enum class PolicyKind : std::uint8_t {
  kNone,   // leaves the limit alone
  kFixed,  // one limit
  kZeus,   // Zeus's selectors on the power curve; knows no carbon
  kChase,  // the carbon-aware cost with the intensity forecast for the coming epoch or period
};

// Keeps limits from flapping; does not apply to the first decision, nor to kNone and kFixed.
struct Hysteresis {
  Seconds min_dwell{300};   // a limit stays at least this long
  double min_gain = 0.001;  // a change must lower the cost by this share, in [0, 1)
};

struct Policy {
  PolicyKind kind = PolicyKind::kNone;
  Watts fixed_limit;      // kFixed, one GPU's
  Selector selector;      // kZeus
  CarbonWeights weights;  // kChase
  Hysteresis hysteresis;
};

// "energy", "time", "zeus", "zeus:ETA", "max-slowdown:FACTOR" (FACTOR >= 1). A `zeus` without ETA
// takes `eta`.
Result<Selector> ParseSelector(std::string_view text, double eta);

inline constexpr double kZeusEta = 0.5;    // Zeus's own default
inline constexpr double kChaseEta = 0.24;  // that of the authors' branch of Chase

struct PolicyOptions {
  // Weight of energy or carbon against time; nothing: kZeusEta for zeus, kChaseEta for chase.
  std::optional<double> eta;
  std::string selector = "zeus";         // of policy zeus
  GramsPerKwh max_intensity{750};        // of policy chase; Chase's own number
  std::optional<Hysteresis> hysteresis;  // nothing: the default
};

// "none", "fixed:WATTS", "zeus", "chase". Checks the options that the policy uses.
Result<Policy> ParsePolicy(std::string_view text, const PolicyOptions& options = {});

// "none", "fixed:200", "zeus", "chase".
std::string PolicyName(const Policy& policy);

// What is known at the moment of a decision.
struct Situation {
  const PowerCurve* curve = nullptr;    // nothing until the job is profiled
  std::optional<Watts> current;         // the limit of the last decision; nothing before the first
  std::optional<GramsPerKwh> forecast;  // mean over the coming epoch or period
  Seconds since_change{0};              // since `current` was set
};

enum class Outcome : std::uint8_t {
  kChanged,  // `limit` is to be set
  kHeld,     // `limit` is in force already
  kNoLimit,  // nothing is to be set
};

struct Decision {
  Outcome outcome = Outcome::kNoLimit;
  std::optional<Watts> limit;  // nothing with kNoLimit
  std::string reason;          // for people, with the numbers that led to it
};

// Pure. kFixed needs no curve; kZeus and kChase give kNoLimit without one. Without a forecast,
// kChase keeps the current limit, and at the first decision takes what policy zeus would take at
// the same eta (carbon-aware cost at MaxCarbonIntensity equals Zeus's cost).
Decision Decide(const Policy& policy, const Situation& situation);

}  // namespace lowtide
