// The real clients against the fake providers: what one says, the other understands.
#include "fakes/providers/provider_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/providers/fake_series.h"
#include "grid/providers/provider_test_support.h"
#include "http/client.h"
#include "http/curl_transport.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

ProviderSettings Login(std::string_view name) {
  ProviderSettings settings;
  if (name == "electricity_maps") settings.key = "em-full";
  if (name == "entsoe") settings.key = "entsoe-token-0001";
  if (name == "eia") settings.key = "eia-key-0001";
  if (name == "watttime") settings.username = "ada";
  if (name == "watttime") settings.password = "lovelace-1815";
  if (name == "carbon_aware_sdk") settings.signal = Signal::kAverage;
  return settings;
}

class ProviderServersTest : public ::testing::Test {
 protected:
  std::unique_ptr<Provider> Make(std::string_view name, ProviderSettings settings) {
    settings.endpoint = fake_.Url(name);
    auto provider = MakeProvider(name, settings, {transport_, TestZones(), TestFactors()});
    if (!provider) throw std::runtime_error(provider.error().message);
    return *std::move(provider);
  }
  std::unique_ptr<Provider> Make(std::string_view name) { return Make(name, Login(name)); }

  // Each slot's value is `expected` of its interval, to `tolerance`.
  template <class F>
  static void ExpectValues(const Result<ProviderAnswer>& answer, std::size_t slots, F expected,
                           double tolerance) {
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_THAT(answer->slots, SizeIs(slots));
    for (const ProviderSlot& s : answer->slots) {
      EXPECT_NEAR(s.value.v, expected(s).v, tolerance) << FormatTime(s.from);
    }
  }

  TimePoint now_ = At("2026-08-22T17:24:00Z");
  TimePoint hour_ = At("2026-08-22T17:00:00Z");
  ProviderServers fake_{{.now = now_}};
  RealClock clock_;
  CurlTransport transport_{clock_, {}};
};

auto LifecycleOf(std::string_view key) {
  return [key](const ProviderSlot& s) { return fake_series::Lifecycle(key, s.from, s.to); };
}
auto DirectOf(std::string_view key) {
  return [key](const ProviderSlot& s) { return fake_series::Direct(key, s.from, s.to); };
}
auto MarginalOf(std::string_view key) {
  return [key](const ProviderSlot& s) { return fake_series::Marginal(key, s.from, s.to); };
}

TEST_F(ProviderServersTest, ElectricityMapsServesOneSeries) {
  for (const char* const version : {"v4", "v3"}) {
    ProviderSettings settings = Login("electricity_maps");
    settings.version = version;
    const auto provider = Make("electricity_maps", settings);
    const Zone zone{"DE"};
    const auto latest = provider->Latest(zone, now_);
    ASSERT_TRUE(latest) << latest.error().message;
    ASSERT_THAT(latest->slots, SizeIs(1));
    const ProviderSlot& slot = latest->slots[0];
    EXPECT_EQ(slot.from, hour_);
    EXPECT_TRUE(slot.estimated);
    EXPECT_NEAR(slot.value.v,
                fake_series::Lifecycle("DE", slot.from, slot.to).v + fake_series::kEstimateError,
                0.5);
    ExpectValues(provider->History(zone, now_ - 300h, now_ - 30h, now_), 271, LifecycleOf("DE"),
                 0.5);
    ExpectValues(
        provider->Forecast(zone, hour_, hour_ + 24h, now_), 24,
        [this](const ProviderSlot& s) {
          return fake_series::Lifecycle("DE", s.from, s.to) +
                 fake_series::ForecastError(s.from, hour_, 1h);
        },
        0.5);
  }
}

TEST_F(ProviderServersTest, WattTimeServesTheMarginalInPounds) {
  const auto provider = Make("watttime");
  const Zone zone{"US-CAL-CISO"};
  ExpectValues(provider->History(zone, now_ - 72h, now_ - 48h, now_), 289,
               MarginalOf("US-CAL-CISO"), 0.05);
  ExpectValues(
      provider->Forecast(zone, now_, now_ + 24h, now_), 288,
      [](const ProviderSlot& s) {
        return fake_series::Marginal("US-CAL-CISO", s.from, s.to) +
               fake_series::ForecastError(s.from, At("2026-08-22T17:20:00Z"), 5min);
      },
      10.0);
  EXPECT_THAT(fake_.Requests("watttime")[0].path, "/login");
}

TEST_F(ProviderServersTest, WattTimesTokenEndsAfterHalfAnHour) {
  const auto provider = Make("watttime");
  const Zone zone{"US-CAL-CISO"};
  ASSERT_TRUE(provider->Forecast(zone, now_, now_ + 1h, now_));
  fake_.Advance(Seconds(31 * 60));
  // The client's own clock says nothing of it: it is told by the refusal, once in either form.
  for (const char* const form : {"json", "html"}) {
    fake_.Set("watttime", "refusal", form);
    const auto answer = provider->Forecast(zone, now_, now_ + 1h, now_);
    EXPECT_TRUE(answer) << answer.error().message;
    fake_.Advance(Seconds(31 * 60));
  }
  const auto log = fake_.Requests("watttime");
  EXPECT_EQ(std::ranges::count(log, "/login", &FakeRequest::path), 3);
}

TEST_F(ProviderServersTest, GreatBritainServesTheNationAndItsRegions) {
  const auto national = Make("uk_carbon_intensity");
  ExpectValues(national->History(Zone{"GB"}, hour_ - 24h, hour_ - 1h, now_), 46, DirectOf("GB"),
               0.5);
  ProviderSettings settings;
  settings.zone_names = {{"GB", "13"}};
  for (const char* const form : {"object", "array"}) {
    fake_.Set("uk_carbon_intensity", "regional_data", form);
    const auto london = Make("uk_carbon_intensity", settings);
    ExpectValues(london->Forecast(Zone{"GB"}, hour_, hour_ + 24h, now_), 48, DirectOf("GB-13"),
                 5.5);
  }
}

TEST_F(ProviderServersTest, EnergyChartsServesWhatIsMeasuredAndTheRestOfTheDay) {
  const auto provider = Make("energy_charts");
  ExpectValues(provider->History(Zone{"DE"}, hour_ - 48h, hour_ - 24h, now_), 96, LifecycleOf("DE"),
               0.06);
  const auto forecast = provider->Forecast(Zone{"FR"}, now_, now_ + 48h, now_);
  ASSERT_TRUE(forecast) << forecast.error().message;
  EXPECT_EQ(forecast->slots.back().to, At("2026-08-23T22:00:00Z")) << "it is past 19:00 there";
}

TEST_F(ProviderServersTest, EntsoeServesAMixThatComesToTheSameIntensity) {
  const auto provider = Make("entsoe");
  for (const char* const curve : {"A01", "A03"}) {
    fake_.Set("entsoe", "curve", curve);
    ExpectValues(provider->History(Zone{"FI"}, hour_ - 24h, hour_ - 12h, now_), 48,
                 LifecycleOf("FI"), 0.05);
  }
  fake_.Set("entsoe", "mixed_resolution", true);
  ExpectValues(provider->History(Zone{"FR"}, hour_ - 24h, hour_ - 12h, now_), 6 + 24,
               LifecycleOf("FR"), 0.05);
  fake_.Set("entsoe", "lag_hours", 16);
  const auto empty = provider->History(Zone{"FR"}, hour_ - 5h, hour_, now_);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, Code::kNotFound);
}

TEST_F(ProviderServersTest, EiaServesAMixThatComesToTheSameIntensity) {
  const auto provider = Make("eia");
  for (const char* const form : {"string", "number"}) {
    fake_.Set("eia", "values", form);
    ExpectValues(provider->History(Zone{"US-CAL-CISO"}, hour_ - 48h, hour_ - 24h, now_), 24,
                 LifecycleOf("US-CAL-CISO"), 0.1);
  }
  fake_.Reset();
  // 40 days of six fuels are more than one answer may hold.
  ExpectValues(provider->History(Zone{"US-CAL-CISO"}, hour_ - 960h, hour_ - 24h, now_), 936,
               LifecycleOf("US-CAL-CISO"), 0.1);
  EXPECT_THAT(fake_.Requests("eia"), SizeIs(2));
}

TEST_F(ProviderServersTest, TheSdkServesItsOwnSource) {
  ProviderSettings settings = Login("carbon_aware_sdk");
  settings.zone_names = {{"US-MIDA-PJM", "eastus"}};
  const auto provider = Make("carbon_aware_sdk", settings);
  ExpectValues(provider->History(Zone{"US-MIDA-PJM"}, hour_ - 24h, hour_, now_), 24,
               LifecycleOf("US-MIDA-PJM"), 1e-6);
  const auto forecast = provider->Forecast(Zone{"US-MIDA-PJM"}, now_, now_ + 24h, now_);
  ASSERT_TRUE(forecast) << forecast.error().message;
  EXPECT_THAT(forecast->slots, SizeIs(25));
}

TEST_F(ProviderServersTest, ABadKeyIsRefusedByAllThatHaveOne) {
  for (const char* const name : {"electricity_maps", "watttime", "entsoe", "eia"}) {
    ProviderSettings settings = Login(name);
    (settings.key.empty() ? settings.password : settings.key) = "WRONG-SECRET";
    const auto answer = Make(name, settings)
                            ->History(Zone{name[0] == 'w' || name[1] == 'i' ? "US-CAL-CISO" : "FI"},
                                      hour_ - 24h, hour_ - 20h, now_);
    ExpectError(answer, Code::kPermissionDenied, "not accepted");
  }
}

TEST_F(ProviderServersTest, PlansAreTold) {
  ProviderSettings settings;
  settings.key = "em-free";
  const auto maps = Make("electricity_maps", settings);
  ASSERT_TRUE(maps->Latest(Zone{"DE"}, now_));
  ExpectError(maps->History(Zone{"DE"}, now_ - 200h, now_ - 100h, now_), Code::kPermissionDenied,
              "plan");
  settings = {};
  settings.username = "free";
  settings.password = "free-of-charge";
  const auto watttime = Make("watttime", settings);
  ASSERT_TRUE(watttime->Forecast(Zone{"US-CAL-CISO"}, now_, now_ + 1h, now_));
  ExpectError(watttime->Forecast(Zone{"US-TEX-ERCO"}, now_, now_ + 1h, now_),
              Code::kPermissionDenied, "plan");
}

TEST_F(ProviderServersTest, EveryFaultOfTheAnswerBecomesAnError) {
  const auto provider = Make("electricity_maps");
  const std::vector<std::pair<Json, Code>> faults = {
      {{{"kind", "status"}, {"status", 503}}, Code::kUnavailable},
      {{{"kind", "rate_limit"}, {"retry_after_s", 5}}, Code::kUnavailable},
      {{{"kind", "bad_key"}}, Code::kPermissionDenied},
      {{{"kind", "not_in_plan"}}, Code::kPermissionDenied},
      {{{"kind", "html_403"}}, Code::kPermissionDenied},
      {{{"kind", "hang_up"}}, Code::kUnavailable},
      {{{"kind", "cut_off"}}, Code::kUnavailable},
      {{{"kind", "truncated_json"}}, Code::kDataLoss},
      {{{"kind", "html"}}, Code::kDataLoss},
      {{{"kind", "empty"}}, Code::kDataLoss},
      {{{"kind", "error_in_200"}}, Code::kUnavailable},
      {{{"kind", "huge"}, {"bytes", 17 << 20}, {"gzip", true}}, Code::kResourceExhausted},
      {{{"kind", "redirect"}, {"to_provider", "watttime"}}, Code::kUnavailable},
      {{{"kind", "null"}, {"at", {0}}}, Code::kNotFound},
      {{{"kind", "other_zone"}, {"zone", "FR"}}, Code::kDataLoss},
      {{{"kind", "no_data"}}, Code::kNotFound},
  };
  for (auto [rule, code] : faults) {
    // A connection that was kept and has ended is no failure: libcurl asks again on a new one.
    rule["times"] = rule["kind"] == "hang_up" ? 2 : 1;
    fake_.Fault(rule);
    const auto answer = provider->Latest(Zone{"DE"}, now_);
    ASSERT_FALSE(answer) << rule.dump();
    EXPECT_STREQ(CodeName(answer.error().code), CodeName(code))
        << rule.dump() << answer.error().message;
    EXPECT_THAT(answer.error().message, Not(HasSubstr("em-full")));
    const auto after = provider->Latest(Zone{"DE"}, now_);
    EXPECT_TRUE(after) << rule.dump() << ": it should have happened once";
  }
  EXPECT_THAT(fake_.Requests("watttime"), IsEmpty()) << "keys were taken to another host";
}

TEST_F(ProviderServersTest, WhatIsOnlyOddIsUnderstood) {
  const auto provider = Make("electricity_maps");
  for (Json rule : {Json{{"kind", "gzip"}}, Json{{"kind", "chunked"}}, Json{{"kind", "bom"}},
                    Json{{"kind", "close"}}, Json{{"kind", "clock_skew"}, {"seconds", -86400}},
                    Json{{"kind", "slow"}, {"delay_s", 0.05}, {"bytes_per_s", 5000}}}) {
    rule["times"] = 1;
    fake_.Fault(rule);
    const auto answer = provider->Latest(Zone{"DE"}, now_);
    EXPECT_TRUE(answer) << rule.dump() << ": " << answer.error().message;
  }
}

TEST_F(ProviderServersTest, FaultsOfTheSeriesStayFaults) {
  const auto provider = Make("electricity_maps");
  const auto history = [&] { return provider->History(Zone{"DE"}, hour_ - 20h, hour_, now_); };
  fake_.Fault({{"kind", "null"}, {"at", {5, 6}}, {"times", 1}});
  auto answer = history();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->missing, 2);
  EXPECT_THAT(answer->slots, SizeIs(18));
  fake_.Fault({{"kind", "gap"}, {"at", {5}}, {"times", 1}});
  EXPECT_THAT(history()->slots, SizeIs(19));
  fake_.Fault({{"kind", "duplicate"}, {"at", {5}}, {"times", 1}});
  answer = history();
  EXPECT_THAT(answer->slots, SizeIs(20));
  EXPECT_THAT(answer->notes, Each(HasSubstr("more than once")));
  fake_.Fault({{"kind", "reverse"}, {"times", 1}});
  EXPECT_THAT(history()->slots, SizeIs(20));
  fake_.Fault({{"kind", "stale"}, {"hours", 6}, {"times", 1}});
  EXPECT_EQ(history()->slots.back().to, hour_ - 5h);
}

TEST_F(ProviderServersTest, ADayOfZerosIsAnOutage) {
  fake_.Fault({{"kind", "zeros"}, {"path", "/v3/forecast"}});
  ExpectError(Make("watttime")->Forecast(Zone{"US-CAL-CISO"}, now_, now_ + 24h, now_),
              Code::kUnavailable, "outage");
}

TEST_F(ProviderServersTest, ARenamedZoneHasNoDataUnderItsOldName) {
  fake_.Set("electricity_maps", "renamed", {{"FR", "FR-NEW"}});
  ExpectError(Make("electricity_maps")->Latest(Zone{"FR"}, now_), Code::kNotFound, "FR");
}

TEST_F(ProviderServersTest, ThePlugCanBePulledAndPutBack) {
  const auto provider = Make("electricity_maps");
  ASSERT_TRUE(provider->Latest(Zone{"DE"}, now_));
  fake_.Unplug("electricity_maps");
  ExpectError(provider->Latest(Zone{"DE"}, now_), Code::kUnavailable, "127.0.0.1");
  EXPECT_TRUE(Make("energy_charts")->History(Zone{"DE"}, hour_ - 9h, hour_ - 8h, now_));
  fake_.Plug("electricity_maps");
  EXPECT_TRUE(provider->Latest(Zone{"DE"}, now_));
}

TEST_F(ProviderServersTest, StrangeParametersAreRefusedByAll) {
  const std::vector<std::pair<std::string, std::string>> paths = {
      {"electricity_maps", "/v4/carbon-intensity/latest"},
      {"uk_carbon_intensity", "/intensity"},
      {"energy_charts", "/co2eq"},
      {"entsoe", "/api"},
      {"eia", "/v2/electricity/rto/fuel-type-data/data/"},
      {"carbon_aware_sdk", "/emissions/bylocation"},
  };
  for (const auto& [name, path] : paths) {
    HttpRequest request;
    request.url = fake_.Url(name) + path;
    request.headers = {{"auth-token", "em-full"}};
    if (name == "entsoe") request.query.emplace_back("securityToken", "entsoe-token-0001");
    if (name == "eia") request.query.emplace_back("api_key", "eia-key-0001");
    request.query.emplace_back("surprise", "1");
    const auto response = transport_.Send(request);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_TRUE(response->status == 400 || response->status == 422)
        << name << ": " << response->status << " " << response->body;
  }
}

TEST_F(ProviderServersTest, WhatIsKnownIsNotSentAgain) {
  for (const auto* by : {"etag", "date"}) {
    fake_.Reset();
    fake_.SetNow(now_);
    fake_.Fault({{"kind", "validators"}, {"by", by}});
    HttpClient client(transport_, clock_, [] { return 0.5; });
    HttpRequest request;
    request.url = fake_.Url("uk_carbon_intensity") + "/intensity";
    const auto first = client.Send(request);
    const auto same = client.Send(request);
    fake_.Advance(Seconds(1800));
    const auto next = client.Send(request);
    ASSERT_TRUE(first && same && next) << by;
    EXPECT_EQ(same->status, 200) << by;
    EXPECT_EQ(same->body, first->body) << by;
    EXPECT_NE(next->body, first->body) << by;
    const auto log = fake_.Requests();
    ASSERT_THAT(log, SizeIs(3)) << by;
    EXPECT_EQ(log[1].status, 304) << by;
    EXPECT_EQ(log[2].status, 200) << by;
  }
}

TEST_F(ProviderServersTest, ALimitEndsWithTheServersTime) {
  fake_.Set("uk_carbon_intensity", "limit_per_minute", 1);
  HttpRequest request;
  request.url = fake_.Url("uk_carbon_intensity") + "/intensity";
  const auto status = [&] {
    const auto response = transport_.Send(request);
    return response ? response->status : 0;
  };
  EXPECT_EQ(status(), 200);
  fake_.Advance(Seconds(59));
  EXPECT_EQ(status(), 429);
  fake_.Advance(Seconds(1));
  EXPECT_EQ(status(), 200);
}

TEST_F(ProviderServersTest, WrongCommandsAreRefused) {
  EXPECT_THROW(fake_.Fault({{"kind", "null"}, {"at", 0}}), std::runtime_error);
  EXPECT_THROW(fake_.Set("entsoe", "curve", "A3"), std::runtime_error);
  EXPECT_THROW(fake_.Fault({{"kind", "earthquake"}}), std::runtime_error);
  EXPECT_THROW(fake_.Fault({{"kind", "slow"}}), std::runtime_error);
  EXPECT_THROW(fake_.Fault({{"kind", "gzip"}, {"provider", "nobody"}}), std::runtime_error);
  EXPECT_THROW(fake_.Set("eia", "no_such_setting", 1), std::runtime_error);
  EXPECT_THROW(fake_.Unplug("nobody"), std::runtime_error);
  EXPECT_THROW(static_cast<void>(fake_.Url("nobody")), std::runtime_error);
}

}  // namespace
}  // namespace lowtide
