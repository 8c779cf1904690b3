#include "grid/plausibility.h"

#include <cmath>

namespace lowtide {
namespace {

constexpr double kFactor = 3;
constexpr double kLeastDifference = 50;  // g/kWh
constexpr double kSame = 0.1;

bool FarFrom(GramsPerKwh value, GramsPerKwh other) {
  return std::abs(value.v - other.v) > kLeastDifference &&
         (value.v * kFactor < other.v || value.v > other.v * kFactor);
}

}  // namespace

bool IsDoubtful(GramsPerKwh value, std::optional<GramsPerKwh> before,
                std::optional<GramsPerKwh> day_before) {
  if (!before && !day_before) return false;
  return (!before || FarFrom(value, *before)) && (!day_before || FarFrom(value, *day_before));
}

bool NewestDoubt::Withholds(TimePoint from, GramsPerKwh value, TimePoint fetched_at) {
  const bool same = doubt_ && doubt_->from == from &&
                    std::abs(value.v - doubt_->value.v) <= kSame * doubt_->value.v;
  if (!same) {
    doubt_ = Doubt{from, value, fetched_at};
    return true;
  }
  if (fetched_at > doubt_->fetched_at) doubt_->confirmed = true;
  return !doubt_->confirmed;
}

}  // namespace lowtide
