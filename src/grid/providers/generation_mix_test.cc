#include "grid/providers/generation_mix.h"

#include "grid/providers/provider_test_support.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;

const TimePoint kT0 = At("2026-03-01T00:00Z");

Generation Gave(std::string_view fuel, int hour, std::optional<double> mw) {
  return {std::string(fuel), std::string(fuel), kT0 + hour * 1h, kT0 + (hour + 1) * 1h, mw};
}

Payload Lifecycle(const std::vector<Generation>& rows) {
  return IntensityFromMix(rows, TestFactors(), Basis::kLifecycle);
}

TEST(EmissionFactorsTest, TheTableIsTheDocumentedOne) {
  const EmissionFactors& factors = TestFactors();
  EXPECT_EQ(factors.Of("coal", Basis::kLifecycle), GramsPerKwh(820));
  EXPECT_EQ(factors.Of("coal", Basis::kDirect), GramsPerKwh(760));
  EXPECT_EQ(factors.Of("wind", Basis::kDirect), GramsPerKwh(0));
  EXPECT_EQ(factors.Of("tidal", Basis::kLifecycle), GramsPerKwh(700));  // unknown, never dropped
  EXPECT_FALSE(factors.Of("battery", Basis::kLifecycle));
}

TEST(EmissionFactorsTest, BadTablesAreRefused) {
  const std::string header = "fuel,lifecycle_g_per_kwh,direct_g_per_kwh,source\n";
  for (const char* rows :
       {"coal,820,760,x\n", "unknown,,,x\n", "unknown,700,,x\n", "unknown,700,-1,x\n",
        "unknown,9999,1,x\n", "unknown,700,575,x\nunknown,700,575,x\n", "unknown,abc,1,x\n"}) {
    EXPECT_EQ(EmissionFactors::Parse(header + rows).error().code, Code::kInvalidArgument) << rows;
  }
}

TEST(GenerationMixTest, IsTheWeightedMean) {
  const Payload out = Lifecycle({Gave("coal", 0, 100), Gave("wind", 0, 300)});
  ASSERT_EQ(out.slots.size(), 1U);
  EXPECT_DOUBLE_EQ(out.slots[0].value.v, (100 * 820 + 300 * 11) / 400.0);
  const Payload direct =
      IntensityFromMix({Gave("coal", 0, 100), Gave("wind", 0, 300)}, TestFactors(), Basis::kDirect);
  EXPECT_DOUBLE_EQ(direct.slots[0].value.v, 190);
}

TEST(GenerationMixTest, StorageIsLeftOut) {
  const Payload out = Lifecycle({Gave("gas", 0, 100), Gave("battery", 0, 900)});
  EXPECT_DOUBLE_EQ(out.slots[0].value.v, 490);
  EXPECT_TRUE(Lifecycle({Gave("battery", 0, 900)}).slots.empty());
}

TEST(GenerationMixTest, NegativeAmountsCountAsNone) {
  const Payload out = Lifecycle({Gave("gas", 0, 100), Gave("solar", 0, -5)});
  EXPECT_DOUBLE_EQ(out.slots[0].value.v, 490);
}

TEST(GenerationMixTest, ANullMakesTheSlotAGap) {
  const Payload out = Lifecycle({Gave("gas", 0, 100), Gave("wind", 0, 100),
                                 Gave("gas", 1, std::nullopt), Gave("wind", 1, 100)});
  EXPECT_EQ(out.slots.size(), 1U);
  EXPECT_EQ(out.missing, 1);
}

TEST(GenerationMixTest, AnAbsentRowIsAGapUnlessTheFuelGaveNextToNothing) {
  const Payload large =
      Lifecycle({Gave("gas", 0, 100), Gave("wind", 0, 100), Gave("wind", 1, 100)});
  EXPECT_EQ(large.slots.size(), 1U);
  EXPECT_EQ(large.missing, 1);
  const Payload small =
      Lifecycle({Gave("solar", 0, 0.9), Gave("wind", 0, 100), Gave("wind", 1, 100),
                 Gave("solar", 2, 0.9), Gave("wind", 2, 100)});
  EXPECT_EQ(small.slots.size(), 3U);
  EXPECT_EQ(small.missing, 0);
}

TEST(GenerationMixTest, ResolutionsMayDiffer) {
  std::vector<Generation> rows = {Gave("gas", 0, 100)};
  for (int quarter = 0; quarter < 4; ++quarter) {
    rows.push_back(
        {"wind", "wind", kT0 + quarter * 15min, kT0 + (quarter + 1) * 15min, 100.0 * quarter});
  }
  const Payload out = Lifecycle(std::move(rows));
  ASSERT_EQ(out.slots.size(), 4U);
  EXPECT_DOUBLE_EQ(out.slots[0].value.v, 490);
  EXPECT_DOUBLE_EQ(out.slots[3].value.v, (100 * 490 + 300 * 11) / 400.0);
  EXPECT_EQ(out.slots[3].to, kT0 + 1h);
}

TEST(GenerationMixTest, ALaterRowReplacesAnEarlierOne) {
  const Payload out = Lifecycle({Gave("gas", 0, 100), Gave("wind", 0, 100), Gave("wind", 0, 300)});
  EXPECT_DOUBLE_EQ(out.slots[0].value.v, (100 * 490 + 300 * 11) / 400.0);
  EXPECT_EQ(out.duplicates, 1);
}

TEST(GenerationMixTest, NothingGeneratedIsMissingNotZero) {
  const Payload out = Lifecycle({Gave("gas", 0, 0), Gave("wind", 0, 0)});
  EXPECT_TRUE(out.slots.empty());
  EXPECT_EQ(out.missing, 1);
}

TEST(GenerationMixTest, AGapBetweenRowsStaysOne) {
  const Payload out = Lifecycle({Gave("gas", 0, 5), Gave("gas", 3, 5)});
  ASSERT_EQ(out.slots.size(), 2U);
  EXPECT_EQ(out.slots[1].from, kT0 + 3h);
}

}  // namespace
}  // namespace lowtide
