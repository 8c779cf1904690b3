#include "demand_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace lowtide::fake_nvml {
namespace {

// Midpoint rule, fine enough to judge the closed forms by.
double Numeric(const DemandProfile& p, double t, double low, double high) {
  const int steps = 200'000;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    sum += std::clamp(DemandAt(p, (i + 0.5) * t / steps), low, high);
  }
  return sum * t / steps;
}

TEST(DemandProfile, ConstantIsCappedByTheLimitAndRaisedToIdle) {
  const DemandProfile p{.segments = {{1, 250, 250}}};
  EXPECT_DOUBLE_EQ(ClampedEnergy(p, 10, 25, 300), 2500);
  EXPECT_DOUBLE_EQ(ClampedEnergy(p, 10, 25, 200), 2000);
  EXPECT_DOUBLE_EQ(ClampedEnergy(p, 10, 280, 300), 2800);
  EXPECT_DOUBLE_EQ(ClampedEnergy(p, 10, 280, 200), 2800);  // idle power cannot be capped
}

TEST(DemandProfile, RampsAndRepetition) {
  const DemandProfile p{.segments = {{2, 100, 300}, {1, 50, 50}, {2, 300, 100}}};
  for (const double t : {0.5, 2.0, 2.7, 5.0, 7.3, 1234.567}) {
    EXPECT_NEAR(ClampedEnergy(p, t, 80, 220), Numeric(p, t, 80, 220), 1e-4 * t * 100) << t;
  }
  EXPECT_DOUBLE_EQ(DemandAt(p, 1), 200);
  EXPECT_DOUBLE_EQ(DemandAt(p, 6), 200);
}

TEST(DemandProfile, WithoutRepetitionTheLastValueStays) {
  const DemandProfile p{.segments = {{2, 100, 300}}, .repeat = false};
  EXPECT_DOUBLE_EQ(DemandAt(p, 100), 300);
  EXPECT_DOUBLE_EQ(ClampedEnergy(p, 12, 25, 1000), 400 + 3000);
}

TEST(DemandProfile, SineInAllRegimes) {
  DemandProfile p;
  p.kind = DemandProfile::Kind::kSine;
  p.mean_w = 200;
  p.amplitude_w = 120;
  p.period_s = 7;
  EXPECT_NEAR(ClampedEnergy(p, 7, 0, 1000), 1400, 1e-9);
  for (const double t : {1.0, 3.5, 6.9, 7.0, 40.3}) {
    for (const auto& [low, high] : std::initializer_list<std::pair<double, double>>{
             {25.0, 250.0}, {150.0, 180.0}, {10.0, 60.0}, {330.0, 400.0}, {25.0, 1000.0}}) {
      EXPECT_NEAR(ClampedEnergy(p, t, low, high), Numeric(p, t, low, high), 1e-3 * t) << t;
    }
  }
}

}  // namespace
}  // namespace lowtide::fake_nvml
