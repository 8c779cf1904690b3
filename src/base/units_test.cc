#include "base/units.h"

#include <gtest/gtest.h>

#include <concepts>

namespace lowtide {
namespace {

template <class A, class B>
concept Multiplies = requires(A a, B b) { a* b; };
template <class A, class B>
concept Adds = requires(A a, B b) { a + b; };

TEST(Units, PowerOverTimeIsEnergy) {
  EXPECT_EQ((Watts(250) * Seconds(4)).v, 1000);
  EXPECT_EQ((Seconds(4) * Watts(250)).v, 1000);
  EXPECT_EQ((Joules(1000) / Seconds(4)).v, 250);
}

TEST(Units, EnergyTimesIntensityIsCarbon) {
  EXPECT_EQ((Joules(3.6e6) * GramsPerKwh(455.1)).v, 455.1);
  EXPECT_EQ((KilowattHours(2) * GramsPerKwh(30)).v, 60);
}

TEST(Units, KilowattHoursAndJoulesConvertExactly) {
  EXPECT_EQ(ToJoules(KilowattHours(1)).v, 3.6e6);
  EXPECT_EQ(ToKwh(Joules(7.2e6)).v, 2);
}

TEST(Units, ScaleAddAndCompare) {
  Watts p(100);
  p += Watts(25);
  p -= Watts(5);
  EXPECT_EQ(p, Watts(120));
  EXPECT_EQ(-p, Watts(-120));
  EXPECT_EQ(p * 0.5, Watts(60));
  EXPECT_EQ(p / Watts(60), 2.0);
  EXPECT_LT(Watts(1), Watts(2));
}

TEST(Units, OnlyMeaningfulProductsCompile) {
  static_assert(Multiplies<Watts, Seconds>);
  static_assert(!Multiplies<Watts, Watts>);
  static_assert(!Multiplies<Watts, GramsPerKwh>);
  static_assert(!Adds<Watts, Joules>);
  static_assert(!Adds<Joules, KilowattHours>);
  static_assert(!std::convertible_to<double, Watts>);
}

}  // namespace
}  // namespace lowtide
