#include "grid/providers/watttime.h"

#include <thread>

#include "grid/providers/provider_test_support.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TimePoint kNow = At("2026-05-04T10:02Z");
const Zone kZone{"US-CAL-CISO"};
constexpr std::string_view kHtml = "<html><head><title>403 Forbidden</title></head></html>";

std::string Meta(std::string_view region, std::string_view extra = "") {
  return fmt::format(R"("meta":{{"data_point_period_seconds":300,"region":"{}","warnings":[],)"
                     R"("signal_type":"co2_moer","model":{{"date":"2025-10-01"}},)"
                     R"("units":"lbs_co2_per_mwh"{}}})",
                     region, extra);
}

std::string Points(TimePoint from, TimePoint to, double value = 900) {
  std::string rows;
  for (TimePoint at = from; at <= to; at += 5min) {
    rows += fmt::format(R"({}{{"point_time":"{}","value":{}}})", rows.empty() ? "" : ",",
                        FormatTime(at), value);
  }
  return "[" + rows + "]";
}

std::string Document(TimePoint from, TimePoint to, double value = 900,
                     std::string_view region = "CAISO_NORTH") {
  return fmt::format(R"({{"data":{},{}}})", Points(from, to, value),
                     Meta(region, fmt::format(R"(,"generated_at":"{}")", FormatTime(from))));
}

// Logs in whoever comes with the right password; a token lasts 30 minutes of `*clock`.
class Server {
 public:
  explicit Server(FakeTransport::Handler answer) : answer_(std::move(answer)) {}

  Result<HttpResponse> operator()(const HttpRequest& request) {
    if (Path(request) == "/login") {
      ++logins;
      EXPECT_EQ(Header(request, "Authorization"), "Basic YWRhOlNFQ1JFVCBwYXNzOjE=");
      return Ok(fmt::format(R"({{"token":"SECRET-token-{}"}})", logins));
    }
    if (Header(request, "Authorization") != fmt::format("Bearer SECRET-token-{}", logins) ||
        refuse > 0) {
      --refuse;
      return Reply(refuse_status, std::string(refuse_status == 403 ? kHtml : R"({"error":"x"})"));
    }
    return answer_(request);
  }

  int logins = 0;
  int refuse = 0;
  int refuse_status = 401;

 private:
  FakeTransport::Handler answer_;
};

FakeTransport::Handler Through(const std::shared_ptr<Server>& server) {
  return [server](const HttpRequest& request) { return (*server)(request); };
}

std::shared_ptr<Server> Serving(std::string body) {
  return std::make_shared<Server>(Always(Ok(std::move(body))));
}

// --- payload ---

TEST(WattTimePayloadTest, PoundsPerMegawattHourBecomeGramsPerKilowattHour) {
  const auto out = ParseWattTime(Document(kNow, kNow, 870));
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_NEAR(out->series.slots[0].value.v, 394.6253619, 1e-7);
  EXPECT_EQ(out->series.slots[0].to - out->series.slots[0].from, 5min);
  EXPECT_EQ(out->series.zone, "CAISO_NORTH");
  EXPECT_EQ(out->signal, "co2_moer");
  EXPECT_EQ(out->model, "2025-10-01");
  EXPECT_EQ(out->series.issued_at, kNow);
}

TEST(WattTimePayloadTest, APercentileIsNoIntensity) {
  const auto out =
      ParseWattTime(R"({"data":[{"point_time":"2026-05-04T10:00:00+00:00","value":96.0}],)"
                    R"("meta":{"region":"PSCO","units":"percentile"}})");
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, Code::kDataLoss);
  EXPECT_THAT(out.error().message, HasSubstr("percentile"));
}

TEST(WattTimePayloadTest, ImputedValuesAreEstimatesAndNullsAreGaps) {
  const auto out = ParseWattTime(
      R"({"data":[{"point_time":"2026-05-04T10:00:00+00:00","value":900,"imputed_data_used":true},)"
      R"({"point_time":"2026-05-04T10:05:00+00:00","value":null},)"
      R"({"point_time":"2026-05-04T10:10:00+00:00"},)"
      R"({"point_time":"2026-05-04T10:15:00+00:00","value":"800"}],)" +
      Meta("CAISO_NORTH") + "}");
  ASSERT_TRUE(out) << out.error().message;
  ASSERT_EQ(out->series.slots.size(), 2U);
  EXPECT_TRUE(out->series.slots[0].estimated);
  EXPECT_FALSE(out->series.slots[1].estimated);
  EXPECT_EQ(out->series.slots[0].to, At("2026-05-04T10:05Z"));
  EXPECT_EQ(out->series.missing, 2);
}

TEST(WattTimePayloadTest, HourlyRegionsKeepTheirHours) {
  const auto out = ParseWattTime(
      R"({"data":[{"point_time":"2026-05-04T10:00:00+00:00","value":900}],)"
      R"("meta":{"data_point_period_seconds":3600,"units":"lbs_co2_per_mwh","region":"X",)"
      R"("warnings":[{"type":"W","message":"stale model"}]}})");
  ASSERT_TRUE(out);
  EXPECT_EQ(out->series.slots[0].to - out->series.slots[0].from, 1h);
  EXPECT_THAT(out->series.notes, ElementsAre(HasSubstr("stale model")));
}

TEST(WattTimePayloadTest, WhatIsNoAnswerIsAnError) {
  for (const char* text :
       {"", "{}", "[]", R"({"data":[]})", R"({"data":{},"meta":{"units":"lbs_co2_per_mwh"}})",
        R"({"data":[1],"meta":{"units":"lbs_co2_per_mwh"}})",
        R"({"data":[{"value":1}],"meta":{"units":"lbs_co2_per_mwh"}})"}) {
    const auto out = ParseWattTime(text);
    ASSERT_FALSE(out) << text;
    EXPECT_EQ(out.error().code, Code::kDataLoss) << text;
  }
}

// --- client ---

TEST(WattTimeTest, OneLoginServesManyRequests) {
  const auto server = Serving(Document(At("2026-05-04T10:00Z"), kNow + 1h));
  Fake fake("watttime", Through(server));
  for (int i = 0; i < 3; ++i) {
    const auto answer = fake->Latest(kZone, kNow + i * 5min);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->signal, Signal::kMarginal);
    EXPECT_EQ(answer->basis, Basis::kDirect);
    EXPECT_EQ(answer->slots.size(), 1U);
    EXPECT_LE(answer->slots[0].from, kNow + i * 5min);
    EXPECT_TRUE(answer->slots[0].estimated);
  }
  EXPECT_EQ(server->logins, 1);
  EXPECT_EQ(fake.Sent().size(), 4U);
  const HttpRequest& request = fake.Sent()[1];
  EXPECT_EQ(request.url, "https://api.watttime.org/v3/forecast");
  EXPECT_EQ(Query(request, "region"), "CAISO_NORTH");
  EXPECT_EQ(Query(request, "signal_type"), "co2_moer");
  EXPECT_THAT(request.secret_names, Contains("Authorization"));
  EXPECT_THAT(request.secrets, Contains("SECRET-token-1"));
}

TEST(WattTimeTest, ATokenIsRenewedAfterTwentyFiveMinutes) {
  const auto server = Serving(Document(At("2026-05-04T10:00Z"), kNow + 1h));
  Fake fake("watttime", Through(server));
  ASSERT_TRUE(fake->Latest(kZone, kNow));
  ASSERT_TRUE(fake->Latest(kZone, kNow + 24min));
  EXPECT_EQ(server->logins, 1);
  ASSERT_TRUE(fake->Latest(kZone, kNow + 25min));
  EXPECT_EQ(server->logins, 2);
}

TEST(WattTimeTest, ARefusedTokenIsRenewedOnce) {
  for (const int status : {401, 403}) {  // the 403 is an HTML page
    const auto server = Serving(Document(At("2026-05-04T10:00Z"), kNow + 1h));
    server->refuse_status = status;
    server->refuse = 1;
    Fake fake("watttime", Through(server));
    EXPECT_TRUE(fake->Latest(kZone, kNow));
    EXPECT_EQ(server->logins, 2);
    server->refuse = 100;
    ExpectError(fake->Latest(kZone, kNow), Code::kPermissionDenied, "refused");
    EXPECT_EQ(server->logins, 3);  // and no more
  }
}

TEST(WattTimeTest, AScopeErrorIsThePlansAndNoReasonToLogIn) {
  const auto server = std::make_shared<Server>(Always(
      Reply(403, R"({"error":"Invalid query parameters","message":"Invalid scope. See plans."})")));
  Fake fake("watttime", Through(server));
  ExpectError(fake->Latest(kZone, kNow), Code::kPermissionDenied, "CAISO_NORTH");
  EXPECT_EQ(server->logins, 1);
}

TEST(WattTimeTest, AWrongPasswordIsSaidSo) {
  Fake fake("watttime", Always(Reply(403, std::string(kHtml))));
  ExpectError(fake->Latest(kZone, kNow), Code::kPermissionDenied, "password is not accepted");
  EXPECT_EQ(fake.Sent().size(), 1U);
}

TEST(WattTimeTest, ALoginWithoutTokenTellsNothingOfItsAnswer) {
  Fake fake("watttime", Always(Ok(R"({"toktok":"SECRET"})")));
  ExpectError(fake->Latest(kZone, kNow), Code::kDataLoss, "no token");
}

TEST(WattTimeTest, ThreadsShareALogin) {
  const auto server = Serving(Document(At("2026-05-04T10:00Z"), kNow + 1h));
  Fake fake("watttime", Through(server));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] { EXPECT_TRUE(fake->Latest(kZone, kNow)); });
    }
  }
  EXPECT_EQ(server->logins, 1);
}

TEST(WattTimeTest, HistoryIsAskedInPartsUnderThirtyTwoDays) {
  const auto server = std::make_shared<Server>([](const HttpRequest& request) {
    const TimePoint from = At(Query(request, "start"));
    const TimePoint to = At(Query(request, "end"));
    EXPECT_LT(to - from, 32 * 24h);
    EXPECT_EQ(Query(request, "include_imputed_marker"), "true");
    return Ok(Document(from, to));  // both ends inclusive
  });
  Fake fake("watttime", Through(server));
  const auto answer = fake->History(kZone, kNow - 70 * 24h, kNow - 1h, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(fake.Sent().size(), 4U);  // a login and three parts
  EXPECT_EQ(answer->slots.size(), 70U * 288 - 11);
  EXPECT_THAT(answer->notes, Not(Contains(HasSubstr("more than once"))));
}

TEST(WattTimeTest, AnHourOfZerosInADayOfOthersIsTrue) {
  const auto server = std::make_shared<Server>([](const HttpRequest& request) {
    const TimePoint from = At(Query(request, "start"));
    const TimePoint to = At(Query(request, "end"));
    if (to - from < 2h) return Ok(Document(from, to, 0));
    return Ok(Document(from, to, 900));
  });
  Fake fake("watttime", Through(server));
  const auto answer = fake->History(kZone, kNow - 1h, kNow, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->slots.front().value, GramsPerKwh(0));
}

TEST(WattTimeTest, ModelsAreNotJoined) {
  const auto server = std::make_shared<Server>([](const HttpRequest& request) {
    const TimePoint from = At(Query(request, "start"));
    std::string body = Document(from, At(Query(request, "end")));
    if (from > kNow - 40 * 24h) body.replace(body.find("2025-10-01"), 10, "2026-04-01");
    return Ok(std::move(body));
  });
  Fake fake("watttime", Through(server));
  ExpectError(fake->History(kZone, kNow - 60 * 24h, kNow, kNow), Code::kDataLoss, "2026-04-01");
}

TEST(WattTimeTest, PastForecastsComeInPartsEachAsItWasIssued) {
  const auto server = std::make_shared<Server>([](const HttpRequest& request) {
    const TimePoint from = At(Query(request, "start"));
    EXPECT_LT(At(Query(request, "end")) - from, 24h);
    const std::string one = fmt::format(R"({{"generated_at":"{}","forecast":{}}})",
                                        FormatTime(from), Points(from, from + 10min));
    return Ok(fmt::format(R"({{"data":[{}],{}}})", one, Meta("CAISO_NORTH")));
  });
  Fake fake("watttime", Through(server));
  const TimePoint from = At("2026-04-01T00:00Z");
  const auto answers = fake->PastForecasts(kZone, from, from + 47h, kNow);
  ASSERT_TRUE(answers) << answers.error().message;
  ASSERT_EQ(answers->size(), 6U);
  EXPECT_EQ((*answers)[0].issued_at, from);
  EXPECT_EQ((*answers)[1].issued_at, from + 8h);
  EXPECT_EQ((*answers)[0].slots.size(), 3U);
  EXPECT_EQ((*answers)[0].kind, IntensityKind::kForecast);
}

TEST(WattTimeTest, AZoneWithoutNameIsResolvedOnceAndTheRegionIsShown) {
  const auto server = std::make_shared<Server>([](const HttpRequest& request) {
    if (Path(request) == "/v3/region-from-loc") {
      EXPECT_EQ(Query(request, "latitude"), "39.95");
      return Ok(R"({"region":"PJM_EASTERN","region_full_name":"x","signal_type":"co2_moer"})");
    }
    return Ok(Document(At("2026-05-04T10:00Z"), kNow + 1h, 900, Query(request, "region")));
  });
  Fake fake("watttime", Through(server));
  const Zone pjm{"US-MIDA-PJM"};
  for (int i = 0; i < 2; ++i) {
    const auto answer = fake->Latest(pjm, kNow);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->provider_zone, "PJM_EASTERN");
    EXPECT_THAT(answer->notes, Contains(HasSubstr("Philadelphia")));
  }
  EXPECT_EQ(fake.Sent().size(), 4U);  // login, region, two forecasts
}

TEST(WattTimeTest, TheSettingsNameOfAZoneComesFirst) {
  ProviderSettings settings = TestSettings("watttime");
  settings.zone_names = {{"US-MIDA-PJM", "PJM_ROANOKE"}};
  const auto server = std::make_shared<Server>([](const HttpRequest& request) {
    return Ok(Document(At("2026-05-04T10:00Z"), kNow + 1h, 900, Query(request, "region")));
  });
  Fake fake("watttime", settings, Through(server));
  const auto answer = fake->Latest(Zone{"US-MIDA-PJM"}, kNow);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->provider_zone, "PJM_ROANOKE");
}

TEST(WattTimeTest, UncoveredCoordinatesAreNamed) {
  const auto server = std::make_shared<Server>(
      Always(Reply(404, R"({"error":"No coverage available for these coordinates and signal_type",)"
                        R"("latitude":"0","longitude":"0","signal_type":"co2_moer"})")));
  Fake fake("watttime", Through(server));
  ExpectError(fake->NameAt({0, 0}, kNow), Code::kNotFound, "No coverage");
  EXPECT_EQ(Query(fake.Sent()[1], "latitude"), "0");
}

TEST(WattTimeTest, TheAverageHasHistoryOnly) {
  ProviderSettings settings = TestSettings("watttime");
  settings.signal = Signal::kAverage;
  const auto server = std::make_shared<Server>([](const HttpRequest& request) {
    EXPECT_EQ(Query(request, "signal_type"), "co2_aoer");
    std::string body = Document(kNow - 1h, kNow);
    body.replace(body.find("co2_moer"), 8, "co2_aoer");
    return Ok(std::move(body));
  });
  Fake fake("watttime", settings, Through(server));
  EXPECT_FALSE(fake->Abilities().forecast);
  const auto answer = fake->History(kZone, kNow - 1h, kNow, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->signal, Signal::kAverage);
  ExpectError(fake->Forecast(kZone, kNow, kNow + 1h, kNow), Code::kUnimplemented, "average");
}

TEST(WattTimeTest, AnotherSignalOrRegionThanAskedIsNotUsed) {
  auto body = Document(At("2026-05-04T10:00Z"), kNow + 1h);
  body.replace(body.find("co2_moer"), 8, "co2_aoer");
  Fake signal("watttime", Through(Serving(body)));
  ExpectError(signal->Latest(kZone, kNow), Code::kDataLoss, "asked for co2_moer");
  Fake region("watttime",
              Through(Serving(Document(At("2026-05-04T10:00Z"), kNow + 1h, 900, "PJM_DC"))));
  ExpectError(region->Latest(kZone, kNow), Code::kDataLoss, "answered for 'PJM_DC'");
}

TEST(WattTimeTest, SettingsAreCheckedBeforeAnythingIsSent) {
  FakeTransport transport(Always(Ok("{}")));
  const ProviderParts parts{transport, TestZones(), TestFactors()};
  ProviderSettings settings;
  ExpectError(MakeProvider("watttime", settings, parts), Code::kInvalidArgument,
              "WATTTIME_PASSWORD");
  settings = TestSettings("watttime");
  settings.basis = Basis::kLifecycle;
  ExpectError(MakeProvider("watttime", settings, parts), Code::kInvalidArgument, "lifecycle");
  EXPECT_TRUE(transport.sent.empty());
}

}  // namespace
}  // namespace lowtide
