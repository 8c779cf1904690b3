// Quantities for people: three significant digits and the unit that suits the size.
#pragma once

#include <optional>
#include <string>

#include "base/units.h"

namespace lowtide {

// `digits` significant digits without exponent: 0.0123, 1.23, 123, 12300; "0" for zero.
std::string FormatSignificant(double value, int digits = 3);

// The unit that suits a quantity of this size; `size` is one of it in J or g.
struct QuantityUnit {
  double size = 1;
  const char* name = "";
};
QuantityUnit EnergyUnit(Joules energy);
QuantityUnit CarbonUnit(Grams carbon);

// "12.3 µJ", "12.3 mJ", "12.3 J", "4.56 kJ" below 10 Wh; "45.6 Wh", "1.234 kWh".
std::string FormatEnergy(Joules energy);
std::string FormatCarbon(Grams carbon);  // "12.3 µg", "12.3 mg", "4.56 g", "1.23 kg", "1.23 t"
std::string FormatShare(double share);   // 0.123 -> "12.3 %"
// How `value` differs from `base`, "+12.3 %"; empty when `base` is not positive.
std::string FormatDifference(double value, double base);

// `none` where there is no value: a missing value is never 0.
template <class T, class Format>
std::string FormatOr(const std::optional<T>& value, Format format, std::string none = "-") {
  return value ? format(*value) : std::move(none);
}

}  // namespace lowtide
