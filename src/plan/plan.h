// What a job is to do when, and what that is expected to cost.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/units.h"

namespace lowtide {

// A stretch of the job, [from, to) in UTC. The draw is constant in it, and so is the intensity.
struct Slot {
  TimePoint from;
  TimePoint to;
  std::optional<Watts> limit;            // one GPU's; nothing: paused
  std::optional<GramsPerKwh> intensity;  // nothing: not known for this time
  Joules energy;
  std::optional<Grams> carbon;  // nothing where the intensity is unknown
  double work = 0;              // in the power curve's work units
  std::string reason;           // of the decision in force
};

// The same work done otherwise.
struct Counterfactual {
  std::string name;             // "full_power", "best_constant_limit"
  std::optional<Watts> limit;   // the constant limit, where there is one
  std::optional<Grams> carbon;  // nothing when the intensity is unknown for any part of it
  Joules energy;
  Seconds duration{0};
  double missing_share = 0;  // of the duration, without a known intensity
};

struct Plan {
  std::string policy;
  std::vector<Slot> slots;  // ordered, without overlap
  Joules energy;            // sum of the slots
  // Sum of the slots; nothing when the intensity is unknown for any of them.
  std::optional<Grams> carbon;
  Grams known_carbon;               // sum over the slots whose intensity is known
  Joules energy_without_intensity;  // sum over the others
  TimePoint finishes_at;
  std::vector<Counterfactual> counterfactuals;
};

}  // namespace lowtide
