// Strong units. Only products that mean something compile:
//   Watts * Seconds = Joules,  Joules / Seconds = Watts,  Joules * GramsPerKwh = Grams.
#pragma once

#include <chrono>
#include <compare>

namespace lowtide {

using Seconds = std::chrono::duration<double>;

template <class Tag>
struct Quantity {
  double v = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : v(value) {}

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator-() const { return Quantity(-v); }
  constexpr Quantity& operator+=(Quantity o) {
    v += o.v;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity o) {
    v -= o.v;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.v + b.v); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.v - b.v); }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity(a.v * k); }
  friend constexpr Quantity operator*(double k, Quantity a) { return Quantity(a.v * k); }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity(a.v / k); }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.v / b.v; }
};

using Watts = Quantity<struct WattsTag>;
using Joules = Quantity<struct JoulesTag>;
using KilowattHours = Quantity<struct KilowattHoursTag>;
using Grams = Quantity<struct GramsTag>;              // of CO2e
using GramsPerKwh = Quantity<struct GramsPerKwhTag>;  // carbon intensity, gCO2e/kWh

inline constexpr double kJoulesPerKwh = 3.6e6;  // exact, by definition

constexpr Joules operator*(Watts p, Seconds t) { return Joules(p.v * t.count()); }
constexpr Joules operator*(Seconds t, Watts p) { return p * t; }
constexpr Watts operator/(Joules e, Seconds t) { return Watts(e.v / t.count()); }
constexpr KilowattHours ToKwh(Joules e) { return KilowattHours(e.v / kJoulesPerKwh); }
constexpr Joules ToJoules(KilowattHours e) { return Joules(e.v * kJoulesPerKwh); }
constexpr Grams operator*(Joules e, GramsPerKwh i) { return Grams(e.v / kJoulesPerKwh * i.v); }
constexpr Grams operator*(KilowattHours e, GramsPerKwh i) { return Grams(e.v * i.v); }

static_assert((Watts(1000) * std::chrono::hours(1) * GramsPerKwh(400)).v == 400);

}  // namespace lowtide
