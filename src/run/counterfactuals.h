// What a finished run would have cost at another power limit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "store/records.h"

namespace lowtide {

// The same run done otherwise. Energy and carbon mean what the run's own do: all counted
// components; carbon includes PUE.
struct CounterfactualLine {
  std::string name;                  // "full_power", "best_constant_limit"
  std::optional<Watts> power_limit;  // one GPU's
  std::optional<Grams> carbon;       // nothing when the intensity is unknown for part of it
  Joules energy;
  Seconds duration{0};
};

// Full power from the start, and the best constant limit that ends no later than the run did: least
// carbon, or least energy where carbon is unknown. Empty without a power curve, steps and energy.
//
// The run's own numbers are the base, and only what the curve predicts is exchanged: of the
// recorded steps, time and GPU energy expected at the limits that were in force are taken out,
// those expected at the other limit put in. What the run spent beside its steps stays. Energy of
// other components grows with the duration. Carbon is energy x PUE x the time-weighted mean of the
// intensities on record over the grid time that it takes.
std::vector<CounterfactualLine> RunCounterfactuals(const RunData& run);

}  // namespace lowtide
