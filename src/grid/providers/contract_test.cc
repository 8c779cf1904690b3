// The providers against strict fake servers (tests/fakes/providers) over the loopback: the pitfalls
// of each service, beyond what the fakes' own tests ask.
#include <chrono>

#include "fakes/providers/fake_series.h"
#include "fakes/providers/provider_servers.h"
#include "grid/providers/provider_test_support.h"
#include "http/client.h"
#include "http/curl_transport.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ContractTest : public ::testing::Test {
 protected:
  static ProviderSettings Login(std::string_view name) {
    ProviderSettings settings;
    if (name == "electricity_maps") settings.key = "em-full";
    if (name == "entsoe") settings.key = "entsoe-token-0001";
    if (name == "eia") settings.key = "eia-key-0001";
    if (name == "watttime") settings.username = "ada";
    if (name == "watttime") settings.password = "lovelace-1815";
    if (name == "carbon_aware_sdk") settings.signal = Signal::kAverage;
    return settings;
  }

  std::unique_ptr<Provider> Make(std::string_view name, ProviderSettings settings) {
    settings.endpoint = fake_.Url(name);
    auto provider = MakeProvider(name, settings, {transport_, TestZones(), TestFactors()});
    EXPECT_TRUE(provider) << provider.error().message;
    return *std::move(provider);
  }
  std::unique_ptr<Provider> Make(std::string_view name) { return Make(name, Login(name)); }

  TimePoint now_ = At("2026-08-22T17:24:00Z");
  TimePoint hour_ = At("2026-08-22T17:00:00Z");
  ProviderServers fake_{{.now = now_}};
  RealClock clock_;
  CurlTransport transport_{clock_, {}};
  const Zone ciso_{"US-CAL-CISO"};
};

TEST_F(ContractTest, ElectricityMapsIsNotLeftToGuessTheZone) {
  fake_.Set("electricity_maps", "caller_zone", "US-NY-NYIS");
  ExpectError(Make("electricity_maps")->Latest(Zone{"XX-NOWHERE"}, now_), Code::kNotFound,
              "No recent data");
  const auto name = Make("electricity_maps")->NameAt({52.5, 13.4}, now_);
  ASSERT_TRUE(name) << name.error().message;
  EXPECT_EQ(*name, "DE");
}

TEST_F(ContractTest, ElectricityMapsTakesItsKeyInTheHeaderThatIsSet) {
  fake_.Set("electricity_maps", "key_header", "x-blobr-key");
  ExpectError(Make("electricity_maps")->Latest(Zone{"DE"}, now_), Code::kPermissionDenied, "key");
  ProviderSettings settings = Login("electricity_maps");
  settings.key_header = "X-BLOBR-KEY";
  EXPECT_TRUE(Make("electricity_maps", settings)->Latest(Zone{"DE"}, now_));
}

TEST_F(ContractTest, ElectricityMapsFreePlanHasTheLastDayOfALongerInterval) {
  ProviderSettings settings;
  settings.key = "em-free";
  const auto answer =
      Make("electricity_maps", settings)->History(Zone{"DE"}, now_ - 48h, now_, now_);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->slots, SizeIs(24));
  EXPECT_THAT(answer->notes, Contains(HasSubstr("only the last 24 hours")));
}

TEST_F(ContractTest, ABusyServiceIsAskedAgainThroughTheClientOnly) {
  HttpClient client(transport_, clock_, [] { return 0.01; }, {.first_pause = Seconds(0.01)});
  ProviderSettings settings = Login("electricity_maps");
  settings.endpoint = fake_.Url("electricity_maps");
  const auto provider =
      MakeProvider("electricity_maps", settings, {client, TestZones(), TestFactors()});
  ASSERT_TRUE(provider);
  fake_.Fault({{"kind", "status"}, {"status", 503}, {"times", 1}});
  EXPECT_TRUE((*provider)->Latest(Zone{"DE"}, now_));
  EXPECT_THAT(fake_.Requests("electricity_maps"), SizeIs(2));
  // A refusal is asked once: 4xx never loops.
  fake_.Fault({{"kind", "not_in_plan"}, {"times", 1}});
  EXPECT_FALSE((*provider)->Latest(Zone{"DE"}, now_));
  EXPECT_THAT(fake_.Requests("electricity_maps"), SizeIs(3));
}

TEST_F(ContractTest, WattTimesHtmlRefusalOfAnOldTokenRenewsItOnce) {
  fake_.Set("watttime", "refusal", "html");
  const auto provider = Make("watttime");
  ASSERT_TRUE(provider->Latest(ciso_, now_));
  fake_.Advance(31min);
  // By the old clock the token is still young: only the refusal tells.
  const auto answer = provider->Forecast(ciso_, now_ + 31min, now_ + 2h, now_ + 20min);
  EXPECT_TRUE(answer) << answer.error().message;
  const auto requests = fake_.Requests("watttime");
  EXPECT_EQ(std::ranges::count(requests, "/login", &FakeRequest::path), 2);
}

TEST_F(ContractTest, WattTimesCapsOnIntervalsAreKept) {
  const auto provider = Make("watttime");
  const auto history = provider->History(ciso_, now_ - 80 * 24h, now_ - 24h, now_);
  ASSERT_TRUE(history) << history.error().message;
  EXPECT_GE(history->slots.size(), 79U * 288);
  const auto past = provider->PastForecasts(ciso_, hour_ - 33h, hour_ - 24h, now_);
  ASSERT_TRUE(past) << past.error().message;
  EXPECT_GT(past->size(), 1U);
  for (const ProviderAnswer& forecast : *past) {
    EXPECT_GE(*forecast.issued_at, hour_ - 33h);
    EXPECT_LT(*forecast.issued_at, hour_ - 24h);
    EXPECT_EQ(forecast.slots.front().from, *forecast.issued_at);
  }
}

TEST_F(ContractTest, WattTimesRegionsComeFromCoordinatesToo) {
  const auto provider = Make("watttime");
  const auto name = provider->NameAt({37.34, -121.89}, now_);
  ASSERT_TRUE(name) << name.error().message;
  EXPECT_EQ(*name, "CAISO_NORTH");
  ExpectError(provider->NameAt({0, 0}, now_), Code::kNotFound, "covers nothing there");
}

TEST_F(ContractTest, WattTimesPastAverageIsAverage) {
  ProviderSettings settings = Login("watttime");
  settings.signal = Signal::kAverage;
  const auto answer = Make("watttime", settings)->History(ciso_, hour_ - 30h, hour_ - 24h, now_);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->signal, Signal::kAverage);
  const ProviderSlot& slot = answer->slots.front();
  EXPECT_NEAR(slot.value.v, fake_series::Direct("US-CAL-CISO", slot.from, slot.to).v, 0.05);
}

TEST_F(ContractTest, GreatBritainsRegionsAreObjectsOrArrays) {
  ProviderSettings settings;
  settings.zone_names = {{"GB", "13"}};
  const auto provider = Make("uk_carbon_intensity", settings);
  for (const char* const form : {"object", "array"}) {
    fake_.Set("uk_carbon_intensity", "regional_data", form);
    const auto answer = provider->Forecast(Zone{"GB"}, now_, now_ + 12h, now_);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->provider_zone, "13");
    EXPECT_THAT(answer->slots, SizeIs(25));  // from 17:00 to 05:30
  }
}

TEST_F(ContractTest, GreatBritainsShortAndEmptyForecastsAreNotPadded) {
  const auto provider = Make("uk_carbon_intensity");
  fake_.Fault({{"kind", "short"}, {"slots", 9}, {"times", 1}});
  const auto few = provider->Forecast(Zone{"GB"}, now_, now_ + 48h, now_);
  ASSERT_TRUE(few);
  EXPECT_LE(few->slots.size(), 9U);
  fake_.Fault({{"kind", "no_data"}, {"times", 1}});
  const auto none = provider->Forecast(Zone{"GB"}, now_, now_ + 48h, now_);
  ASSERT_TRUE(none);
  EXPECT_THAT(none->slots, SizeIs(0));
}

TEST_F(ContractTest, GreatBritainAtNewYearIsWhole) {
  const auto answer =
      Make("uk_carbon_intensity")
          ->History(Zone{"GB"}, At("2025-12-30T00:00Z"), At("2026-01-03T00:00Z"), now_);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->slots, SizeIs(4 * 48));
}

TEST_F(ContractTest, EnergyChartsNullsAreGapsAndItsEndIsTold) {
  fake_.Set("energy_charts", "deprecated", true);
  fake_.Fault({{"kind", "null"}, {"at", {10, 11}}, {"times", 1}});
  const auto answer = Make("energy_charts")->History(Zone{"DE"}, hour_ - 20h, hour_ - 8h, now_);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->missing, 2);
  EXPECT_THAT(answer->slots, SizeIs(46));
  EXPECT_THAT(answer->notes, Contains(HasSubstr("six months")));
}

TEST_F(ContractTest, DaysOfChangedClocksAreWholeInUtc) {
  for (const char* const day : {"2026-03-29T00:00Z", "2025-10-26T00:00Z"}) {
    const auto charts = Make("energy_charts")->History(Zone{"FR"}, At(day), At(day) + 24h, now_);
    ASSERT_TRUE(charts) << charts.error().message;
    EXPECT_THAT(charts->slots, SizeIs(24)) << day;
    const auto entsoe = Make("entsoe")->History(Zone{"FR"}, At(day), At(day) + 24h, now_);
    ASSERT_TRUE(entsoe) << entsoe.error().message;
    EXPECT_THAT(entsoe->slots, SizeIs(24)) << day;
  }
}

TEST_F(ContractTest, EntsoesLagNegativesAndRefusals) {
  const auto provider = Make("entsoe");
  fake_.Set("entsoe", "lag_hours", 16);
  const auto latest = provider->Latest(Zone{"FR"}, now_);
  ASSERT_TRUE(latest) << latest.error().message;
  ASSERT_THAT(latest->slots, SizeIs(1));
  EXPECT_LE(latest->slots[0].to, now_ - 15h);
  EXPECT_GE(latest->slots[0].to, now_ - 18h);
  fake_.Set("entsoe", "no_data_status", 400);
  ExpectError(provider->History(Zone{"FR"}, hour_ - 5h, hour_, now_), Code::kNotFound,
              "No matching data");
  fake_.Set("entsoe", "negatives", true);
  const auto negative = provider->History(Zone{"FR"}, hour_ - 40h, hour_ - 30h, now_);
  ASSERT_TRUE(negative) << negative.error().message;
  for (const ProviderSlot& slot : negative->slots) EXPECT_GT(slot.value.v, 10);
}

TEST_F(ContractTest, EiasNullsLagAndSuspension) {
  const auto provider = Make("eia");
  fake_.Set("eia", "lag_hours", 20);
  const auto latest = provider->Latest(ciso_, now_);
  ASSERT_TRUE(latest) << latest.error().message;
  EXPECT_LE(latest->slots[0].to, now_ - 19h);
  fake_.Set("eia", "lag_hours", 1);
  fake_.Fault({{"kind", "null"}, {"at", {0}}, {"times", 1}});
  const auto nulls = provider->History(ciso_, hour_ - 30h, hour_ - 24h, now_);
  ASSERT_TRUE(nulls) << nulls.error().message;
  EXPECT_EQ(nulls->missing, 1);
  EXPECT_THAT(nulls->slots, SizeIs(5));
  fake_.Fault({{"kind", "suspended"}, {"times", 1}});
  ExpectError(provider->Latest(ciso_, now_), Code::kUnavailable, "too often");
}

TEST_F(ContractTest, TheSdksNullIsMinusOneAndItsSourceMayBeMarginal) {
  fake_.Set("carbon_aware_sdk", "null_as_minus_one", true);
  ProviderSettings settings = Login("carbon_aware_sdk");
  settings.zone_names = {{"US-MIDA-PJM", "eastus"}};
  fake_.Fault({{"kind", "null"}, {"at", {3}}, {"times", 1}});
  const auto history =
      Make("carbon_aware_sdk", settings)->History(Zone{"US-MIDA-PJM"}, hour_ - 12h, hour_, now_);
  ASSERT_TRUE(history) << history.error().message;
  EXPECT_EQ(history->missing, 1);
  fake_.Reset();
  fake_.Set("carbon_aware_sdk", "source", "watttime");
  settings.signal = Signal::kMarginal;
  const auto forecast =
      Make("carbon_aware_sdk", settings)->Forecast(Zone{"US-MIDA-PJM"}, now_, now_ + 6h, now_);
  ASSERT_TRUE(forecast) << forecast.error().message;
  EXPECT_EQ(forecast->signal, Signal::kMarginal);
  const auto unknown = Make("carbon_aware_sdk")->Latest(Zone{"AF"}, now_);
  ExpectError(unknown, Code::kNotFound, "zone_names");
}

TEST_F(ContractTest, EveryServiceUnpluggedIsUnavailableAndNamed) {
  for (const ProviderInfo& info : Providers()) {
    const auto provider = Make(info.name);
    fake_.Unplug(info.name);
    const Zone zone{info.name == "eia" || info.name == "watttime" ? "US-CAL-CISO"
                    : info.name == "uk_carbon_intensity"          ? "GB"
                                                                  : "FR"};
    ExpectError(provider->Latest(zone, now_), Code::kUnavailable, info.name);
    fake_.Plug(info.name);
  }
}

}  // namespace
}  // namespace lowtide
