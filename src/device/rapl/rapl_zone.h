// The arithmetic of one RAPL counter: microjoules that wrap, are reset, and are sometimes absurd.
// Pure, so that every case can be scripted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "device/power_device.h"

namespace lowtide {

// No step may imply more than this. Three times the largest TDP there is for one package (500 W,
// AMD EPYC 9965 and Intel Xeon 6980P) leaves room for turbo; 24 modules of some 15 W, the most that
// one socket carries, stay below 500 W.
inline constexpr Watts kMaxPackagePower{1500};
inline constexpr Watts kMaxDramPower{500};

// The counter moves in steps of about a millisecond (Intel SDM vol. 3B, RAPL interfaces) and a poll
// is stamped a little before it reads: short intervals may seem to hold this much more time than
// they do.
inline constexpr Seconds kStampSlack{0.05};

// 2^32 steps of the smallest energy unit in use, 2^-16 J: the shortest range a zone can have, taken
// where `max_energy_range_uj` cannot be read.
inline constexpr std::uint64_t kSmallestRangeUj = 65'536'000'000;

struct RaplCounterLimits {
  std::optional<std::uint64_t> range_uj;  // the zone's own max_energy_range_uj
  Watts max_power = kMaxPackagePower;
};

// Follows one counter. The total never falls and never wraps.
//  - A step forward within `max_power` is energy.
//  - A step back is a wrap if the range is known, the previous value was in the upper half of it,
//  and
//    the energy so implied is within `max_power`. Otherwise the counter was reset: the interval's
//    energy is unknown (discontinuity), and the total goes on from the new value.
//  - A step over a gap so long that the counter may have gone all the way round is a discontinuity.
//  - A value above the range, or a step forward beyond `max_power`, is dropped (kDataLoss), and the
//    next good value continues; only if a second value confirms it is the counter taken to have
//    jumped (discontinuity).
class RaplCounter {
 public:
  struct Step {
    Joules total;  // since the first value
    bool discontinuity = false;
  };

  explicit RaplCounter(RaplCounterLimits limits) : limits_(limits) {}

  // Folds in the value `raw_uj` seen at `at`; values come in time's order.
  Result<Step> Advance(MonoTime at, std::uint64_t raw_uj);

 private:
  struct Value {
    MonoTime at;
    std::uint64_t uj = 0;
  };

  double AllowedUj(MonoTime from, MonoTime to) const;
  bool IsPlausible(const Value& from, const Value& to) const;
  Step Accept(const Value& value, std::uint64_t delta_uj);
  Step Restart(const Value& value);

  RaplCounterLimits limits_;
  std::optional<Value> last_;     // the last value believed
  std::optional<Value> suspect_;  // a value beyond belief, waiting for a second
  std::uint64_t total_uj_ = 0;
};

// The content of energy_uj or max_energy_range_uj: decimal digits, then perhaps white space.
std::optional<std::uint64_t> ParseMicrojoules(std::string_view text);

}  // namespace lowtide
