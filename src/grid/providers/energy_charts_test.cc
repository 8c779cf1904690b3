#include "grid/providers/energy_charts.h"

#include "grid/providers/provider_test_support.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TimePoint kNow = At("2026-05-04T10:20Z");
const Zone kZone{"DE"};

// 1777888800 is 2026-05-04T10:00Z.
constexpr std::string_view kQuarters =
    R"({"unix_seconds":[1777887000,1777887900,1777888800,1777889700,1777890600],)"
    R"("co2eq":[322,314.7,null,null,null],"co2eq_forecast":[320,null,140,139.2,null]})";

TEST(EnergyChartsPayloadTest, MeasuredThenForecastThenGap) {
  const auto out = ParseEnergyCharts(kQuarters, EnergyChartsValues::kActual);
  ASSERT_TRUE(out) << out.error().message;
  ASSERT_EQ(out->slots.size(), 4U);
  EXPECT_EQ(out->slots[0], (ProviderSlot{At("2026-05-04T09:30Z"), At("2026-05-04T09:45Z"),
                                         GramsPerKwh(322), false}));
  EXPECT_TRUE(out->slots[2].estimated);
  EXPECT_EQ(out->missing, 1);
  const auto forecast = ParseEnergyCharts(kQuarters, EnergyChartsValues::kForecast);
  EXPECT_EQ(forecast->slots.size(), 3U);
  EXPECT_EQ(forecast->slots[0].value, GramsPerKwh(320));
  EXPECT_FALSE(forecast->slots[0].estimated);
  EXPECT_EQ(forecast->missing, 2);
}

TEST(EnergyChartsPayloadTest, TheStepComesFromTheTimes) {
  const auto out = ParseEnergyCharts(
      R"({"unix_seconds":[1777888800,1777892400],"co2eq":[50,60],"co2eq_forecast":[null,null],)"
      R"("deprecated":true})",
      EnergyChartsValues::kActual);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->slots[1].to - out->slots[1].from, 1h);
  EXPECT_THAT(out->notes, ElementsAre(HasSubstr("six months")));
}

TEST(EnergyChartsPayloadTest, WhatIsNoAnswerIsAnError) {
  for (const char* text :
       {"", "[]", "{}", R"({"unix_seconds":[1,2],"co2eq":[1]})", R"({"unix_seconds":[1,2]})",
        R"({"unix_seconds":[null,2],"co2eq":[1,2]})", R"({"unix_seconds":[1e300,2],"co2eq":[1,2]})",
        R"({"unix_seconds":[-5,2],"co2eq":[1,2]})", R"({"unix_seconds":[5],"co2eq":[1]})",
        R"({"unix_seconds":[1,2],"co2eq":7})"}) {
    const auto out = ParseEnergyCharts(text, EnergyChartsValues::kActual);
    ASSERT_FALSE(out) << text;
    EXPECT_EQ(out.error().code, Code::kDataLoss) << text;
  }
}

TEST(EnergyChartsTest, LatestAsksForTheCountry) {
  Fake fake("energy_charts", Always(Ok(std::string(kQuarters))));
  const auto answer = fake->Latest(kZone, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(fake.Sent()[0].url, "https://api.energy-charts.info/co2eq");
  EXPECT_EQ(Query(fake.Sent()[0], "country"), "de");
  EXPECT_EQ(Query(fake.Sent()[0], "start"), "2026-05-04T04:00:00Z");
  EXPECT_THAT(answer->slots,
              ElementsAre(ProviderSlot{At("2026-05-04T10:15Z"), At("2026-05-04T10:30Z"),
                                       GramsPerKwh(139.2), true}));
  EXPECT_EQ(answer->basis, Basis::kUnstated);
}

TEST(EnergyChartsTest, AForecastHasWhatThereIs) {
  Fake fake("energy_charts", Always(Ok(std::string(kQuarters))));
  const auto answer = fake->Forecast(kZone, kNow, kNow + 48h, kNow);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->slots.size(), 1U);
  EXPECT_EQ(answer->slots[0].to, At("2026-05-04T10:30Z"));
}

TEST(EnergyChartsTest, HistoryIsAskedByTheMonth) {
  Fake fake("energy_charts", [](const HttpRequest& request) {
    const auto from = UnixMillis(At(Query(request, "start"))) / 1000;
    const auto to = UnixMillis(At(Query(request, "end"))) / 1000;
    std::string times;
    std::string values;
    for (auto at = from; at < to; at += 3600) {
      times += fmt::format("{}{}", times.empty() ? "" : ",", at);
      values += fmt::format("{}{}", values.empty() ? "" : ",", 40);
    }
    return Ok(fmt::format(R"({{"unix_seconds":[{}],"co2eq":[{}],"co2eq_forecast":null}})", times,
                          values));
  });
  const auto answer = fake->History(Zone{"FR"}, kNow - 65 * 24h, kNow - 1h, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(fake.Sent().size(), 3U);
  EXPECT_EQ(answer->slots.size(), 65U * 24);
  EXPECT_TRUE(answer->notes.empty());
}

TEST(EnergyChartsTest, SubZonesAreNotAnsweredWithTheirCountry) {
  Fake fake("energy_charts", Always(Ok(std::string(kQuarters))));
  ExpectError(fake->Latest(Zone{"SE-SE3"}, kNow), Code::kNotFound, "does not cover");
  EXPECT_TRUE(fake.Sent().empty());
}

TEST(EnergyChartsTest, ABadRequestIsTold) {
  Fake fake("energy_charts",
            Always(Reply(422, R"({"detail":[{"loc":["query","country"],"msg":"unknown"}]})")));
  ExpectError(fake->Latest(kZone, kNow), Code::kUnavailable, "unknown: query: country");
}

}  // namespace
}  // namespace lowtide
