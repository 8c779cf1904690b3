// Recorded answers that may not be passed on: read from fixtures/ of the folder in
// LOWTIDE_TEST_DATA, skipped without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/csv.h"
#include "base/file.h"
#include "grid/providers/carbon_aware_sdk_payload.h"
#include "grid/providers/eia_payload.h"
#include "grid/providers/electricity_maps_payload.h"
#include "grid/providers/energy_charts_payload.h"
#include "grid/providers/entsoe_payload.h"
#include "grid/providers/provider_test_support.h"
#include "grid/providers/uk_carbon_intensity_payload.h"
#include "grid/providers/watttime_payload.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class RecordedPayloadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("LOWTIDE_TEST_DATA");
    if (folder == nullptr) GTEST_SKIP() << "LOWTIDE_TEST_DATA is not set";
    folder_ = std::string(folder) + "/fixtures/";
  }
  std::string Read(const std::string& name) const {
    auto text = ReadFile(folder_ + name);
    EXPECT_TRUE(text) << text.error().message;
    return text.value_or("");
  }

 private:
  std::string folder_;
};

std::int64_t Estimated(const Payload& payload) {
  return std::ranges::count_if(payload.slots,
                               [](const ProviderSlot& slot) { return slot.estimated; });
}

TEST_F(RecordedPayloadsTest, ElectricityMapsV4) {
  const auto latest =
      ParseElectricityMaps(Read("electricitymaps/v4/carbon-intensity_latest_DK-DK2.json"));
  ASSERT_TRUE(latest) << latest.error().message;
  EXPECT_EQ(latest->zone, "DK-DK2");
  EXPECT_EQ(latest->slots[0].value, GramsPerKwh(75));
  EXPECT_TRUE(latest->slots[0].estimated);
  const auto history =
      ParseElectricityMaps(Read("electricitymaps/v4/carbon-intensity_history_DK-DK2.json"));
  ASSERT_TRUE(history);
  EXPECT_EQ(history->slots.size(), 24U);
  EXPECT_EQ(Estimated(*history), 2);
  const auto forecast =
      ParseElectricityMaps(Read("electricitymaps/v4/carbon-intensity_forecast_DK-DK2.json"));
  ASSERT_TRUE(forecast);
  EXPECT_EQ(forecast->slots.size(), 25U);
  EXPECT_EQ(forecast->slots[0].value, GramsPerKwh(77));
  EXPECT_EQ(forecast->issued_at, At("2026-08-22T17:34:24.392Z"));
}

TEST_F(RecordedPayloadsTest, ElectricityMapsV3) {
  const auto latest = ParseElectricityMaps(Read("electricitymaps/v3/latest_carbon_intensity.json"));
  ASSERT_TRUE(latest);
  EXPECT_EQ(latest->zone, "US-CAR-DUK");
  EXPECT_EQ(latest->slots[0].value, GramsPerKwh(216));
  const auto history =
      ParseElectricityMaps(Read("electricitymaps/v3/carbon_intensity_history.json"));
  ASSERT_TRUE(history);
  EXPECT_EQ(history->slots.size(), 24U);
  const auto null =
      ParseElectricityMaps(Read("electricitymaps/v3/history_null_casdk-testdata.json"));
  ASSERT_TRUE(null);
  EXPECT_TRUE(null->slots.empty());
  EXPECT_EQ(null->missing, 1);
}

TEST_F(RecordedPayloadsTest, ElectricityMapsErrorsAndOldBodies) {
  EXPECT_EQ(ErrorText(Read("electricitymaps/errors/401_invalid_token.json")), "Invalid auth-token");
  EXPECT_THAT(ErrorText(Read("electricitymaps/errors/401_not_in_plan.json")),
              HasSubstr("Request unauthorized"));
  EXPECT_THAT(ErrorText(Read("electricitymaps/errors/404_no_route.json")),
              HasSubstr("no Route matched"));
  EXPECT_EQ(ParseElectricityMaps(Read("electricitymaps/co2signal/no-data.json")).error().code,
            Code::kNotFound);
}

TEST_F(RecordedPayloadsTest, TheTableKnowsTheProvidersZones) {
  const Json zones = *ParsePayloadJson(Read("electricitymaps/v3/zones.json"), "zones");
  for (const auto& [key, value] : zones.items()) {
    if (key == "XX" || key == "HM" || key == "NKR") continue;  // no place, nobody, no more
    if (TestZones().Find(key) != nullptr) continue;
    const auto zone = TestZones().Resolve(key);
    ASSERT_FALSE(zone) << key;
    // Retired since, divided, or too small to have a series.
    EXPECT_THAT(zone.error().message, ::testing::AnyOf(HasSubstr("use "), HasSubstr("retired"),
                                                       HasSubstr("divided"), HasSubstr("US-HI-")))
        << key;
  }
}

TEST_F(RecordedPayloadsTest, CloudRegionsAgreeWithTheCompiledTable) {
  const auto table = ParseCsv(Read("../regions/region-zones.csv"), "region-zones.csv");
  ASSERT_TRUE(table);
  int compared = 0;
  for (const CsvRow& row : table->rows) {
    const CloudRegion* region = TestZones().FindRegion(row.fields[0], row.fields[1]);
    if (region == nullptr || row.fields[5].empty()) continue;
    EXPECT_EQ(region->zone.key, row.fields[5]) << row.fields[0] << ":" << row.fields[1];
    ++compared;
  }
  EXPECT_GT(compared, 150);
}

TEST_F(RecordedPayloadsTest, WattTime) {
  const auto forecast = ParseWattTime(Read("watttime/openapi_V3SingleForecastResponse.json"));
  ASSERT_TRUE(forecast) << forecast.error().message;
  EXPECT_EQ(forecast->series.slots.size(), 288U);
  EXPECT_NEAR(forecast->series.slots[0].value.v, 394.6, 0.05);
  EXPECT_EQ(forecast->series.issued_at, At("2022-07-15T00:00Z"));
  const auto history = ParseWattTime(Read("watttime/openapi_V3Response.json"));
  ASSERT_TRUE(history) << history.error().message;
  EXPECT_FALSE(history->series.slots.empty());
  const auto other = ParseWattTime(Read("watttime/historical_emissions_response.json"));
  ASSERT_TRUE(other) << other.error().message;
  const auto past =
      ParseWattTimePastForecasts(Read("watttime/openapi_V3ExtendedForecastResponse_trimmed.json"));
  ASSERT_TRUE(past) << past.error().message;
  ASSERT_EQ(past->size(), 1U);
  EXPECT_EQ((*past)[0].series.slots.size(), 12U);
  EXPECT_EQ(ParseWattTime(Read("watttime/realtime_emissions_response.json")).error().code,
            Code::kDataLoss);  // a percentile
  EXPECT_TRUE(ParseWattTimeToken(Read("watttime/openapi_LoginResponse.json")));
  EXPECT_TRUE(ParseWattTimeRegion(Read("watttime/grid_region_response.json")));
  EXPECT_TRUE(IsWattTimeScopeError(Read("watttime/invalid_scope_response.json")));
  EXPECT_FALSE(IsWattTimeScopeError(Read("watttime/403_forbidden_response.html")));
}

TEST_F(RecordedPayloadsTest, UkCarbonIntensity) {
  const auto national =
      ParseUkCarbonIntensity(Read("uk/intensity_fw48h_national.json"), UkValues::kActual);
  ASSERT_TRUE(national) << national.error().message;
  EXPECT_EQ(national->slots.size(), 96U);
  EXPECT_EQ(Estimated(*national), 95);
  EXPECT_EQ(national->slots[0].value, GramsPerKwh(206));
  for (const char* name :
       {"uk/regional_fw48h_regionid13_trimmed12.json",
        "uk/docs_regional_intensity_from_fw48h_regionid_regionid_comma-fixed.json",
        "uk/docs_regional_regionid_regionid_comma-fixed.json"}) {
    const auto regional = ParseUkCarbonIntensity(Read(name), UkValues::kForecast);
    ASSERT_TRUE(regional) << name << regional.error().message;
    EXPECT_FALSE(regional->slots.empty()) << name;
  }
  for (const char* name : {"uk/nodata_national.json", "uk/nodata_regional.json"}) {
    const auto nothing = ParseUkCarbonIntensity(Read(name), UkValues::kActual);
    ASSERT_TRUE(nothing) << name;
    EXPECT_TRUE(nothing->slots.empty());
  }
  EXPECT_THAT(ErrorText(Read("uk/error_500_live.json")), HasSubstr("Requested resource not found"));
}

TEST_F(RecordedPayloadsTest, EnergyCharts) {
  const std::vector<std::pair<std::string, std::chrono::milliseconds>> files = {
      {"de", 15min}, {"at", 15min}, {"fr", 60min}, {"ch", 60min}};
  for (const auto& [country, step] : files) {
    const auto out = ParseEnergyCharts(Read("energy-charts/co2eq_" + country + ".json"),
                                       EnergyChartsValues::kActual);
    ASSERT_TRUE(out) << country << out.error().message;
    EXPECT_EQ(out->slots[0].to - out->slots[0].from, step) << country;
    EXPECT_GT(Estimated(*out), 0) << country;
    EXPECT_LT(Estimated(*out), static_cast<std::int64_t>(out->slots.size())) << country;
  }
}

TEST_F(RecordedPayloadsTest, EntsoeSparseCurves) {
  const auto fake = ParseEntsoe(Read("entsoe/fake_time_series.xml"));
  ASSERT_TRUE(fake) << fake.error().message;
  ASSERT_EQ(fake->rows.size(), 71U);
  // As worked out by hand in the notes on that file.
  EXPECT_EQ(fake->rows[4].amount, 0.4);
  EXPECT_EQ(fake->rows[7].amount, 0.4);
  EXPECT_EQ(fake->rows[8].amount, 0.4);
  EXPECT_EQ(fake->rows[11].amount, 0.2);
  const auto finland = ParseEntsoe(Read("entsoe/FI_production_A03_trimmed_B04_B06_B15.xml"));
  ASSERT_TRUE(finland) << finland.error().message;
  EXPECT_EQ(std::ranges::count(finland->rows, "B15", &Generation::code), 288);
}

TEST_F(RecordedPayloadsTest, EntsoeNegativesAndOtherDocuments) {
  const auto norway = ParseEntsoe(Read("entsoe/NO-NO5_production-negatives.xml"));
  ASSERT_TRUE(norway) << norway.error().message;
  EXPECT_EQ(norway->zone, TestZones().ProviderName("entsoe", Zone{"NO-NO5"}));
  const Payload mix = IntensityFromMix(norway->rows, TestFactors(), Basis::kLifecycle);
  ASSERT_FALSE(mix.slots.empty());
  for (const ProviderSlot& slot : mix.slots) {
    EXPECT_GE(slot.value.v, 11) << FormatTime(slot.from);  // negative amounts pull nothing down
    EXPECT_LE(slot.value.v, 820);
  }
  EXPECT_EQ(ParseEntsoe(Read("entsoe/acknowledgement_999_nodata.xml")).error().code,
            Code::kNotFound);
  EXPECT_EQ(ParseEntsoe(Read("entsoe/FR_prices.xml")).error().code, Code::kDataLoss);
  EXPECT_EQ(ParseEntsoe(Read("entsoe/DK-DK1_consumption.xml")).error().code, Code::kDataLoss);
}

TEST_F(RecordedPayloadsTest, Eia) {
  const auto nulls = ParseEia(Read("eia/US-NW-PGE-with-nulls.json"));
  ASSERT_TRUE(nulls) << nulls.error().message;
  EXPECT_EQ(nulls->total, 3);
  ASSERT_EQ(nulls->rows.size(), 2U);
  EXPECT_FALSE(nulls->rows[0].amount);
  EXPECT_EQ(nulls->rows[1].from, At("2022-10-31T11:00Z"));
  const auto wind = ParseEia(Read("eia/US_NW_BPAT-wind.json"));
  ASSERT_TRUE(wind) << wind.error().message;
  EXPECT_EQ(wind->rows[0].fuel, "wind");
  EXPECT_EQ(ParseEia(Read("eia/errors_403_missing.json")).error().code, Code::kPermissionDenied);
}

TEST_F(RecordedPayloadsTest, CarbonAwareSdk) {
  const auto emissions =
      ParseSdkEmissions(Read("carbon-aware-sdk/webapi_emissions_bylocation.json"));
  ASSERT_TRUE(emissions) << emissions.error().message;
  EXPECT_EQ(emissions->slots[0].to - emissions->slots[0].from, 8h);
  const auto forecast = ParseSdkForecast(Read("carbon-aware-sdk/webapi_forecasts_current.json"));
  ASSERT_TRUE(forecast) << forecast.error().message;
  EXPECT_EQ(forecast->zone, "northeurope");
  EXPECT_EQ(forecast->notes.size(), 1U);  // means over 10 minutes
}

}  // namespace
}  // namespace lowtide
