#include "grid/providers/uk_carbon_intensity.h"

#include "grid/providers/provider_test_support.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TimePoint kNow = At("2026-05-04T10:20Z");
const Zone kZone{"GB"};

std::string Minutes(TimePoint t) { return FormatTime(t).substr(0, 16) + "Z"; }

std::string Slot(TimePoint from, std::string_view actual, double forecast = 200) {
  return fmt::format(
      R"({{"from":"{}","to":"{}","intensity":{{"forecast":{},"actual":{},"index":"moderate"}}}})",
      Minutes(from), Minutes(from + 30min), forecast, actual);
}

std::string RegionalSlot(TimePoint from, double forecast) {
  return fmt::format(R"({{"from":"{}","to":"{}","intensity":{{"forecast":{},"index":"low"}},)"
                     R"("generationmix":[{{"fuel":"gas","perc":0}}]}})",
                     Minutes(from), Minutes(from + 30min), forecast);
}

// Answers for the interval in the path, measured up to `kNow`.
Result<HttpResponse> National(const HttpRequest& request) {
  const std::string path = Path(request);
  const auto slash = path.rfind('/');
  const TimePoint from = At(path.substr(slash - 17, 17));
  const TimePoint to = At(path.substr(slash + 1, 17));
  std::string rows;
  // The service begins with the slot that ends at `from`.
  for (TimePoint at = from - 30min; at < to; at += 30min) {
    rows += (rows.empty() ? "" : ",") + Slot(at, at + 60min <= kNow ? "150" : "null");
  }
  return Ok(R"({"data":[)" + rows + "]}");
}

TEST(UkPayloadTest, ActualIsPreferredAndItsAbsenceMarked) {
  const std::string text =
      R"({"data":[)" + Slot(kNow, "206") + "," + Slot(kNow + 30min, "null") + "]}";
  const auto actual = ParseUkCarbonIntensity(text, UkValues::kActual);
  ASSERT_TRUE(actual);
  EXPECT_EQ(actual->zone, "national");
  EXPECT_THAT(
      actual->slots,
      ElementsAre(
          ProviderSlot{At("2026-05-04T10:20Z"), At("2026-05-04T10:50Z"), GramsPerKwh(206), false},
          ProviderSlot{At("2026-05-04T10:50Z"), At("2026-05-04T11:20Z"), GramsPerKwh(200), true}));
  const auto forecast = ParseUkCarbonIntensity(text, UkValues::kForecast);
  EXPECT_EQ(forecast->slots[0].value, GramsPerKwh(200));
  EXPECT_FALSE(forecast->slots[0].estimated);
}

TEST(UkPayloadTest, ARegionIsAnObjectOrAnArray) {
  const std::string region =
      R"({"regionid":13,"dnoregion":"UKPN London","shortname":"London","data":[)" +
      RegionalSlot(kNow, 134) + "]}";
  for (const std::string& text : {R"({"data":)" + region + "}", R"({"data":[)" + region + "]}"}) {
    const auto out = ParseUkCarbonIntensity(text, UkValues::kForecast);
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_EQ(out->zone, "13");
    EXPECT_EQ(out->slots.size(), 1U);
  }
}

TEST(UkPayloadTest, NoDataHasTwoShapes) {
  for (const char* text : {R"({"data":[]})", "{}"}) {
    const auto out = ParseUkCarbonIntensity(text, UkValues::kActual);
    ASSERT_TRUE(out) << text;
    EXPECT_TRUE(out->slots.empty());
  }
}

TEST(UkPayloadTest, WhatIsNoAnswerIsAnError) {
  for (const char* text : {"", "[]", R"({"data":7})", R"({"data":[7]})", R"({"datum":[]})",
                           R"({"data":[{"from":"2026-05-04T10:00Z"}]})",
                           R"({"data":[{"from":"2026-05-04T10:00Z","to":"2026-05-04T10:00Z"}]})",
                           R"({"data":[{"regionid":1,"data":[]},{"regionid":2,"data":[]}]})"}) {
    const auto out = ParseUkCarbonIntensity(text, UkValues::kActual);
    ASSERT_FALSE(out) << text;
    EXPECT_EQ(out.error().code, Code::kDataLoss) << text;
  }
}

TEST(UkCarbonIntensityTest, LatestIsTheSlotOfNow) {
  Fake fake("uk_carbon_intensity", National);
  const auto answer = fake->Latest(kZone, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(Path(fake.Sent()[0]), "/intensity/2026-05-04T09:30Z/2026-05-04T11:00Z");
  EXPECT_THAT(answer->slots,
              ElementsAre(ProviderSlot{At("2026-05-04T10:00Z"), At("2026-05-04T10:30Z"),
                                       GramsPerKwh(200), true}));
  EXPECT_EQ(answer->signal, Signal::kAverage);
  EXPECT_EQ(answer->basis, Basis::kDirect);
  EXPECT_EQ(answer->provider_zone, "national");
}

TEST(UkCarbonIntensityTest, HistoryIsChunkedAndNotAcrossNewYear) {
  Fake fake("uk_carbon_intensity", National);
  const auto answer = fake->History(kZone, At("2025-12-24T00:00Z"), At("2026-01-10T00:00Z"), kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  std::vector<std::string> paths;
  for (const HttpRequest& request : fake.Sent()) paths.push_back(Path(request));
  EXPECT_THAT(paths, ElementsAre("/intensity/2025-12-24T00:00Z/2026-01-01T00:00Z",
                                 "/intensity/2026-01-01T00:00Z/2026-01-03T00:00Z",
                                 "/intensity/2026-01-03T00:00Z/2026-01-10T00:00Z"));
  EXPECT_EQ(answer->slots.size(), 17U * 48);
  EXPECT_FALSE(answer->slots.front().estimated);
  EXPECT_TRUE(answer->notes.empty());
}

TEST(UkCarbonIntensityTest, PartsThatMeetAtNewYearShareNoDuplicate) {
  Fake fake("uk_carbon_intensity", National);
  const auto answer = fake->History(kZone, At("2025-12-31T22:00Z"), At("2026-01-01T02:00Z"), kNow);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->slots.size(), 8U);
  EXPECT_TRUE(answer->notes.empty());
}

TEST(UkCarbonIntensityTest, AnEmptyOrEndlessIntervalIsRefused) {
  Fake fake("uk_carbon_intensity", National);
  ExpectError(fake->History(kZone, kNow, kNow, kNow), Code::kInvalidArgument, "is empty");
  ExpectError(fake->History(kZone, kNow - 200 * 240h, kNow, kNow), Code::kInvalidArgument,
              "at most 200");
  EXPECT_TRUE(fake.Sent().empty());
}

TEST(UkCarbonIntensityTest, HistoryEndsNow) {
  Fake fake("uk_carbon_intensity", National);
  const auto answer = fake->History(kZone, kNow - 2h, kNow + 5h, kNow);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->slots.back().from, At("2026-05-04T10:00Z"));
}

TEST(UkCarbonIntensityTest, ARegionHasItsOwnPath) {
  ProviderSettings settings;
  settings.zone_names = {{"GB", "13"}};
  Fake fake("uk_carbon_intensity", settings,
            Always(Ok(R"({"data":{"regionid":13,"data":[)" + RegionalSlot(kNow - 20min, 0) + "," +
                      RegionalSlot(kNow + 10min, 0) + "]}}")));
  const auto answer = fake->Forecast(kZone, kNow, kNow + 24h, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(Path(fake.Sent()[0]),
            "/regional/intensity/2026-05-04T10:00Z/2026-05-05T10:30Z/regionid/13");
  EXPECT_EQ(answer->slots.size(), 2U);  // wind alone: 0 is a value here
  EXPECT_EQ(answer->kind, IntensityKind::kForecast);
}

TEST(UkCarbonIntensityTest, AnotherRegionThanAskedIsNotUsed) {
  ProviderSettings settings;
  settings.zone_names = {{"GB", "13"}};
  Fake fake("uk_carbon_intensity", settings,
            Always(Ok(R"({"data":{"regionid":3,"data":[)" + RegionalSlot(kNow, 1) + "]}}")));
  ExpectError(fake->Forecast(kZone, kNow, kNow + 1h, kNow), Code::kDataLoss, "answered for '3'");
}

TEST(UkCarbonIntensityTest, OtherZonesAreNotCovered) {
  Fake fake("uk_carbon_intensity", National);
  ExpectError(fake->Latest(Zone{"DE"}, kNow), Code::kNotFound, "it covers GB");
  EXPECT_TRUE(fake.Sent().empty());
}

TEST(UkCarbonIntensityTest, SettingsAreCheckedBeforeAnythingIsSent) {
  FakeTransport transport(Always(Ok("{}")));
  const ProviderParts parts{transport, TestZones(), TestFactors()};
  for (const char* name : {"18", "0", "London", "1.5", "01"}) {
    ProviderSettings settings;
    settings.zone_names = {{"GB", name}};
    ExpectError(MakeProvider("uk_carbon_intensity", settings, parts), Code::kInvalidArgument,
                "1 to 17");
  }
}

}  // namespace
}  // namespace lowtide
