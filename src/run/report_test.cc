#include "run/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/quantity_text.h"
#include "run/report_test_data.h"

namespace lowtide {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(QuantityText, KeepsThreeDigits) {
  EXPECT_EQ(FormatSignificant(0), "0");
  EXPECT_EQ(FormatSignificant(0.0123456), "0.0123");
  EXPECT_EQ(FormatSignificant(1.234), "1.23");
  EXPECT_EQ(FormatSignificant(9.996), "10.0");
  EXPECT_EQ(FormatSignificant(99.95), "100");
  EXPECT_EQ(FormatSignificant(123.4), "123");
  EXPECT_EQ(FormatSignificant(12345), "12300");
  EXPECT_EQ(FormatSignificant(-4.5), "-4.50");
  EXPECT_EQ(FormatSignificant(0.87512, 4), "0.8751");
  EXPECT_EQ(FormatSignificant(std::nan("")), "nan");
  EXPECT_EQ(FormatSignificant(-HUGE_VAL), "-inf");
}

TEST(QuantityText, ChoosesTheUnitBySize) {
  EXPECT_EQ(FormatEnergy(Joules(0)), "0 J");
  EXPECT_EQ(FormatEnergy(Joules(1.234e-7)), "0.123 µJ");
  EXPECT_EQ(FormatEnergy(Joules(0.00045)), "450 µJ");
  EXPECT_EQ(FormatEnergy(Joules(0.0009996)), "1.00 mJ");
  EXPECT_EQ(FormatEnergy(Joules(0.25)), "250 mJ");
  EXPECT_EQ(FormatEnergy(Joules(0.9996)), "1.00 J");
  EXPECT_EQ(FormatEnergy(Joules(999)), "999 J");
  EXPECT_EQ(FormatEnergy(Joules(999.6)), "1.00 kJ");
  EXPECT_EQ(FormatEnergy(Joules(35999)), "36.0 kJ");
  EXPECT_EQ(FormatEnergy(Joules(36000)), "10.0 Wh");
  EXPECT_EQ(FormatEnergy(Joules(3.6e6)), "1.000 kWh");
  EXPECT_EQ(FormatCarbon(Grams(0)), "0 g");
  EXPECT_EQ(FormatCarbon(Grams(4.56e-6)), "4.56 µg");
  EXPECT_EQ(FormatCarbon(Grams(0.0009996)), "1.00 mg");
  EXPECT_EQ(FormatCarbon(Grams(0.0123)), "12.3 mg");
  EXPECT_EQ(FormatCarbon(Grams(0.9999)), "1.00 g");
  EXPECT_EQ(FormatCarbon(Grams(1234)), "1.23 kg");
  EXPECT_EQ(FormatCarbon(Grams(2.5e6)), "2.50 t");
  EXPECT_EQ(FormatShare(0.1234), "12.3 %");
  EXPECT_EQ(FormatDifference(110, 100), "+10.0 %");
  EXPECT_EQ(FormatDifference(99.99, 100), "+0.0 %");
  EXPECT_EQ(FormatDifference(1, 0), "");
}

// 3.6 MJ measured and 0.4 MJ modelled: 4 MJ; 1 MJ of it without, 2 MJ with estimated intensity.
RunData RoundRun() {
  RunData run;
  run.record.started_at = TimeOf("2026-11-30T12:00:00Z");
  run.record.grid_start = run.record.started_at;
  run.record.settings_json = R"({"pue":1.5})";
  run.record.zone = "DE";
  run.state = RunState::kFinished;
  run.end = RunEnd{TimeOf("2026-11-30T13:00:00Z"), 0};
  ComponentRecord gpu;
  gpu.kind = "gpu";
  gpu.name = "A40";
  gpu.status = Provenance::kMeasured;
  gpu.energy = Joules(3.6e6);
  ComponentRecord dram;
  dram.index = 1;
  dram.kind = "dram";
  dram.status = Provenance::kModelled;
  dram.energy = Joules(0.4e6);
  ComponentRecord other;
  other.index = 2;
  other.kind = "cpu";
  other.status = Provenance::kMeasured;
  other.energy = Joules(9e6);
  other.counted = false;
  run.components = {gpu, dram, other};
  run.intensity = {{TimeOf("2026-11-30T12:00:00Z"), TimeOf("2026-11-30T12:30:00Z"),
                    GramsPerKwh(300), "a", "average", "direct", "measured"},
                   {TimeOf("2026-11-30T12:30:00Z"), TimeOf("2026-11-30T12:45:00Z"),
                    GramsPerKwh(420), "b", "average", "direct", "estimated"}};
  run.totals.duration = Seconds(4000);
  run.totals.energy = Joules(4e6);
  run.totals.energy_known = true;
  run.totals.carbon = Grams(500);
  run.totals.energy_without_intensity = Joules(1e6);
  run.totals.energy_with_estimated_intensity = Joules(2e6);
  return run;
}

TEST(Report, DerivesEveryNumberFromTheRecords) {
  const Report report = BuildReport(RoundRun(), {});
  EXPECT_EQ(report.energy, Joules(4e6));
  EXPECT_EQ(report.pue, 1.5);
  EXPECT_EQ(report.facility_energy, Joules(6e6));
  EXPECT_EQ(report.carbon, Grams(500));
  EXPECT_EQ(report.carbon_missing_reason, "");
  // 500 g over 3 MJ x 1.5 = 1.25 kWh.
  ASSERT_TRUE(report.intensity.mean);
  EXPECT_DOUBLE_EQ(report.intensity.mean->v, 400);
  EXPECT_EQ(report.intensity.missing_share, 0.25);
  EXPECT_EQ(report.intensity.estimated_share, 0.5);
  EXPECT_EQ(report.intensity.lowest, GramsPerKwh(300));
  EXPECT_EQ(report.intensity.highest, GramsPerKwh(420));
  EXPECT_EQ(report.intensity.source, "a, b");
  EXPECT_EQ(report.intensity.signal, "average");
  EXPECT_EQ(report.intensity.kind, "measured, estimated");
  ASSERT_EQ(report.components.size(), 3U);
  EXPECT_EQ(report.components[0].mean_power, Watts(900));
  EXPECT_EQ(report.components[0].share, 0.9);
  EXPECT_EQ(report.components[2].share, std::nullopt);  // not counted
  ASSERT_EQ(report.shares.size(), 2U);
  EXPECT_EQ(report.shares[0].status, Provenance::kMeasured);
  EXPECT_EQ(report.shares[0].components, 1);
  EXPECT_EQ(report.shares[0].share, 0.9);
  EXPECT_EQ(report.shares[1].status, Provenance::kModelled);
  EXPECT_EQ(report.shares[1].share, 0.1);
  EXPECT_THAT(report.warnings,
              ElementsAre("25.0 % of the energy has no carbon intensity and is not in the carbon"));
}

TEST(Report, WithoutPueNothingIsMultiplied) {
  RunData run = RoundRun();
  run.record.settings_json = "{}";
  const Report report = BuildReport(std::move(run), {});
  EXPECT_EQ(report.pue, std::nullopt);
  EXPECT_EQ(report.facility_energy, std::nullopt);
  EXPECT_DOUBLE_EQ(report.intensity.mean->v, 600);
}

TEST(Report, DamagedSettingsAreNoSettings) {
  RunData run = RoundRun();
  run.record.settings_json = "{nonsense";
  EXPECT_EQ(BuildReport(std::move(run), {}).pue, std::nullopt);
}

TEST(Report, WithoutIntensityCarbonIsNullWithTheReason) {
  Report report = BuildReport(RunWithoutIntensity(), {});
  EXPECT_TRUE(report.energy);
  EXPECT_FALSE(report.carbon);
  EXPECT_THAT(report.carbon_missing_reason, HasSubstr("no carbon intensity was given"));
  EXPECT_FALSE(report.intensity.mean);
  EXPECT_EQ(report.intensity.missing_share, 1.0);
  RunData told = RunWithoutIntensity();
  told.record.settings_json = R"({"intensity_missing_reason":"trace x.csv ends in 2020"})";
  EXPECT_EQ(BuildReport(std::move(told), {}).carbon_missing_reason, "trace x.csv ends in 2020");
  RunData zoned = RunWithoutIntensity();
  zoned.record.zone = "DE";
  EXPECT_EQ(BuildReport(std::move(zoned), {}).carbon_missing_reason,
            "no carbon intensity was known for zone DE");
}

TEST(Report, WithoutEnergyEverythingThatDependsOnItIsNull) {
  const Report report = BuildReport(RunWithoutEnergy(), {});
  EXPECT_FALSE(report.energy);
  EXPECT_THAT(report.energy_missing_reason, HasSubstr("libnvidia-ml.so.1 was not found"));
  EXPECT_FALSE(report.carbon);
  EXPECT_THAT(report.carbon_missing_reason, HasSubstr("the energy is unknown"));
  EXPECT_FALSE(report.intensity.missing_share);
  ASSERT_EQ(report.shares.size(), 1U);
  EXPECT_EQ(report.shares[0].status, Provenance::kMissing);
  EXPECT_FALSE(report.shares[0].energy);
  ASSERT_EQ(report.epochs.size(), 1U);
  EXPECT_FALSE(report.epochs[0].energy);
  EXPECT_FALSE(report.epochs[0].mean_power);
  ASSERT_EQ(report.warnings.size(), 2U);
  EXPECT_THAT(report.warnings[0], HasSubstr("lowtide itself ended"));
  EXPECT_THAT(report.warnings[1], HasSubstr("GPU: energy missing"));
}

TEST(Report, EpochLinesDivideByTheirOwnTimeAndKnownEnergy) {
  EpochRecord epoch;
  epoch.duration = Seconds(10);
  epoch.energy = Joules(2000);
  epoch.energy_without_intensity = Joules(500);
  epoch.carbon = Grams(0.25);
  TotalsRecord totals;
  totals.energy_known = true;
  const EpochLine line = MakeEpochLine(epoch, totals, 2.0);
  EXPECT_EQ(line.energy, Joules(2000));
  EXPECT_EQ(line.mean_power, Watts(200));
  // 0.25 g over 1500 J x 2.
  EXPECT_DOUBLE_EQ(line.intensity->v, 300);
  epoch.duration = Seconds(0);
  epoch.carbon.reset();
  const EpochLine poor = MakeEpochLine(epoch, totals, 1.0);
  EXPECT_FALSE(poor.mean_power);
  EXPECT_FALSE(poor.intensity);
}

}  // namespace
}  // namespace lowtide
