#include "fakes/providers/fake_series.h"

#include <gtest/gtest.h>

namespace lowtide {
namespace {

TEST(FakeSeries, HasTheHashOfThePublishedTestVectors) {
  EXPECT_EQ(fake_series::Fnv1a32(""), 0x811C9DC5U);
  EXPECT_EQ(fake_series::Fnv1a32("a"), 0xE40C292CU);
  EXPECT_EQ(fake_series::Fnv1a32("foobar"), 0xBF9CF968U);
}

TEST(FakeSeries, IsTheMeanOfItsFiveMinutes) {
  using namespace std::chrono_literals;
  const TimePoint midnight = ParseTime("2026-08-22T00:00:00Z").value();
  double sum = 0;
  for (int i = 0; i < 12; ++i) {
    sum += fake_series::Lifecycle("DE", midnight + i * 5min, midnight + (i + 1) * 5min).v;
  }
  EXPECT_NEAR(fake_series::Lifecycle("DE", midnight, midnight + 1h).v, sum / 12, 1e-9);
  EXPECT_NE(fake_series::Lifecycle("FR", midnight, midnight + 1h).v,
            fake_series::Lifecycle("DE", midnight, midnight + 1h).v);
}

}  // namespace
}  // namespace lowtide
