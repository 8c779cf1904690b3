#include "grid/providers/electricity_maps.h"

#include "grid/providers/electricity_maps_payload.h"
#include "grid/providers/provider_test_support.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TimePoint kNow = At("2026-05-04T10:20Z");
const Zone kZone{"DK-DK2"};

std::string Row(TimePoint at, std::string_view value, bool estimated = false) {
  return fmt::format(
      R"({{"zone":"DK-DK2","carbonIntensity":{},"datetime":"{}","updatedAt":"2026-05-04T10:00:00.000Z",)"
      R"("isEstimated":{},"estimationMethod":null,"emissionFactorType":"lifecycle"}})",
      value, FormatTime(at), estimated);
}

std::string List(std::string_view name, TimePoint from, TimePoint to, double value = 80) {
  std::string rows;
  for (TimePoint at = from; at < to; at += 1h) {
    rows += (rows.empty() ? "" : ",") + Row(at, fmt::format("{}", value++));
  }
  return fmt::format(R"({{"zone":"DK-DK2","{}":[{}],"temporalGranularity":"hourly"}})", name, rows);
}

// --- payload ---

TEST(ElectricityMapsPayloadTest, LatestIsABareObjectOfV4OrV3) {
  const auto v4 = ParseElectricityMaps(
      R"({"zone":"DK-DK2","carbonIntensity":71.5,"datetime":"2026-05-04T10:00:00.000Z",)"
      R"("updatedAt":"2026-05-04T10:24:08.708Z","flowTraced":true,"isEstimated":true,)"
      R"("estimationMethod":"SOMETHING_NEW","temporalGranularity":"hourly"})");
  ASSERT_TRUE(v4) << v4.error().message;
  EXPECT_EQ(v4->zone, "DK-DK2");
  EXPECT_THAT(v4->slots, ElementsAre(ProviderSlot{At("2026-05-04T10:00Z"), At("2026-05-04T11:00Z"),
                                                  GramsPerKwh(71.5), true}));
  const auto v3 = ParseElectricityMaps(
      R"({"zone":"FR","carbonIntensity":40,"datetime":"2026-05-04T10:00:00.000Z"})");
  ASSERT_TRUE(v3);
  EXPECT_EQ(v3->slots[0].to - v3->slots[0].from, 1h);
  EXPECT_FALSE(v3->slots[0].estimated);
}

TEST(ElectricityMapsPayloadTest, RowsStandInHistoryDataOrForecast) {
  for (const char* name : {"history", "data", "forecast"}) {
    const auto out = ParseElectricityMaps(List(name, kNow - 3h, kNow));
    ASSERT_TRUE(out);
    EXPECT_EQ(out->slots.size(), 3U) << name;
    EXPECT_EQ(out->zone, "DK-DK2");
  }
}

TEST(ElectricityMapsPayloadTest, TheStepIsTheDeliveredOne) {
  const auto out =
      ParseElectricityMaps(R"({"zone":"DE","temporalGranularity":"15_minutes","data":[)"
                           R"({"datetime":"2026-05-04T10:00Z","carbonIntensity":1},)"
                           R"({"datetime":"2026-05-04T11:00Z","carbonIntensity":2}]})");
  ASSERT_TRUE(out);
  EXPECT_EQ(out->slots[0].to, At("2026-05-04T10:15Z"));  // the rest of the hour is a gap
  const auto derived = ParseElectricityMaps(
      R"({"zone":"DE","data":[{"datetime":"2026-05-04T10:00Z","carbonIntensity":1},)"
      R"({"datetime":"2026-05-04T10:05Z","carbonIntensity":2},)"
      R"({"datetime":"2026-05-04T10:10Z","carbonIntensity":2}]})");
  EXPECT_EQ(derived->slots.back().to, At("2026-05-04T10:15Z"));
}

TEST(ElectricityMapsPayloadTest, FlagsOfForecastsMeanNothing) {
  const auto out = ParseElectricityMaps(
      R"({"zone":"DE","forecast":[{"datetime":"2026-05-04T10:00Z","carbonIntensity":1,)"
      R"("isEstimated":true}],"updatedAt":"2026-05-04T09:59:00.000Z"})");
  ASSERT_TRUE(out);
  EXPECT_FALSE(out->slots[0].estimated);
  EXPECT_EQ(out->issued_at, At("2026-05-04T09:59:00Z"));
}

TEST(ElectricityMapsPayloadTest, WhatIsNoAnswerIsAnError) {
  for (const char* text : {"", "[]", "7", "<html></html>", R"({"history":[7]})", R"({"zone":"DE"})",
                           R"({"history":[{"carbonIntensity":1}]})",
                           R"({"history":[{"datetime":"yesterday","carbonIntensity":1}]})"}) {
    const auto out = ParseElectricityMaps(text);
    ASSERT_FALSE(out) << text;
    EXPECT_EQ(out.error().code, Code::kDataLoss) << text;
  }
}

// --- client ---

TEST(ElectricityMapsTest, LatestAsksAsTheInterfaceWants) {
  Fake fake("electricity_maps", Always(Ok(Row(kNow - 20min, "75", true))));
  const auto answer = fake->Latest(kZone, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(fake.Sent().size(), 1U);
  const HttpRequest& request = fake.Sent()[0];
  EXPECT_EQ(request.url, "https://api.electricitymaps.com/v4/carbon-intensity/latest");
  EXPECT_EQ(Query(request, "zone"), "DK-DK2");
  EXPECT_EQ(Query(request, "disableCallerLookup"), "true");
  EXPECT_EQ(Query(request, "emissionFactorType"), "lifecycle");
  EXPECT_EQ(Header(request, "auth-token"), "SECRET+key/1");
  EXPECT_THAT(request.secret_names, Contains("auth-token"));
  EXPECT_THAT(request.secrets, Contains("SECRET+key/1"));
  EXPECT_EQ(answer->provider, "electricity_maps");
  EXPECT_EQ(answer->provider_zone, "DK-DK2");
  EXPECT_EQ(answer->signal, Signal::kAverage);
  EXPECT_EQ(answer->basis, Basis::kLifecycle);
  EXPECT_TRUE(answer->slots[0].estimated);
  EXPECT_EQ(answer->fetched_at, kNow);
}

TEST(ElectricityMapsTest, LatestMayBeLabelledALittleAhead) {
  Fake fake("electricity_maps", Always(Ok(Row(kNow + 12min, "75"))));
  EXPECT_TRUE(fake->Latest(kZone, kNow));
}

TEST(ElectricityMapsTest, V3HasItsOwnPathAndSwitch) {
  ProviderSettings settings = TestSettings("electricity_maps");
  settings.version = "v3";
  settings.endpoint = "https://api.electricitymap.org/";
  settings.basis = Basis::kDirect;
  settings.key_header = "X-BLOBR-KEY";
  Fake fake("electricity_maps", settings, Always(Ok(Row(kNow, "75"))));
  const auto answer = fake->Latest(kZone, kNow);
  ASSERT_TRUE(answer);
  const HttpRequest& request = fake.Sent()[0];
  EXPECT_EQ(request.url, "https://api.electricitymap.org/v3/carbon-intensity/latest");
  EXPECT_EQ(Query(request, "shouldUseFallbackCallerLookup"), "false");
  EXPECT_EQ(Query(request, "disableCallerLookup"), "(absent)");
  EXPECT_EQ(Query(request, "emissionFactorType"), "direct");
  EXPECT_EQ(Header(request, "X-BLOBR-KEY"), "SECRET+key/1");
  EXPECT_EQ(Header(request, "auth-token"), "(absent)");
  EXPECT_EQ(answer->basis, Basis::kDirect);
}

TEST(ElectricityMapsTest, AnEndpointMayEndInItsVersion) {
  ProviderSettings settings = TestSettings("electricity_maps");
  settings.endpoint = "http://localhost:1/base/v3";
  Fake fake("electricity_maps", settings, Always(Ok(Row(kNow, "75"))));
  ASSERT_TRUE(fake->Latest(kZone, kNow));
  EXPECT_EQ(fake.Sent()[0].url, "http://localhost:1/base/v3/carbon-intensity/latest");
  EXPECT_EQ(Query(fake.Sent()[0], "shouldUseFallbackCallerLookup"), "false");
}

TEST(ElectricityMapsTest, TheLastDayComesFromHistoryAndIsCutToTheInterval) {
  Fake fake("electricity_maps", Always(Ok(List("history", At("2026-05-03T11:00Z"), kNow))));
  const auto answer = fake->History(kZone, At("2026-05-04T06:30Z"), At("2026-05-04T08:00Z"), kNow);
  ASSERT_TRUE(answer);
  EXPECT_EQ(Path(fake.Sent()[0]), "/v4/carbon-intensity/history");
  ASSERT_EQ(answer->slots.size(), 2U);
  EXPECT_EQ(answer->slots.front().from, At("2026-05-04T06:00Z"));
  EXPECT_EQ(answer->slots.back().to, At("2026-05-04T08:00Z"));
}

TEST(ElectricityMapsTest, LongHistoryIsAskedInPartsOfTenDays) {
  Fake fake("electricity_maps", [](const HttpRequest& request) {
    const TimePoint from = At(Query(request, "start"));
    const TimePoint to = At(Query(request, "end"));
    EXPECT_LE(to - from, 240h);
    return Ok(List("data", from, to));
  });
  const auto answer = fake->History(kZone, kNow - 25 * 24h, kNow - 24h, kNow);
  ASSERT_TRUE(answer);
  EXPECT_EQ(fake.Sent().size(), 3U);
  EXPECT_EQ(Path(fake.Sent()[0]), "/v4/carbon-intensity/past-range");
  EXPECT_EQ(answer->slots.size(), 24U * 24 + 1);
}

TEST(ElectricityMapsTest, APlanWithoutPastRangeAnswersWithTheLastDayAndSaysSo) {
  Fake fake("electricity_maps", [](const HttpRequest& request) {
    if (Path(request).ends_with("past-range")) {
      return Reply(401, R"({"error":"Request unauthorized for zoneKey=DK-DK2,)"
                        R"(requestType=past-range,dataType=carbon-intensity."})");
    }
    return Ok(List("history", At("2026-05-03T11:00Z"), kNow));
  });
  const auto answer = fake->History(kZone, kNow - 72h, kNow, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->slots.front().from, At("2026-05-03T11:00Z"));
  EXPECT_THAT(answer->notes, Contains(HasSubstr("only the last 24 hours")));
  ExpectError(fake->History(kZone, kNow - 72h, kNow - 48h, kNow), Code::kPermissionDenied, "plan");
}

TEST(ElectricityMapsTest, TheHorizonIsTheSmallestThatReaches) {
  Fake fake("electricity_maps", Always(Ok(List("forecast", At("2026-05-04T10:00Z"), kNow + 24h))));
  const std::vector<std::pair<std::chrono::hours, std::string>> cases = {
      {2h, "6"}, {6h, "6"}, {7h, "24"}, {24h, "24"}, {40h, "48"}, {72h, "72"}, {96h, "72"}};
  for (const auto& [ahead, horizon] : cases) {
    ASSERT_TRUE(fake->Forecast(kZone, kNow, kNow + ahead, kNow));
    EXPECT_EQ(Query(fake.Sent().back(), "horizonHours"), horizon) << ahead.count();
  }
}

TEST(ElectricityMapsTest, AForecastIsOneAndItsHorizonIsTheRealOne) {
  Fake fake("electricity_maps",
            Always(Ok(List("forecast", At("2026-05-04T10:00Z"), At("2026-05-04T15:00Z")))));
  const auto answer = fake->Forecast(kZone, kNow, kNow + 24h, kNow);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, IntensityKind::kForecast);
  EXPECT_EQ(answer->slots.back().to, At("2026-05-04T15:00Z"));  // never padded
}

TEST(ElectricityMapsTest, RefusalsAreTold) {
  const auto latest = [](HttpResponse response) {
    Fake fake("electricity_maps", Always(std::move(response)));
    auto result = fake->Latest(kZone, kNow);
    EXPECT_EQ(fake.Sent().size(), 1U);  // no loop
    return result;
  };
  ExpectError(latest(Reply(401, R"({"error":"Invalid auth-token"})")), Code::kPermissionDenied,
              "the key is not accepted");
  ExpectError(latest(Reply(401, R"({"error":"Request unauthorized for zoneKey=DK-DK2,)"
                                R"(requestType=latest,dataType=carbon-intensity.",)"
                                R"("message":"You do not have access"})")),
              Code::kPermissionDenied, "the key itself is valid");
  ExpectError(latest(Reply(404, R"({"message":"no Route matched with those values"})")),
              Code::kUnavailable, "set 'endpoint'");
  ExpectError(latest(Reply(404, R"({"error":"No recent data for zone DK-DK2"})")), Code::kNotFound,
              "No recent data");
  ExpectError(latest(Reply(429, "", {{"retry-after", "60"}})), Code::kUnavailable,
              "again after 60");
  ExpectError(latest(Reply(503, "<html>busy</html>")), Code::kUnavailable, "an HTML or XML page");
  ExpectError(latest(Reply(400, R"({"error":"Missing arguments \"node\""})")), Code::kUnavailable,
              "Missing arguments");
  ExpectError(latest(Ok(R"({"error":"Plan exhausted"})")), Code::kUnavailable, "Plan exhausted");
  ExpectError(latest(Reply(401, R"({"error":"bad SECRET+key/1 and SECRET%2Bkey%2F1"})")),
              Code::kPermissionDenied, "bad ***");
}

TEST(ElectricityMapsTest, CoordinatesAreResolvedByTheProvider) {
  Fake fake("electricity_maps", Always(Ok(R"({"zone":"GA","carbonIntensity":1,)"
                                          R"("datetime":"2026-05-04T10:00:00.000Z"})")));
  const auto zone = fake->NameAt({0, 9.25}, kNow);
  ASSERT_TRUE(zone);
  EXPECT_EQ(*zone, "GA");
  EXPECT_EQ(Query(fake.Sent()[0], "lat"), "0");
  EXPECT_EQ(Query(fake.Sent()[0], "lon"), "9.25");
  EXPECT_EQ(Query(fake.Sent()[0], "disableCallerLookup"), "true");
  EXPECT_EQ(fake->NameAt({91, 0}, kNow).error().code, Code::kInvalidArgument);
}

TEST(ElectricityMapsTest, SettingsAreCheckedBeforeAnythingIsSent) {
  FakeTransport transport(Always(Ok("{}")));
  const ProviderParts parts{transport, TestZones(), TestFactors()};
  ProviderSettings settings;
  ExpectError(MakeProvider("electricity_maps", settings, parts), Code::kInvalidArgument,
              "LOWTIDE_ELECTRICITY_MAPS_KEY");
  settings.key = "SECRET";
  settings.version = "v2";
  ExpectError(MakeProvider("electricity_maps", settings, parts), Code::kInvalidArgument,
              "v4 and v3");
  settings.version = "";
  settings.signal = Signal::kMarginal;
  ExpectError(MakeProvider("electricity_maps", settings, parts), Code::kInvalidArgument,
              "marginal");
  settings.signal.reset();
  settings.endpoint = "https://user:SECRET@host";
  ExpectError(MakeProvider("electricity_maps", settings, parts), Code::kInvalidArgument,
              "endpoint");
  EXPECT_TRUE(transport.sent.empty());
}

}  // namespace
}  // namespace lowtide
