#include "run/quantity_text.h"

#include <fmt/format.h>

#include <cmath>

namespace lowtide {
namespace {

// Below 10 Wh joules say more than fractions of a watt-hour.
constexpr double kJoulesPerWh = 3600;
constexpr double kLargestInJoules = 10 * kJoulesPerWh;

}  // namespace

std::string FormatSignificant(double value, int digits) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : (value < 0 ? "-inf" : "inf");
  if (value == 0) return "0";
  // Rounding may carry into a new digit (9.996 -> 10.0), so round before counting.
  const double magnitude = std::floor(std::log10(std::abs(value)));
  const double unit = std::pow(10.0, magnitude - (digits - 1));
  const double rounded = std::round(value / unit) * unit;
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(rounded)) + 1e-12));
  const int decimals = std::max(0, digits - 1 - exponent);
  return fmt::format("{:.{}f}", rounded, decimals);
}

QuantityUnit EnergyUnit(Joules energy) {
  const double size = std::abs(energy.v);
  if (size == 0) return {1, "J"};
  // What rounds to 1000 of a unit is one of the next.
  if (size < 0.9995e-3) return {1e-6, "µJ"};
  if (size < 0.9995) return {1e-3, "mJ"};
  if (size < 999.5) return {1, "J"};
  if (size < kLargestInJoules) return {1000, "kJ"};
  if (size < 999.5 * kJoulesPerWh) return {kJoulesPerWh, "Wh"};
  return {kJoulesPerKwh, "kWh"};
}

QuantityUnit CarbonUnit(Grams carbon) {
  const double size = std::abs(carbon.v);
  if (size == 0) return {1, "g"};
  if (size < 0.9995e-3) return {1e-6, "µg"};
  if (size < 0.9995) return {1e-3, "mg"};
  if (size < 999.5) return {1, "g"};
  if (size < 999.5e3) return {1e3, "kg"};
  return {1e6, "t"};
}

std::string FormatEnergy(Joules energy) {
  const QuantityUnit unit = EnergyUnit(energy);
  const int digits = unit.size == kJoulesPerKwh ? 4 : 3;
  return fmt::format("{} {}", FormatSignificant(energy.v / unit.size, digits), unit.name);
}

std::string FormatCarbon(Grams carbon) {
  const QuantityUnit unit = CarbonUnit(carbon);
  return fmt::format("{} {}", FormatSignificant(carbon.v / unit.size), unit.name);
}

std::string FormatShare(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string FormatDifference(double value, double base) {
  if (!(base > 0) || !std::isfinite(value)) return {};
  const double percent = (value / base - 1) * 100;
  // No "-0.0 %".
  return fmt::format("{:+.1f} %", std::abs(percent) < 0.05 ? 0.0 : percent);
}

}  // namespace lowtide
