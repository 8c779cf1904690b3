#include "grid/providers/carbon_aware_sdk.h"

#include "grid/providers/carbon_aware_sdk_payload.h"
#include "grid/providers/provider_test_support.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TimePoint kNow = At("2026-05-04T10:20Z");
const Zone kZone{"IE"};

std::string Row(std::string_view time, std::string_view rating,
                std::string_view duration = "\"00:30:00\"") {
  return fmt::format(R"({{"location":"IE","time":"{}","rating":{},"duration":{}}})", time, rating,
                     duration);
}

TEST(SdkPayloadTest, RowsHoldForTheirDuration) {
  const std::vector<std::pair<std::string, std::chrono::milliseconds>> cases = {
      {"\"00:05:00\"", 5min},
      {"\"08:00:00\"", 8h},
      {"\"01:00\"", 1h},
      {"\"1.00:00:00\"", 24h},
      {"\"00:05:00.5000000\"", 5min}};
  for (const auto& [duration, length] : cases) {
    const auto out =
        ParseSdkEmissions("[" + Row("2026-05-04T10:00:00+00:00", "73.5", duration) + "]");
    ASSERT_TRUE(out) << duration;
    EXPECT_EQ(out->slots[0].to - out->slots[0].from, length) << duration;
    EXPECT_EQ(out->slots[0].value, GramsPerKwh(73.5));
  }
}

TEST(SdkPayloadTest, ADurationThatIsNoneIsTheUsualStep) {
  const auto out = ParseSdkEmissions("[" + Row("2026-05-04T10:00:00+00:00", "1", "\"00:00:00\"") +
                                     "," + Row("2026-05-04T10:05:00+00:00", "2", "\"x\"") + "]");
  ASSERT_TRUE(out);
  EXPECT_EQ(out->slots[1].to, At("2026-05-04T10:10Z"));
  EXPECT_FALSE(ParseSdkEmissions("[" + Row("2026-05-04T10:00:00+00:00", "1", "null") + "]"));
}

TEST(SdkPayloadTest, WhatIsNoAnswerIsAnError) {
  for (const char* text : {"", "{}", "[7]", R"([{"rating":1}])"}) {
    EXPECT_EQ(ParseSdkEmissions(text).error().code, Code::kDataLoss) << text;
  }
  for (const char* text : {"", "{}", "[]", "[7]", "[{}]", R"([{"forecastData":7}])", "[{},{}]"}) {
    EXPECT_EQ(ParseSdkForecast(text).error().code, Code::kDataLoss) << text;
  }
}

std::string Forecast(std::string_view location = "IE") {
  return fmt::format(
      R"([{{"generatedAt":"2026-05-04T10:15:00+00:00","requestedAt":"2026-05-04T10:20:00+00:00",)"
      R"("location":"{}","windowSize":0,"optimalDataPoints":[],"forecastData":[)"
      R"({{"location":"R","timestamp":"2026-05-04T10:20:00+00:00","duration":5,"value":500.5}},)"
      R"({{"location":"R","timestamp":"2026-05-04T10:25:00+00:00","duration":5,"value":-1}},)"
      R"({{"location":"R","timestamp":"2026-05-04T10:30:00+00:00","duration":5,"value":400}}]}}])",
      location);
}

TEST(CarbonAwareSdkTest, ForecastIsReadWithoutBounds) {
  Fake fake("carbon_aware_sdk", Always(Ok(Forecast())));
  const auto answer = fake->Forecast(kZone, kNow, kNow + 24h, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(fake.Sent()[0].url, "http://localhost:8080/emissions/forecasts/current");
  EXPECT_EQ(fake.Sent()[0].query.size(), 1U);
  EXPECT_EQ(answer->slots.size(), 2U);
  EXPECT_EQ(answer->missing, 1);
  EXPECT_EQ(answer->issued_at, At("2026-05-04T10:15Z"));
  EXPECT_EQ(answer->basis, Basis::kUnstated);
}

TEST(CarbonAwareSdkTest, LocationsAreNamedInTheSettings) {
  ProviderSettings settings = TestSettings("carbon_aware_sdk");
  settings.zone_names = {{"IE", "northeurope"}};
  settings.signal = Signal::kMarginal;
  Fake fake("carbon_aware_sdk", settings, Always(Ok(Forecast("northeurope"))));
  const auto answer = fake->Forecast(kZone, kNow, kNow + 1h, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(Query(fake.Sent()[0], "location"), "northeurope");
  EXPECT_EQ(answer->signal, Signal::kMarginal);
  EXPECT_EQ(answer->provider_zone, "northeurope");
}

TEST(CarbonAwareSdkTest, HistoryIsCutToWhatWasAsked) {
  std::string rows;
  for (TimePoint at = kNow - 30h; at < kNow; at += 30min) {
    rows += (rows.empty() ? "" : ",") + Row(FormatTime(at), "73");
  }
  Fake fake("carbon_aware_sdk", Always(Ok("[" + rows + "]")));
  const auto answer = fake->History(kZone, kNow - 2h, kNow - 1h, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->slots.size(), 2U);
  EXPECT_EQ(Query(fake.Sent()[0], "time"), "2026-05-04T08:20:00Z");
  EXPECT_EQ(Query(fake.Sent()[0], "toTime"), "2026-05-04T09:20:00Z");
}

TEST(CarbonAwareSdkTest, RefusalsAreTold) {
  const auto latest = [](HttpResponse response) {
    Fake fake("carbon_aware_sdk", Always(std::move(response)));
    return fake->Latest(kZone, kNow);
  };
  ExpectError(latest(Reply(204)), Code::kNotFound, "204");
  ExpectError(latest(Reply(400, R"({"title":"ArgumentException","status":400,"detail":"Invalid )"
                                R"(parameters","errors":{"location":["Unknown Location: 'IE' not )"
                                R"(found"]}})")),
              Code::kNotFound, "zone_names");
  ExpectError(latest(Reply(501, R"({"title":"NotImplementedException","errors":{}})")),
              Code::kUnimplemented, "501");
  ExpectError(latest(Reply(500, R"({"title":"InternalServerError","errors":{}})")),
              Code::kUnavailable, "InternalServerError");
  ExpectError(latest(Ok("[" + Row("2026-05-04T10:00:00+00:00", "-1") + "]")), Code::kNotFound,
              "missing (null)");
}

TEST(CarbonAwareSdkTest, SettingsAreCheckedBeforeAnythingIsSent) {
  FakeTransport transport(Always(Ok("{}")));
  const ProviderParts parts{transport, TestZones(), TestFactors()};
  ProviderSettings settings;
  ExpectError(MakeProvider("carbon_aware_sdk", settings, parts), Code::kInvalidArgument,
              "LOWTIDE_CARBON_AWARE_SDK_ENDPOINT");
  settings.endpoint = "http://localhost:1";
  ExpectError(MakeProvider("carbon_aware_sdk", settings, parts), Code::kInvalidArgument, "signal");
}

TEST(RegistryTest, ListsEveryProviderWithWhatItNeeds) {
  EXPECT_EQ(Providers().size(), 7U);
  FakeTransport transport(Always(Ok("{}")));
  for (const ProviderInfo& info : Providers()) {
    const auto made =
        MakeProvider(info.name, TestSettings(info.name), {transport, TestZones(), TestFactors()});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ((*made)->Name(), info.name);
    EXPECT_TRUE((*made)->Abilities().history);
    EXPECT_EQ(MakeProvider(info.name, {}, {transport, TestZones(), TestFactors()}).has_value(),
              info.credential == Credential::kNone && !info.endpoint.empty())
        << info.name;
  }
  ExpectError(MakeProvider("co2signal", {}, {transport, TestZones(), TestFactors()}),
              Code::kNotFound, "electricity_maps");
}

TEST(RegistryTest, ZoneNamesMustNameZones) {
  FakeTransport transport(Always(Ok("{}")));
  ProviderSettings settings = TestSettings("eia");
  settings.zone_names = {{"US", "CISO"}};
  ExpectError(MakeProvider("eia", settings, {transport, TestZones(), TestFactors()}),
              Code::kInvalidArgument, "US=CISO");
}

}  // namespace
}  // namespace lowtide
