#include "plan/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <ostream>

#include "plan/zeus_data_for_tests.h"

namespace lowtide {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Policy Chase(double eta, Hysteresis hysteresis = {}) {
  Policy policy;
  policy.kind = PolicyKind::kChase;
  policy.weights = {eta, GramsPerKwh(750)};
  policy.hysteresis = hysteresis;
  return policy;
}

Policy Zeus(Selector selector) {
  Policy policy;
  policy.kind = PolicyKind::kZeus;
  policy.selector = selector;
  return policy;
}

Situation At(const PowerCurve& curve, double forecast_g_per_kwh) {
  Situation situation;
  situation.curve = &curve;
  situation.forecast = GramsPerKwh(forecast_g_per_kwh);
  return situation;
}

// Where a first decision turns from one limit to the next as the intensity rises.
struct Switch {
  double limit_w;
  double from_g_per_kwh;
};

std::vector<Switch> SwitchesUpTo(const Policy& policy, const PowerCurve& curve, double highest) {
  const auto limit_at = [&](double g) { return Decide(policy, At(curve, g)).limit->v; };
  std::vector<Switch> switches = {{limit_at(0), 0}};
  while (limit_at(highest) != switches.back().limit_w) {
    double low = switches.back().from_g_per_kwh;
    double high = highest;
    while (high - low > 1e-6) {
      const double middle = (low + high) / 2;
      (limit_at(middle) == switches.back().limit_w ? low : high) = middle;
    }
    switches.push_back({limit_at(high), high});
  }
  return switches;
}

struct ChaseCase {
  int batch_size;
  double eta;
  std::vector<Switch> switches;
};

void PrintTo(const ChaseCase& c, std::ostream* out) {
  *out << "batch " << c.batch_size << ", eta " << c.eta;
}

class ChaseSwitchTest : public testing::TestWithParam<ChaseCase> {};

TEST_P(ChaseSwitchTest, LimitsChangeAtThePublishedIntensities) {
  const ChaseCase& expected = GetParam();
  const auto found = SwitchesUpTo(Chase(expected.eta), A40Resnet50(expected.batch_size), 750);
  ASSERT_EQ(found.size(), expected.switches.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].limit_w, expected.switches[i].limit_w);
    // Published is the first tenth of a gram at which the limit is chosen.
    EXPECT_EQ(std::ceil(found[i].from_g_per_kwh * 10) / 10, expected.switches[i].from_g_per_kwh);
  }
}

// MaxPower 300 W, MaxCarbonIntensity 750 g/kWh, limits 25 W apart.
INSTANTIATE_TEST_SUITE_P(
    A40Resnet50, ChaseSwitchTest,
    testing::Values(ChaseCase{128, 0.24, {{300, 0}, {250, 507.4}, {225, 736.6}}},
                    ChaseCase{128, 0.5, {{300, 0}, {250, 160.3}, {225, 232.6}, {200, 577.0}}},
                    ChaseCase{256, 0.24, {{300, 0}, {250, 165.4}, {225, 514.0}}},
                    ChaseCase{256, 0.5, {{300, 0}, {250, 52.3}, {225, 162.3}}}));

TEST(DecideTest, TheReasonNamesTheNumbers) {
  const PowerCurve curve = A40Resnet50(128);
  const Decision decision = Decide(Chase(0.24), At(curve, 600));
  EXPECT_EQ(decision.outcome, Outcome::kChanged);
  EXPECT_THAT(decision.reason, AllOf(HasSubstr("250 W"), HasSubstr("600.0 g/kWh"),
                                     HasSubstr("eta 0.24"), HasSubstr("750 g/kWh x 300 W")));
}

TEST(DecideTest, TheFirstDecisionHasNoHysteresis) {
  const PowerCurve curve = A40Resnet50(128);
  const Policy policy = Chase(0.24, {Seconds(1e6), 0.99});
  EXPECT_EQ(Decide(policy, At(curve, 600)).limit, Watts(250));
}

TEST(DecideTest, ALimitStaysForTheMinimumDwell) {
  const PowerCurve curve = A40Resnet50(128);
  const Policy policy = Chase(0.24, {Seconds(600), 0});
  Situation situation = At(curve, 600);
  situation.current = Watts(300);
  situation.since_change = Seconds(599);
  Decision decision = Decide(policy, situation);
  EXPECT_EQ(decision.outcome, Outcome::kHeld);
  EXPECT_EQ(decision.limit, Watts(300));
  EXPECT_THAT(decision.reason, AllOf(HasSubstr("kept 300 W"), HasSubstr("minimum dwell")));
  situation.since_change = Seconds(600);
  decision = Decide(policy, situation);
  EXPECT_EQ(decision.outcome, Outcome::kChanged);
  EXPECT_EQ(decision.limit, Watts(250));
}

TEST(DecideTest, AChangeMustGainTheMinimum) {
  const PowerCurve curve = A40Resnet50(128);
  Situation situation = At(curve, 508);  // just above the switch at 507.4
  situation.current = Watts(300);
  situation.since_change = Seconds(1e6);
  const Decision held = Decide(Chase(0.24, {Seconds(0), 0.001}), situation);
  EXPECT_EQ(held.outcome, Outcome::kHeld);
  EXPECT_THAT(held.reason, AllOf(HasSubstr("kept 300 W"), HasSubstr("below the minimum of 0.1 %")));
  EXPECT_EQ(Decide(Chase(0.24, {Seconds(0), 0}), situation).limit, Watts(250));
  situation.forecast = GramsPerKwh(700);
  EXPECT_EQ(Decide(Chase(0.24, {Seconds(0), 0.001}), situation).limit, Watts(250));
}

TEST(DecideTest, TheBestLimitInForceIsHeld) {
  const PowerCurve curve = A40Resnet50(128);
  Situation situation = At(curve, 600);
  situation.current = Watts(250.3);  // as a driver may round it
  EXPECT_EQ(Decide(Chase(0.24), situation).outcome, Outcome::kHeld);
}

TEST(DecideTest, ACurrentLimitBetweenThePointsIsInterpolated) {
  const PowerCurve curve = A40Resnet50(128);
  Situation situation = At(curve, 600);
  situation.current = Watts(110);
  situation.since_change = Seconds(1e6);
  EXPECT_EQ(Decide(Chase(0.24), situation).limit, Watts(250));
}

TEST(DecideTest, WithoutAForecastChaseKeepsTheLimit) {
  const PowerCurve curve = A40Resnet50(128);
  Situation situation;
  situation.curve = &curve;
  situation.current = Watts(225);
  situation.since_change = Seconds(1e6);
  const Decision decision = Decide(Chase(0.24), situation);
  EXPECT_EQ(decision.outcome, Outcome::kHeld);
  EXPECT_EQ(decision.limit, Watts(225));
  EXPECT_THAT(decision.reason, HasSubstr("no intensity forecast: kept 225 W"));
}

TEST(DecideTest, WithoutAForecastChaseBeginsAsZeus) {
  const PowerCurve curve = A40Resnet50(128);
  Situation situation;
  situation.curve = &curve;
  for (const double eta : {0.1, 0.5, 0.9}) {
    const Decision chase = Decide(Chase(eta), situation);
    EXPECT_EQ(chase.outcome, Outcome::kChanged);
    EXPECT_EQ(chase.limit, Decide(Zeus({SelectorKind::kZeus, eta, 1}), situation).limit);
    EXPECT_THAT(chase.reason, HasSubstr("no intensity forecast: as policy zeus"));
  }
}

TEST(DecideTest, ZeroAndNegativeIntensitiesHaveADefinedAnswer) {
  const PowerCurve curve = A40Resnet50(128);
  EXPECT_EQ(Decide(Chase(0.24), At(curve, 0)).limit, Watts(300));
  EXPECT_EQ(Decide(Chase(0.24), At(curve, -50)).limit, Watts(300));
  Situation situation = At(curve, 0);
  situation.current = Watts(200);
  situation.since_change = Seconds(1e6);
  // At eta 1 and no carbon every limit costs nothing: no gain, no change.
  EXPECT_EQ(Decide(Chase(1), situation).outcome, Outcome::kHeld);
}

TEST(DecideTest, ZeusIgnoresTheIntensity) {
  const PowerCurve curve = A40Resnet50(128);
  const Policy policy = Zeus({SelectorKind::kEnergy, 0.5, 1});
  const Decision decision = Decide(policy, At(curve, 20));
  EXPECT_EQ(decision.limit, Decide(policy, At(curve, 700)).limit);
  EXPECT_THAT(decision.reason,
              AllOf(HasSubstr("energy chooses"), HasSubstr("% time against 300 W")));
}

TEST(DecideTest, MaxSlowdownIsABoundAndNotAGain) {
  const PowerCurve curve = A40Resnet50(128);
  Situation situation = At(curve, 20);
  situation.current = Watts(300);
  situation.since_change = Seconds(1e6);
  Policy policy = Zeus({SelectorKind::kMaxSlowdown, 0.5, 1.1});
  policy.hysteresis = {Seconds(0), 0.99};
  EXPECT_EQ(Decide(policy, situation).outcome, Outcome::kChanged);
}

TEST(DecideTest, WithoutACurveTheLimitIsLeftAlone) {
  for (const Policy& policy : {Chase(0.24), Zeus({})}) {
    const Decision decision = Decide(policy, {});
    EXPECT_EQ(decision.outcome, Outcome::kNoLimit);
    EXPECT_FALSE(decision.limit);
    EXPECT_THAT(decision.reason, HasSubstr("no power curve"));
  }
}

TEST(DecideTest, NoneSetsNothingAndFixedOneLimit) {
  EXPECT_EQ(Decide(Policy{}, {}).outcome, Outcome::kNoLimit);
  const Policy fixed = ParsePolicy("fixed:220").value();
  EXPECT_EQ(Decide(fixed, {}).outcome, Outcome::kChanged);
  EXPECT_EQ(Decide(fixed, {}).limit, Watts(220));
  Situation situation;
  situation.current = Watts(220);
  EXPECT_EQ(Decide(fixed, situation).outcome, Outcome::kHeld);
}

TEST(ParsePolicyTest, ReadsTheFourPolicies) {
  EXPECT_EQ(ParsePolicy("none")->kind, PolicyKind::kNone);
  EXPECT_EQ(ParsePolicy("fixed:187.5")->fixed_limit, Watts(187.5));
  PolicyOptions options;
  options.eta = 0.3;
  options.selector = "max-slowdown:1.05";
  options.max_intensity = GramsPerKwh(600);
  const auto zeus = ParsePolicy("zeus", options);
  ASSERT_TRUE(zeus);
  EXPECT_EQ(zeus->selector.kind, SelectorKind::kMaxSlowdown);
  EXPECT_EQ(zeus->selector.max_slowdown, 1.05);
  const auto chase = ParsePolicy("chase", options);
  ASSERT_TRUE(chase);
  EXPECT_EQ(chase->weights.eta, 0.3);
  EXPECT_EQ(chase->weights.max_intensity, GramsPerKwh(600));
  for (const std::string_view name : {"none", "fixed:200", "zeus", "chase"}) {
    EXPECT_EQ(PolicyName(ParsePolicy(name).value()), name);
  }
}

TEST(ParsePolicyTest, EachPolicyHasItsAuthorsEta) {
  EXPECT_EQ(ParsePolicy("zeus")->selector.eta, 0.5);
  EXPECT_EQ(ParsePolicy("chase")->weights.eta, 0.24);
}

TEST(ParsePolicyTest, ErrorsNameTheValueAndWhatIsAllowed) {
  const auto error = [](std::string_view text, const PolicyOptions& options = {}) {
    const auto policy = ParsePolicy(text, options);
    return policy ? std::string("no error") : policy.error().message;
  };
  EXPECT_THAT(error("optimus"),
              AllOf(HasSubstr("'optimus'"), HasSubstr("fixed:WATTS, zeus and chase")));
  EXPECT_THAT(error(""), HasSubstr("''"));
  for (const std::string_view text : {"fixed:", "fixed:0", "fixed:-5", "fixed:nan", "fixed:200W"}) {
    EXPECT_THAT(error(text), HasSubstr("expected fixed:WATTS")) << text;
  }
  PolicyOptions options;
  options.eta = 1.5;
  EXPECT_THAT(error("chase", options), HasSubstr("eta is 1.5; allowed is 0 to 1"));
  EXPECT_THAT(error("zeus", options), HasSubstr("eta is 1.5"));
  EXPECT_EQ(error("none", options), "no error") << "not used by this policy";
  options.eta = std::nan("");
  EXPECT_THAT(error("chase", options), HasSubstr("allowed is 0 to 1"));
  options = {};
  options.max_intensity = GramsPerKwh(0);
  EXPECT_THAT(error("chase", options), HasSubstr("maximum carbon intensity is 0"));
  options = {};
  options.hysteresis = Hysteresis{Seconds(-1), 0};
  EXPECT_THAT(error("chase", options), HasSubstr("minimum dwell is -1"));
  options.hysteresis = Hysteresis{Seconds(0), 1};
  EXPECT_THAT(error("zeus", options), HasSubstr("minimum gain is 1"));
}

TEST(ParseSelectorTest, ReadsZeussFourSelectors) {
  EXPECT_EQ(ParseSelector("energy", 0.5)->kind, SelectorKind::kEnergy);
  EXPECT_EQ(ParseSelector("time", 0.5)->kind, SelectorKind::kTime);
  EXPECT_EQ(ParseSelector("zeus", 0.3)->eta, 0.3);
  EXPECT_EQ(ParseSelector("zeus:0.7", 0.3)->eta, 0.7);
  EXPECT_EQ(ParseSelector("max-slowdown:1.2", 0.3)->max_slowdown, 1.2);
  for (const std::string_view text : {"", "zeus:", "zeus:2", "max-slowdown", "max-slowdown:0.9",
                                      "max-slowdown:inf", "energy:1", "time:", "cost"}) {
    EXPECT_FALSE(ParseSelector(text, 0.5)) << text;
  }
}

}  // namespace
}  // namespace lowtide
