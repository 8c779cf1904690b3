#include "run/counterfactuals.h"

#include <gtest/gtest.h>

#include "run/report_test_data.h"

namespace lowtide {
namespace {

// One GPU that runs 10 steps/s at 200 W of draw at its limit of 300 W, and 8 steps/s at 120 W at
// 200 W; 800 steps in one epoch at 200 W: 100 s and 12 kJ of steps. Beside them 20 s at 50 W, and
// 10 W of CPU throughout.
RunData OneEpoch() {
  RunData run;
  run.record.started_at = TimeOf("2026-11-30T12:00:00Z");
  run.record.grid_start = run.record.started_at;
  run.record.settings_json = R"({"pue":2})";
  run.curve = {{300, 10, 200}, {200, 8, 120}};
  EpochRecord epoch;
  epoch.index = 1;
  epoch.started_at = run.record.started_at;
  epoch.ended_at = epoch.started_at + std::chrono::seconds(110);
  epoch.duration = Seconds(110);
  epoch.steps = 800;
  epoch.power_limit = Watts(200);
  run.epochs = {epoch};
  ComponentRecord gpu;
  gpu.kind = "gpu";
  gpu.status = Provenance::kMeasured;
  gpu.energy = Joules(13000);
  ComponentRecord cpu;
  cpu.index = 1;
  cpu.kind = "cpu";
  cpu.status = Provenance::kMeasured;
  cpu.energy = Joules(1200);
  run.components = {gpu, cpu};
  run.totals.duration = Seconds(120);
  run.totals.energy = Joules(14200);
  run.totals.energy_known = true;
  run.intensity = {{run.record.started_at, run.record.started_at + std::chrono::seconds(50),
                    GramsPerKwh(100), "x", "average", "direct", "measured"},
                   {run.record.started_at + std::chrono::seconds(50),
                    run.record.started_at + std::chrono::seconds(200), GramsPerKwh(300), "x",
                    "average", "direct", "measured"}};
  return run;
}

TEST(Counterfactuals, ExchangeOnlyWhatTheCurvePredicts) {
  const auto lines = RunCounterfactuals(OneEpoch());
  ASSERT_EQ(lines.size(), 2U);
  // Full power: 80 s for the steps instead of 100 s; 16 kJ instead of 12; the rest stays.
  EXPECT_EQ(lines[0].name, "full_power");
  EXPECT_EQ(lines[0].power_limit, Watts(300));
  EXPECT_NEAR(lines[0].duration.count(), 100, 1e-9);
  EXPECT_NEAR(lines[0].energy.v, 13000 - 12000 + 16000 + 1200 * 100 / 120.0, 1e-9);
  // 50 s at 100 and 50 s at 300 g/kWh: 200 in the mean; PUE 2.
  ASSERT_TRUE(lines[0].carbon);
  EXPECT_NEAR(lines[0].carbon->v, 18000 / 3.6e6 * 200 * 2, 1e-9);
  // The run itself was the best constant limit.
  EXPECT_EQ(lines[1].name, "best_constant_limit");
  EXPECT_EQ(lines[1].power_limit, Watts(200));
  EXPECT_NEAR(lines[1].duration.count(), 120, 1e-9);
  EXPECT_NEAR(lines[1].energy.v, 14200, 1e-9);
}

TEST(Counterfactuals, TheBestConstantLimitIsNoSlowerThanTheRun) {
  RunData run = OneEpoch();
  run.epochs[0].power_limit = Watts(300);
  run.totals.duration = Seconds(100);
  const auto lines = RunCounterfactuals(run);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].power_limit, Watts(300));
}

TEST(Counterfactuals, LimitsComeFromTheSamplesWhereThereAreSome) {
  RunData run = OneEpoch();
  // Half the time at each limit: 9 steps/s and 160 W, so 88.9 s and 14222 J were expected.
  const std::int64_t start = UnixMillis(run.record.started_at) / 1000;
  for (int s = 0; s < 110; ++s) {
    run.samples.push_back({0, start + s, 1, 118, s < 55 ? 300.0 : 200.0});
  }
  run.components[0].energy = Joules(15000);
  run.totals.energy = Joules(16200);
  const auto lines = RunCounterfactuals(run);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NEAR(lines[0].duration.count(), 120 - 800 / 9.0 + 80, 1e-9);
  EXPECT_NEAR(lines[0].energy.v,
              15000 - 160 * 800 / 9.0 + 16000 + 1200 * lines[0].duration.count() / 120, 1e-6);
}

TEST(Counterfactuals, ARunThriftierThanItsCurveIsScaled) {
  RunData run = OneEpoch();
  run.components[0].energy = Joules(6000);  // half of what the curve expects
  run.totals.energy = Joules(7200);
  const auto lines = RunCounterfactuals(run);
  EXPECT_NEAR(lines[0].energy.v, 8000 + 1000, 1e-9);
}

TEST(Counterfactuals, CarbonIsUnknownWhereTheIntensityIs) {
  RunData run = OneEpoch();
  run.intensity.pop_back();
  for (const auto& line : RunCounterfactuals(run)) EXPECT_FALSE(line.carbon);
  run.intensity.clear();
  const auto lines = RunCounterfactuals(run);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].power_limit, Watts(200));  // least energy then
}

TEST(Counterfactuals, GridTimeIsScaled) {
  RunData run = OneEpoch();
  run.record.time_scale = 60;
  run.record.grid_start = TimeOf("2021-07-01T00:00:00Z");
  run.intensity = {{run.record.grid_start, run.record.grid_start + std::chrono::minutes(100),
                    GramsPerKwh(100), "x", "average", "direct", "measured"},
                   {run.record.grid_start + std::chrono::minutes(100),
                    run.record.grid_start + std::chrono::minutes(120), GramsPerKwh(700), "x",
                    "average", "direct", "measured"}};
  const auto lines = RunCounterfactuals(run);
  ASSERT_EQ(lines.size(), 2U);
  // Full power ends as the intensity rises; the slower one reaches into it.
  EXPECT_NEAR(lines[0].carbon->v, 18000 / 3.6e6 * 100 * 2, 1e-9);
  EXPECT_EQ(lines[1].power_limit, Watts(300));
}

TEST(Counterfactuals, EmptyWithoutCurveStepsEnergyOrSense) {
  RunData run = OneEpoch();
  run.curve.clear();
  EXPECT_TRUE(RunCounterfactuals(run).empty());
  run = OneEpoch();
  run.epochs[0].steps = 0;
  EXPECT_TRUE(RunCounterfactuals(run).empty());
  run = OneEpoch();
  run.totals.energy_known = false;
  EXPECT_TRUE(RunCounterfactuals(run).empty());
  run = OneEpoch();
  run.components[0].energy.reset();
  EXPECT_TRUE(RunCounterfactuals(run).empty());
  run = OneEpoch();
  run.curve[0].throughput_per_s = 0;
  EXPECT_TRUE(RunCounterfactuals(run).empty());
}

}  // namespace
}  // namespace lowtide
