// Faults that users of other tools on these services have reported, one test for each class, named
// after the first report. (W: which window, M: missing values, T: time, N: numbers, L: location,
// A: access, C: configuration, Q: quota, S: staleness, P: provenance.)
#include <clocale>

#include "grid/providers/carbon_aware_sdk_payload.h"
#include "grid/providers/electricity_maps_payload.h"
#include "grid/providers/energy_charts_payload.h"
#include "grid/providers/entsoe_payload.h"
#include "grid/providers/provider_test_support.h"
#include "grid/providers/uk_carbon_intensity_payload.h"
#include "grid/providers/watttime_payload.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;

const TimePoint kNow = At("2026-05-04T10:20Z");

std::string Maps(std::string_view rows) {
  return fmt::format(R"({{"zone":"NL","history":[{}]}})", rows);
}

std::string Moer(std::string_view points) {
  return fmt::format(R"({{"data":[{}],"meta":{{"data_point_period_seconds":300,)"
                     R"("region":"CAISO_NORTH","signal_type":"co2_moer",)"
                     R"("units":"lbs_co2_per_mwh"}}}})",
                     points);
}

// --- M: missing as number ---

TEST(BugClass, M_CarbonAwareSdk571_NullBecameMinusOne) {
  const auto out = ParseElectricityMaps(
      Maps(R"({"datetime":"2099-01-01T00:00:00+00:00","carbonIntensity":null,"isEstimated":false},)"
           R"({"datetime":"2099-01-01T01:00:00+00:00","carbonIntensity":5})"));
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->slots.size(), 1U);
  EXPECT_EQ(out->missing, 1);
  const auto sdk = ParseSdkEmissions(
      R"([{"location":"NL","time":"2026-05-04T10:00:00+00:00","rating":-1,"duration":"01:00:00"}])");
  ASSERT_TRUE(sdk);
  EXPECT_TRUE(sdk->slots.empty());
  EXPECT_EQ(sdk->missing, 1);
}

TEST(BugClass, M_KedaOperator14_MissingWasReadAsGreen) {
  Fake fake("electricity_maps", Always(Ok(R"({"zone":"NL","carbonIntensity":null,)"
                                          R"("datetime":"2026-05-04T10:00:00.000Z"})")));
  ExpectError(fake->Latest(Zone{"NL"}, kNow), Code::kNotFound, "missing (null)");
}

TEST(BugClass, M_HomeAssistant79774_MissingWasZero) {
  const auto out = ParseEnergyCharts(
      R"({"unix_seconds":[1777888800,1777889700],"co2eq":[null,300],"co2eq_forecast":[null,null]})",
      EnergyChartsValues::kActual);
  ASSERT_TRUE(out);
  ASSERT_EQ(out->slots.size(), 1U);
  EXPECT_EQ(out->slots[0].value, GramsPerKwh(300));
}

TEST(BugClass, M_HomeAssistant74600_NoDataWithStatus200) {
  const auto no_data = ParseElectricityMaps(
      R"({"_disclaimer":"x","status":"no-data","countryCode":"DE","data":{}})");
  ASSERT_FALSE(no_data);
  EXPECT_EQ(no_data.error().code, Code::kNotFound);
  const auto absent =
      ParseElectricityMaps(R"({"zone":"DE","datetime":"2026-05-04T10:00:00.000Z"})");
  ASSERT_TRUE(absent);
  EXPECT_TRUE(absent->slots.empty());
  EXPECT_EQ(absent->missing, 1);
}

TEST(BugClass, M_GreenScheduler312_AGapWasCountedAsZero) {
  const auto out =
      ParseElectricityMaps(R"({"zone":"NL","temporalGranularity":"hourly","history":[)"
                           R"({"datetime":"2026-05-04T10:00Z","carbonIntensity":100},)"
                           R"({"datetime":"2026-05-04T13:00Z","carbonIntensity":400}]})");
  ASSERT_TRUE(out);
  ASSERT_EQ(out->slots.size(), 2U);
  EXPECT_EQ(out->slots[0].to, At("2026-05-04T11:00Z"));  // two hours stay a gap
}

TEST(BugClass, M_Pudl5335_NewFuelCodesAreUnknownNotDropped) {
  const auto out = IntensityFromMix(
      {{"NEW", "unknown", kNow, kNow + 1h, 100.0}, {"WND", "wind", kNow, kNow + 1h, 100.0}},
      TestFactors(), Basis::kLifecycle);
  EXPECT_DOUBLE_EQ(out.slots[0].value.v, (700 + 11) / 2.0);
}

TEST(BugClass, M_GridStatus475_NanBecameZero) {
  const auto out = IntensityFromMix(
      {{"NG", "gas", kNow, kNow + 1h, std::nullopt}, {"WND", "wind", kNow, kNow + 1h, 100.0}},
      TestFactors(), Basis::kLifecycle);
  EXPECT_TRUE(out.slots.empty());  // not 11 g/kWh
  EXPECT_EQ(out.missing, 1);
}

TEST(BugClass, M_KubernetesExporter73_AnOutageOfZerosWasAGreenGrid) {
  std::string points;
  for (int i = 0; i < 12; ++i) {
    points += fmt::format(R"({}{{"point_time":"{}","value":0.0}})", i == 0 ? "" : ",",
                          FormatTime(At("2026-04-22T14:45Z") + i * 5min));
  }
  Fake fake("watttime", [&](const HttpRequest& request) {
    return Ok(Path(request) == "/login" ? R"({"token":"SECRET1"})" : Moer(points));
  });
  const TimePoint now = At("2026-04-22T14:50Z");
  ExpectError(fake->Forecast(Zone{"US-CAL-CISO"}, now, now + 24h, now), Code::kUnavailable,
              "outage");
  ExpectError(fake->History(Zone{"US-CAL-CISO"}, now - 1h, now + 1h, now), Code::kUnavailable,
              "outage");
}

TEST(BugClass, M_KubernetesExporter71_AZeroWithoutItsFieldIsMissing) {
  const auto out = ParseWattTime(Moer(R"({"point_time":"2026-05-04T10:00:00+00:00"},)"
                                      R"({"point_time":"2026-05-04T10:05:00+00:00","value":5})"));
  ASSERT_TRUE(out);
  EXPECT_EQ(out->series.slots.size(), 1U);
  EXPECT_EQ(out->series.missing, 1);
}

TEST(BugClass, M_CarbonAwareSdk_TheMeanOfNothingWasZero) {
  Fake fake("carbon_aware_sdk", Always(Reply(204)));
  ExpectError(fake->History(Zone{"IE"}, kNow - 1h, kNow, kNow), Code::kNotFound, "nothing");
}

// --- W: window ---

TEST(BugClass, W_CarbonAwareSdk570_ADayCameForAnHour) {
  std::string rows;
  for (int hour = 0; hour < 24; ++hour) {
    rows += fmt::format(R"({}{{"datetime":"2026-05-04T{:02}:00Z","carbonIntensity":{}}})",
                        hour == 0 ? "" : ",", hour, hour + 1);
  }
  Fake fake("electricity_maps", Always(Ok(Maps(rows))));
  const TimePoint now = At("2026-05-04T23:30Z");
  const auto answer =
      fake->History(Zone{"NL"}, At("2026-05-04T05:00Z"), At("2026-05-04T07:00Z"), now);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->slots.size(), 2U);
  EXPECT_EQ(answer->slots[0].value, GramsPerKwh(6));
}

TEST(BugClass, W_CarbonAwareSdk83_LatestIsOneValue) {
  std::string rows;
  for (int day = 1; day <= 4; ++day) {
    rows += fmt::format(
        R"({}{{"location":"IE","time":"2026-05-0{}T10:00:00+00:00","rating":{},"duration":"01:00:00"}})",
        day == 1 ? "" : ",", day, day);
  }
  Fake fake("carbon_aware_sdk", Always(Ok("[" + rows + "]")));
  const auto answer = fake->Latest(Zone{"IE"}, kNow);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->slots.size(), 1U);
  EXPECT_EQ(answer->slots[0].value, GramsPerKwh(4));
}

TEST(BugClass, W_MicrosoftSdk80_OrderAndGapsOfTheAnswerDoNotMatter) {
  const auto out =
      ParseElectricityMaps(Maps(R"({"datetime":"2026-05-04T13:00Z","carbonIntensity":3},)"
                                R"({"datetime":"2026-05-04T10:00Z","carbonIntensity":1},)"
                                R"({"datetime":"2026-05-04T11:00Z","carbonIntensity":2})"));
  ASSERT_TRUE(out);
  Series<GramsPerKwh> series;
  for (const auto& slot : out->slots) series.push_back({slot.from, slot.to, slot.value});
  ASSERT_TRUE(IsWellFormed(series));
  const auto mean = MeanOver(series, At("2026-05-04T10:30Z"), At("2026-05-04T12:30Z"));
  EXPECT_DOUBLE_EQ(mean.value->v, (0.5 * 1 + 1 * 2) / 1.5);
  EXPECT_DOUBLE_EQ(mean.coverage, 0.75);
}

TEST(BugClass, W_Cats126_TheEndOfTheWindowIsNoCrash) {
  Series<GramsPerKwh> series{{kNow, kNow + 30min, GramsPerKwh(100)},
                             {kNow + 30min, kNow + 60min, GramsPerKwh(300)}};
  const auto mean = MeanOver(series, kNow + 45min, kNow + 3h);
  EXPECT_DOUBLE_EQ(mean.value->v, 300);
  EXPECT_DOUBLE_EQ(MeanOver(series, kNow + 15min, kNow + 45min).value->v, 200);
  EXPECT_FALSE(MeanOver(series, kNow + 60min, kNow + 90min).value);
}

TEST(BugClass, W_UkApi17_ADuplicateSlotCountsOnce) {
  const auto out = ParseUkCarbonIntensity(
      R"({"data":[{"from":"2021-04-19T10:00Z","to":"2021-04-19T10:30Z","intensity":{"actual":200}},)"
      R"({"from":"2021-04-19T10:00Z","to":"2021-04-19T10:30Z","intensity":{"actual":200}}]})",
      UkValues::kActual);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->slots.size(), 1U);
  EXPECT_EQ(out->duplicates, 1);
}

TEST(BugClass, W_UkApi12_RangesAreCutAtNewYear) {
  Fake fake("uk_carbon_intensity", Always(Ok(R"({"data":[]})")));
  ASSERT_TRUE(fake->History(Zone{"GB"}, At("2025-12-31T20:00Z"), At("2026-01-01T04:00Z"), kNow));
  ASSERT_EQ(fake.Sent().size(), 2U);
  EXPECT_EQ(Path(fake.Sent()[0]), "/intensity/2025-12-31T20:00Z/2026-01-01T00:00Z");
}

TEST(BugClass, W_UkApi18_AShortForecastIsNotPadded) {
  std::string rows;
  for (int i = 0; i < 31; ++i) {
    const TimePoint from = At("2026-05-04T10:00Z") + i * 30min;
    rows +=
        fmt::format(R"({}{{"from":"{}","to":"{}","intensity":{{"forecast":100,"actual":null}}}})",
                    i == 0 ? "" : ",", FormatTime(from), FormatTime(from + 30min));
  }
  Fake fake("uk_carbon_intensity", Always(Ok(R"({"data":[)" + rows + "]}")));
  const auto answer = fake->Forecast(Zone{"GB"}, kNow, kNow + 48h, kNow);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->slots.size(), 31U);
  EXPECT_EQ(answer->slots.back().to, At("2026-05-05T01:30Z"));
}

// --- T: time ---

TEST(BugClass, T_CarbonAwareSdk486_ATimeWithoutOffsetIsNotLocalTime) {
  EXPECT_FALSE(ParseElectricityMaps(
      R"({"zone":"NL","carbonIntensity":1,"datetime":"2026-05-04T10:00:00"})"));
  const auto offset = ParseElectricityMaps(
      R"({"zone":"NL","carbonIntensity":1,"datetime":"2026-05-04T10:00:00+02:00"})");
  ASSERT_TRUE(offset);
  EXPECT_EQ(offset->slots[0].from, At("2026-05-04T08:00Z"));
}

TEST(BugClass, T_EntsoePy331_TheDayOf23Hours) {
  const std::string series =
      "<TimeSeries><inBiddingZone_Domain.mRID>10Y1001A1001A83F</inBiddingZone_Domain.mRID>"
      "<curveType>A03</curveType><MktPSRType><psrType>B04</psrType></MktPSRType><Period>"
      "<timeInterval><start>2026-03-28T23:00Z</start><end>2026-03-29T22:00Z</end></timeInterval>"
      "<resolution>PT60M</resolution><Point><position>1</position><quantity>5</quantity></Point>"
      "<Point><position>23</position><quantity>6</quantity></Point></Period></TimeSeries>";
  const auto out = ParseEntsoe(series);
  ASSERT_TRUE(out) << out.error().message;
  ASSERT_EQ(out->rows.size(), 23U);
  EXPECT_EQ(out->rows.back().to, At("2026-03-29T22:00Z"));  // none missing at the end
}

// --- N: numbers ---

TEST(BugClass, N_CarbonAwareSdk364_CommaDecimalsOfTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8"}) std::setlocale(LC_ALL, name);
  Fake fake("electricity_maps", Always(Ok(R"({"zone":"NL","carbonIntensity":58.76,)"
                                          R"("datetime":"2026-05-04T10:00:00.000Z"})")));
  const auto name = fake->NameAt({52.37, 4.9}, kNow);
  const auto latest = fake->Latest(Zone{"NL"}, kNow);
  std::setlocale(LC_ALL, before.c_str());
  ASSERT_TRUE(name);
  EXPECT_EQ(Query(fake.Sent()[0], "lat"), "52.37");
  ASSERT_TRUE(latest);
  EXPECT_EQ(latest->slots[0].value, GramsPerKwh(58.76));
}

TEST(BugClass, N_CarbonAwareSdk623_AnUnknownEnumIsNoFailure) {
  EXPECT_TRUE(ParseElectricityMaps(
      R"({"zone":"NL","carbonIntensity":1,"datetime":"2026-05-04T10:00:00Z","isEstimated":true,)"
      R"("estimationMethod":"NEVER_SEEN","emissionFactorType":"quantum","temporalGranularity":"x"})"));
  EXPECT_TRUE(ParseWattTime(
      R"({"data":[],"meta":{"units":"lbs_co2_per_mwh","signal_type":"co2_new","model":7}})"));
}

TEST(BugClass, N_Contrib4740_ValuesOfAnotherUnitAndNaAreMissing) {
  const auto out =
      ParseElectricityMaps(Maps(R"({"datetime":"2026-05-04T10:00Z","carbonIntensity":"NA"},)"
                                R"({"datetime":"2026-05-04T11:00Z","carbonIntensity":394600},)"
                                R"({"datetime":"2026-05-04T12:00Z","carbonIntensity":300})"));
  ASSERT_TRUE(out);
  EXPECT_EQ(out->slots.size(), 1U);
  EXPECT_EQ(out->missing, 2);
}

TEST(BugClass, N_ImpactFramework504_TheUnitIsConvertedOnce) {
  const auto out = ParseWattTime(Moer(R"({"point_time":"2026-05-04T10:00:00+00:00","value":870},)"
                                      R"({"point_time":"2026-05-04T10:05:00+00:00","value":435})"));
  ASSERT_TRUE(out);
  EXPECT_NEAR(out->series.slots[0].value.v, 394.6, 0.05);
  EXPECT_NEAR(out->series.slots[1].value.v, 197.3, 0.05);
}

// --- L: location ---

TEST(BugClass, L_Contrib6351_AnotherZoneThanAskedIsNeverUsed) {
  Fake fake("electricity_maps", Always(Ok(R"({"zone":"US-NY-NYIS","carbonIntensity":300,)"
                                          R"("datetime":"2026-05-04T10:00:00.000Z"})")));
  ExpectError(fake->Latest(Zone{"NL"}, kNow), Code::kDataLoss, "answered for 'US-NY-NYIS'");
  EXPECT_EQ(Query(fake.Sent()[0], "disableCallerLookup"), "true");
}

TEST(BugClass, L_CarbonAwareSdk145_UncoveredCoordinatesAreSaidWithProvider) {
  Fake fake("watttime", [](const HttpRequest& request) {
    if (Path(request) == "/login") return Ok(R"({"token":"SECRET1"})");
    return Reply(404, R"({"error":"No coverage available for these coordinates and signal_type"})");
  });
  ExpectError(fake->NameAt({0, 0}, kNow), Code::kNotFound, "watttime: covers nothing there");
}

TEST(BugClass, L_CarbonAwareSdk152_RegionsOfEveryCloudAreKnown) {
  for (const char* region : {"aws:us-east-1", "gcp:us-east4", "azure:eastus"}) {
    EXPECT_EQ(TestZones().Resolve(region)->key, "US-MIDA-PJM") << region;
  }
  const auto near = TestZones().Resolve("aws:us-east-9");
  ASSERT_FALSE(near);
  EXPECT_THAT(near.error().message, HasSubstr("us-east-1"));
}

TEST(BugClass, L_CarbonAwareSdk535_ANameGivenTwiceIsAnErrorNotARename) {
  EXPECT_FALSE(ZoneTable::Parse("key,name,lat,lon,place\nDE,x,0,0,y\nDE,x,0,0,y\n",
                                "provider,region,location,lat,lon,zone\n", "old,new,note\n"));
}

TEST(BugClass, L_HomeAssistantIo41693_UsAloneNamesItsSubZones) {
  const auto zone = TestZones().Resolve("US");
  ASSERT_FALSE(zone);
  EXPECT_THAT(zone.error().message, HasSubstr("US-TEX-ERCO"));
  EXPECT_EQ(TestZones().Resolve("us-cal-ciso")->key, "US-CAL-CISO");
}

TEST(BugClass, L_Contrib3358_ARenamedZoneNamesItsNewKey) {
  const auto zone = TestZones().Resolve("IN-KA");
  ASSERT_FALSE(zone);
  EXPECT_THAT(zone.error().message, HasSubstr("use IN-SO"));
}

TEST(BugClass, L_AdminPortal651_NoRequestLeavesTheZoneToTheCallersAddress) {
  for (const ProviderInfo& info : Providers()) {
    ProviderSettings settings = TestSettings(info.name);
    settings.zone_names = {};
    Fake fake(info.name, settings, [](const HttpRequest& request) {
      return Path(request) == "/login" ? Ok(R"({"token":"SECRET1"})") : Reply(500);
    });
    const Zone zone{info.name == "eia" || info.name == "watttime" ? "US-CAL-CISO" : "GB"};
    [[maybe_unused]] const auto answer = fake->Latest(zone, kNow);
    for (const HttpRequest& request : fake.Sent()) {
      if (Path(request) == "/login") continue;
      std::string named;
      for (const char* key :
           {"zone", "region", "country", "location", "in_Domain", "facets[respondent][]"}) {
        if (Query(request, key) != "(absent)") named = Query(request, key);
      }
      if (info.name == "uk_carbon_intensity") named = "GB";  // it has no other
      EXPECT_FALSE(named.empty()) << info.name;
    }
  }
}

// --- A: access ---

TEST(BugClass, A_CarbonAwareSdk566_TheRetiredInterfaceIsNamed) {
  FakeTransport transport(Always(Ok("{}")));
  for (const char* endpoint : {"https://api2.watttime.org/v2", "https://api.watttime.org/v2/"}) {
    ProviderSettings settings = TestSettings("watttime");
    settings.endpoint = endpoint;
    ExpectError(MakeProvider("watttime", settings, {transport, TestZones(), TestFactors()}),
                Code::kInvalidArgument, "retired version 2");
  }
}

TEST(BugClass, A_Contrib7477_AValidKeyAndItsRefusalsAreToldApart) {
  const auto refusal = [](HttpResponse response) {
    Fake fake("electricity_maps", Always(std::move(response)));
    return fake->Latest(Zone{"PT"}, kNow);
  };
  ExpectError(refusal(Reply(401, R"({"error":"Invalid auth-token"})")), Code::kPermissionDenied,
              "takes some minutes");
  ExpectError(refusal(Reply(401, R"({"error":"Request unauthorized for zoneKey=PT,)"
                                 R"(requestType=latest,dataType=carbon-intensity."})")),
              Code::kPermissionDenied, "plan");
  ExpectError(refusal(Reply(503)), Code::kUnavailable, "503");
}

TEST(BugClass, A_HomeAssistant109233_AnEndpointThatIsGone) {
  Fake fake("electricity_maps",
            Always(Reply(404, R"({"message":"no Route matched with those values"})")));
  ExpectError(fake->Latest(Zone{"PT"}, kNow), Code::kUnavailable, "set 'endpoint'");
}

TEST(BugClass, A_KubernetesExporter23_AFreeAccountIsToldItsZone) {
  Fake fake("watttime", [](const HttpRequest& request) {
    if (Path(request) == "/login") return Ok(R"({"token":"SECRET1"})");
    return Reply(403, R"({"error":"Invalid query parameters","message":"Invalid scope."})");
  });
  ExpectError(fake->Latest(Zone{"US-TEX-ERCO"}, kNow), Code::kPermissionDenied, "US-CAL-CISO");
}

TEST(BugClass, A_Contrib7569_AForecastOutsideThePlanIsTheForecastsFailureOnly) {
  Fake fake("electricity_maps", [](const HttpRequest& request) {
    if (Path(request).ends_with("forecast")) {
      return Reply(401, R"({"error":"Request unauthorized for zoneKey=NL,requestType=forecast."})");
    }
    return Ok(R"({"zone":"NL","carbonIntensity":300,"datetime":"2026-05-04T10:00:00.000Z"})");
  });
  ExpectError(fake->Forecast(Zone{"NL"}, kNow, kNow + 1h, kNow), Code::kPermissionDenied, "plan");
  EXPECT_TRUE(fake->Latest(Zone{"NL"}, kNow));
}

TEST(BugClass, A_GridIntensityGo66_TheKeyIsInEveryRequest) {
  Fake fake("electricity_maps", Always(Reply(500)));
  [[maybe_unused]] const auto latest = fake->Latest(Zone{"NL"}, kNow);
  [[maybe_unused]] const auto day = fake->History(Zone{"NL"}, kNow - 1h, kNow, kNow);
  [[maybe_unused]] const auto year = fake->History(Zone{"NL"}, kNow - 99h, kNow, kNow);
  [[maybe_unused]] const auto forecast = fake->Forecast(Zone{"NL"}, kNow, kNow + 1h, kNow);
  [[maybe_unused]] const auto name = fake->NameAt({1, 2}, kNow);
  ASSERT_EQ(fake.Sent().size(), 5U);
  for (const HttpRequest& request : fake.Sent()) {
    EXPECT_EQ(Header(request, "auth-token"), "SECRET+key/1") << request.url;
  }
}

// --- C: configuration ---

TEST(BugClass, C_CarbonAwareSdk233_WhatIsNotConfiguredIsSaidAtTheStart) {
  FakeTransport transport(Always(Ok("{}")));
  const ProviderParts parts{transport, TestZones(), TestFactors()};
  ExpectError(MakeProvider("eia", {}, parts), Code::kInvalidArgument, "LOWTIDE_EIA_KEY");
  ExpectError(MakeProvider("entsoe", {}, parts), Code::kInvalidArgument, "LOWTIDE_ENTSOE_KEY");
  EXPECT_TRUE(transport.sent.empty());
}

// --- Q: quota ---

TEST(BugClass, Q_CarbonAwareSdk397_OneCallIsOneRequest) {
  Fake fake("electricity_maps", Always(Ok(R"({"zone":"NL","carbonIntensity":300,)"
                                          R"("datetime":"2026-05-04T10:00:00.000Z"})")));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(fake->Latest(Zone{"NL"}, kNow));
  EXPECT_EQ(fake.Sent().size(), 5U);
  EXPECT_EQ(fake->History(Zone{"NL"}, kNow - 100 * 365 * 24h, kNow, kNow).error().code,
            Code::kInvalidArgument);
  EXPECT_EQ(fake.Sent().size(), 5U);  // bounded before anything is sent
}

// --- S: staleness ---

TEST(BugClass, S_GridIntensityGo81_EstimatesAreMarkedAndTheLastMeasuredCanBeTold) {
  const auto out = ParseElectricityMaps(
      Maps(R"({"datetime":"2026-05-04T08:00Z","carbonIntensity":1,"isEstimated":false},)"
           R"({"datetime":"2026-05-04T09:00Z","carbonIntensity":2,"isEstimated":true})"));
  ASSERT_TRUE(out);
  EXPECT_FALSE(out->slots[0].estimated);
  EXPECT_TRUE(out->slots[1].estimated);
}

TEST(BugClass, S_KubernetesExporter72_AnAnswerCarriesItsAge) {
  Fake fake("watttime", [](const HttpRequest& request) {
    if (Path(request) == "/login") return Ok(R"({"token":"SECRET1"})");
    return Ok(R"({"data":[{"point_time":"2026-05-03T22:00:00+00:00","value":900}],"meta":{)"
              R"("region":"CAISO_NORTH","signal_type":"co2_moer","units":"lbs_co2_per_mwh",)"
              R"("generated_at":"2026-05-03T22:00:00+00:00"}})");
  });
  const auto forecast = fake->Forecast(Zone{"US-CAL-CISO"}, kNow - 24h, kNow + 1h, kNow);
  ASSERT_TRUE(forecast) << forecast.error().message;
  EXPECT_EQ(forecast->issued_at, At("2026-05-03T22:00Z"));
  EXPECT_EQ(forecast->fetched_at, kNow);
  // A forecast of half a day ago has no value for now.
  ExpectError(fake->Latest(Zone{"US-CAL-CISO"}, kNow), Code::kNotFound, "no value now");
}

// --- P: provenance ---

TEST(BugClass, P_CarbonAwareSdk315_EveryAnswerSaysSignalAndBasis) {
  ProviderSettings direct = TestSettings("electricity_maps");
  direct.basis = Basis::kDirect;
  const std::string body =
      R"({"zone":"NL","carbonIntensity":300,"datetime":"2026-05-04T10:00:00.000Z"})";
  Fake lifecycle("electricity_maps", Always(Ok(body)));
  Fake at_stack("electricity_maps", direct, Always(Ok(body)));
  EXPECT_EQ(lifecycle->Latest(Zone{"NL"}, kNow)->basis, Basis::kLifecycle);
  EXPECT_EQ(at_stack->Latest(Zone{"NL"}, kNow)->basis, Basis::kDirect);
}

// --- no secret in any error, whatever the service repeats ---

TEST(SecretsTest, NoErrorRepeatsASecret) {
  for (const ProviderInfo& info : Providers()) {
    ProviderSettings settings = TestSettings(info.name);
    settings.key = "SECRET+key/1";
    settings.username = "ada";
    settings.password = "SECRET pass:1";
    std::string echo =
        "SECRET+key/1 SECRET%2Bkey%2F1 SECRET pass:1 SECRET%20pass%3A1 YWRhOlNFQ1JFVCBwYXNzOjE=";
    for (const int status : {200, 400, 401, 403, 404, 429, 500}) {
      for (const bool json : {true, false}) {
        const bool has_token = info.name == "watttime" && status != 401;
        const std::string said = has_token ? echo + " SECRET-token" : echo;
        Fake fake(info.name, settings, [&](const HttpRequest& request) -> Result<HttpResponse> {
          if (Path(request) == "/login" && status != 401) {
            return Ok(R"({"token":"SECRET-token"})");
          }
          return Reply(status, json ? R"({"error":")" + said + R"("})" : said);
        });
        const Zone zone{info.name == "eia" || info.name == "watttime" ? "US-CAL-CISO" : "GB"};
        for (const auto& result :
             {fake->Latest(zone, kNow), fake->History(zone, kNow - 3h, kNow, kNow),
              fake->Forecast(zone, kNow, kNow + 1h, kNow)}) {
          ASSERT_FALSE(result) << info.name << status;
          EXPECT_THAT(result.error().message, Not(HasSubstr("SECRET"))) << info.name << status;
          EXPECT_THAT(result.error().message, Not(HasSubstr("YWRhOlNF"))) << info.name << status;
        }
      }
    }
    // Nor does an error of the transport.
    Fake broken(info.name, settings, [&](const HttpRequest&) -> Result<HttpResponse> {
      return Fail(Code::kUnavailable, echo);
    });
    const auto result = broken->Latest(Zone{"US-CAL-CISO"}, kNow);
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, Not(HasSubstr("SECRET+key"))) << info.name;
  }
}

TEST(SecretsTest, NoSecretIsInAnAddress) {
  for (const ProviderInfo& info : Providers()) {
    Fake fake(info.name, [](const HttpRequest& request) {
      return Path(request) == "/login" ? Ok(R"({"token":"SECRET1"})") : Reply(500);
    });
    const Zone zone{info.name == "eia" || info.name == "watttime" ? "US-CAL-CISO" : "GB"};
    [[maybe_unused]] const auto answer = fake->Latest(zone, kNow);
    for (const HttpRequest& request : fake.Sent()) {
      EXPECT_THAT(request.url, Not(HasSubstr("SECRET"))) << info.name;
      // Two services take their key in the query only: it is named as secret there.
      for (const auto& [key, value] : request.query) {
        if (value.find("SECRET") != std::string::npos) {
          EXPECT_THAT(request.secret_names, Contains(key)) << info.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lowtide
