#include "plan/cost.h"

#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <ostream>

#include "plan/zeus_data_for_tests.h"

namespace lowtide {
namespace {

PowerCurve Curve(std::vector<PowerPoint> points, int gpus = 1) {
  return MakePowerCurve("", "", gpus, std::move(points)).value();
}

TEST(CostTest, WeighsEnergyAgainstTimeAtMaxPower) {
  EXPECT_DOUBLE_EQ(ZeusCost(Joules(1000), Seconds(10), Watts(300), 0.25).v, 250 + 0.75 * 3000);
  EXPECT_DOUBLE_EQ(ZeusCost(Joules(1000), Seconds(10), Watts(300), 1).v, 1000);
  EXPECT_DOUBLE_EQ(ZeusCost(Joules(1000), Seconds(10), Watts(300), 0).v, 3000);
}

TEST(CostTest, WeighsCarbonAgainstTimeAtMaxPowerAndMaxIntensity) {
  // 1 kWh at 400 g/kWh, and an hour of 2 kW at 750 g/kWh.
  const CarbonWeights weights{0.25, GramsPerKwh(750)};
  EXPECT_DOUBLE_EQ(
      CarbonCost(Joules(3.6e6), Seconds(3600), Watts(2000), GramsPerKwh(400), weights).v,
      0.25 * 400 + 0.75 * 1500);
}

TEST(CostTest, AtMaxIntensityTheCarbonAwareChoiceIsThatOfZeus) {
  for (const double eta : {0.0, 0.24, 0.5, 0.8, 1.0}) {
    const PowerCurve curve = A40Resnet50(128);
    EXPECT_EQ(SelectCarbonAware(curve, GramsPerKwh(750), {eta, GramsPerKwh(750)}).limit,
              SelectLimit(curve, {SelectorKind::kZeus, eta, 1}).limit);
  }
}

TEST(CostTest, OfEqualsTheHighestLimitIsChosen) {
  const PowerCurve flat =
      Curve({{Watts(300), 2, Watts(90)}, {Watts(200), 2, Watts(90)}, {Watts(100), 2, Watts(90)}});
  for (const auto kind : {SelectorKind::kEnergy, SelectorKind::kTime, SelectorKind::kZeus}) {
    EXPECT_EQ(SelectLimit(flat, {kind, 0.5, 1}).limit, Watts(300));
  }
  EXPECT_EQ(SelectCarbonAware(flat, GramsPerKwh(100), {}).limit, Watts(300));
  // Max-slowdown asks for the lowest that is fast enough.
  EXPECT_EQ(SelectLimit(flat, {SelectorKind::kMaxSlowdown, 0.5, 1}).limit, Watts(100));
}

TEST(CostTest, MaxSlowdownComparesWithTheHighestLimit) {
  const PowerCurve curve = Curve(
      {{Watts(300), 1.0, Watts(290)}, {Watts(200), 0.8, Watts(190)}, {Watts(100), 0.5, Watts(95)}});
  const auto limit = [&](double factor) {
    return SelectLimit(curve, {SelectorKind::kMaxSlowdown, 0.5, factor}).limit.v;
  };
  EXPECT_EQ(limit(1.0), 300);
  EXPECT_EQ(limit(1.24), 300);
  EXPECT_EQ(limit(1.25), 200);
  EXPECT_EQ(limit(1.99), 200);
  EXPECT_EQ(limit(2), 100);
}

// Limits in watts that Zeus 0.16 chooses on its own recorded profiles.
struct ZeusChoice {
  const char* profile;
  double energy, time;
  std::array<double, 3> zeus;          // eta 0.2, 0.5, 0.8
  std::array<double, 3> max_slowdown;  // 1.1, 1.2, 1.5
};

void PrintTo(const ZeusChoice& choice, std::ostream* out) { *out << choice.profile; }

constexpr ZeusChoice kZeusChoices[] = {
    {"A40+resnet50+gpu0", 175, 300, {250, 200, 200}, {200, 175, 175}},
    {"A40+resnet18+gpu0", 175, 175, {175, 175, 175}, {175, 150, 150}},
    {"A40+resnet18+gpu0,1,2,3", 100, 275, {275, 300, 100}, {125, 100, 100}},
    {"A40+bert-base-uncased+gpu0", 200, 275, {275, 275, 200}, {250, 200, 175}},
    {"V100+resnet50+gpu0", 150, 250, {250, 175, 150}, {200, 175, 150}},
    {"V100+resnet50+gpu0,1", 125, 250, {250, 175, 150}, {175, 150, 125}},
    {"V100+resnet18+gpu0", 125, 250, {150, 150, 150}, {150, 125, 125}},
    {"V100+resnet18+gpu0,1", 100, 250, {100, 100, 100}, {100, 100, 100}},
    {"V100+shufflenetv2+gpu0", 100, 200, {200, 100, 100}, {125, 100, 100}},
};

class ZeusProfileTest : public testing::TestWithParam<ZeusChoice> {};

TEST_P(ZeusProfileTest, EverySelectorChoosesAsZeusDoes) {
  const ZeusChoice& expected = GetParam();
  const PowerCurve curve = ZeusCurve(std::string("profiles/") + expected.profile + ".csv");
  EXPECT_EQ(SelectLimit(curve, {SelectorKind::kEnergy, 0, 1}).limit.v, expected.energy);
  EXPECT_EQ(SelectLimit(curve, {SelectorKind::kTime, 0, 1}).limit.v, expected.time);
  constexpr std::array kEtas = {0.2, 0.5, 0.8};
  constexpr std::array kFactors = {1.1, 1.2, 1.5};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(SelectLimit(curve, {SelectorKind::kZeus, kEtas[i], 1}).limit.v, expected.zeus[i])
        << "eta " << kEtas[i];
    EXPECT_EQ(SelectLimit(curve, {SelectorKind::kMaxSlowdown, 0, kFactors[i]}).limit.v,
              expected.max_slowdown[i])
        << "factor " << kFactors[i];
  }
}

std::string NameOf(const testing::TestParamInfo<ZeusChoice>& choice) {
  std::string name = choice.param.profile;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(NineProfiles, ZeusProfileTest, testing::ValuesIn(kZeusChoices), NameOf);

// Zeus under torchrun takes MaxPower of one GPU while it sums the energy of all; MaxPower is the
// sum here, and with one GPU's the choice would be another.
TEST(CostTest, MaxPowerIsThatOfAllGpus) {
  const auto choose = [](PowerCurve curve, int gpus) {
    curve.gpus = gpus;
    return SelectLimit(curve, {SelectorKind::kZeus, 0.5, 1}).limit.v;
  };
  const PowerCurve a40 = ZeusCurve("profiles/A40+resnet18+gpu0,1,2,3.csv");
  EXPECT_EQ(choose(a40, 4), 300);
  EXPECT_EQ(choose(a40, 1), 100);
  const PowerCurve v100 = ZeusCurve("profiles/V100+resnet50+gpu0,1.csv");
  EXPECT_EQ(choose(v100, 2), 175);
  EXPECT_EQ(choose(v100, 1), 150);
}

}  // namespace
}  // namespace lowtide
