// Carbon intensity from what a zone generates: sum(power * factor) / sum(power).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grid/providers/payload.h"

namespace lowtide {

// g/kWh for each fuel in one basis. From data/grid/emission_factors.csv:
//   fuel,lifecycle_g_per_kwh,direct_g_per_kwh,source
// Both empty: storage, which is left out of the mix, because what it gives was counted when it was
// charged.
class EmissionFactors {
 public:
  // kInvalidArgument naming line and column: a number outside 0 to 5000, a fuel given twice, only
  // one of two factors, no fuel "unknown".
  static Result<EmissionFactors> Parse(std::string_view csv);

  // The factor of the fuel, or of "unknown" for a fuel that is not in the table. Nothing: storage.
  // `basis` is kLifecycle or kDirect.
  std::optional<GramsPerKwh> Of(std::string_view fuel, Basis basis) const;
  bool Knows(std::string_view fuel) const { return rows_.contains(fuel); }

 private:
  struct Row {
    std::optional<GramsPerKwh> lifecycle, direct;
  };
  std::map<std::string, Row, std::less<>> rows_;
};

// What one fuel gave in [from, to). Nothing: the provider has the row, but no number.
struct Generation {
  std::string code;  // the provider's: "B04", "NG"
  std::string fuel;  // in emission_factors.csv
  TimePoint from;
  TimePoint to;
  std::optional<double> amount;  // MW, or MWh of slots of one length
};

// One slot for each stretch between the edges of `rows`. A later row of the same code and start
// replaces an earlier one. Below 0 (own use, pumping) counts as 0. A stretch is missing when
//  - a code has a row without a number there, or
//  - a code has no row there, while next to it it gave more than 1 % of what is known there (small
//    ones, such as the sun's in the evening, are left out by some operators), or
//  - nothing was generated.
// Stretches longer than a day are gaps, not slots. `zone` is not set.
Payload IntensityFromMix(const std::vector<Generation>& rows, const EmissionFactors& factors,
                         Basis basis);

}  // namespace lowtide
