// Providers through the real client, over the loopback: what a server gets to see, and what becomes
// of its faults.
#include <atomic>

#include "grid/providers/provider_test_support.h"
#include "http/client.h"
#include "http/curl_transport.h"
#include "http/test_server.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const TimePoint kNow = At("2026-05-04T10:20Z");

std::string Raw(int status, std::string_view body, std::string_view headers = "") {
  return fmt::format("HTTP/1.1 {} x\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n{}", status,
                     body.size(), headers, body);
}

constexpr std::string_view kLatest =
    R"({"zone":"DE","carbonIntensity":300,"datetime":"2026-05-04T10:00:00.000Z","isEstimated":true})";

// Sleeping takes no time and moves it on.
class HastyClock final : public Clock {
 public:
  TimePoint Now() const override {
    return kNow + std::chrono::duration_cast<std::chrono::milliseconds>(slept_.load());
  }
  MonoTime Monotonic() const override { return MonoTime(slept_.load()); }
  std::chrono::nanoseconds SuspendedTime() const override { return {}; }
  bool SleepUntil(MonoTime deadline, std::stop_token stop) override {
    if (stop.stop_requested()) return false;
    slept_ = std::max(slept_.load(), deadline.time_since_epoch());
    return true;
  }

 private:
  std::atomic<std::chrono::nanoseconds> slept_{std::chrono::nanoseconds(0)};
};

class LoopbackTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Provider>> Make(std::string_view name, const TestServer& server) {
    ProviderSettings settings = TestSettings(name);
    settings.endpoint = server.Url("");
    return MakeProvider(name, settings, {client_, TestZones(), TestFactors()});
  }

  HastyClock clock_;
  CurlTransport transport_{clock_, {.timeout = Seconds(5)}};
  HttpClient client_{transport_, clock_, [] { return 0.5; }, {}};
};

TEST_F(LoopbackTest, TheServerSeesTheQueryEncodedAndTheKeyInItsHeader) {
  TestServer server([](const std::string&) { return Raw(200, kLatest); });
  const auto provider = Make("electricity_maps", server);
  ASSERT_TRUE(provider) << provider.error().message;
  const auto answer = (*provider)->Latest(Zone{"DE"}, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->slots[0].value, GramsPerKwh(300));
  ASSERT_EQ(server.Requests().size(), 1U);
  EXPECT_THAT(server.Requests()[0], StartsWith("GET /v4/carbon-intensity/latest?"));
  EXPECT_THAT(server.Requests()[0], HasSubstr("disableCallerLookup=true&zone=DE"));
  EXPECT_THAT(server.Requests()[0], HasSubstr("auth-token: SECRET+key/1\r\n"));
}

TEST_F(LoopbackTest, BracketsAndPlusSignsOfEiaAreEncoded) {
  TestServer server([](const std::string&) { return Raw(200, R"({"response":{"data":[]}})"); });
  const auto provider = Make("eia", server);
  ASSERT_TRUE(provider);
  ExpectError((*provider)->History(Zone{"US-CAL-CISO"}, kNow - 2h, kNow, kNow), Code::kNotFound,
              "no rows");
  EXPECT_THAT(server.Requests()[0], HasSubstr("api_key=SECRET%2Bkey%2F1"));
  EXPECT_THAT(server.Requests()[0], HasSubstr("facets%5Brespondent%5D%5B%5D=CISO"));
  EXPECT_THAT(server.Requests()[0], HasSubstr("start=2026-05-04T09&"));
}

TEST_F(LoopbackTest, ABusyServerIsAskedAgainAndAnswers) {
  std::atomic<int> count = 0;
  TestServer server(
      [&](const std::string&) { return ++count == 1 ? Raw(503, "busy") : Raw(200, kLatest); });
  const auto provider = Make("electricity_maps", server);
  ASSERT_TRUE((*provider)->Latest(Zone{"DE"}, kNow));
  EXPECT_EQ(count, 2);
}

TEST_F(LoopbackTest, AServerThatStaysBrokenIsAskedAFewTimesOnly) {
  TestServer server([&](const std::string&) { return Raw(500, R"({"error":"broken"})"); });
  const auto provider = Make("uk_carbon_intensity", server);
  ExpectError((*provider)->Latest(Zone{"GB"}, kNow), Code::kUnavailable, "broken");
  EXPECT_LE(server.Requests().size(), 3U);
}

TEST_F(LoopbackTest, ACutOffAnswerIsNoAnswer) {
  TestServer server([&](const std::string&) {
    return "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nConnection: close\r\n\r\n{\"zone\":\"DE\"";
  });
  const auto provider = Make("electricity_maps", server);
  ExpectError((*provider)->Latest(Zone{"DE"}, kNow), Code::kUnavailable, "electricity_maps");
}

TEST_F(LoopbackTest, WattTimeLogsInAndRenewsARefusedToken) {
  std::atomic<int> logins = 0;
  TestServer server([&](const std::string& request) {
    if (request.starts_with("GET /login ")) {
      EXPECT_THAT(request, HasSubstr("Authorization: Basic YWRhOlNFQ1JFVCBwYXNzOjE=\r\n"));
      return Raw(200, fmt::format(R"({{"token":"SECRET-token-{}"}})", ++logins));
    }
    if (request.find("Bearer SECRET-token-2") == std::string::npos) {
      return Raw(403, "<html>403 Forbidden</html>", "Content-Type: text/html\r\n");
    }
    return Raw(200, R"({"data":[{"point_time":"2026-05-04T10:20:00+00:00","value":900}],"meta":{)"
                    R"("region":"CAISO_NORTH","units":"lbs_co2_per_mwh",)"
                    R"("data_point_period_seconds":300}})");
  });
  const auto provider = Make("watttime", server);
  const auto answer = (*provider)->Latest(Zone{"US-CAL-CISO"}, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_NEAR(answer->slots[0].value.v, 408.233133, 1e-6);
  EXPECT_EQ(logins, 2);
}

TEST_F(LoopbackTest, NobodyThereIsUnavailableAndSaysWho) {
  std::string url;
  {
    TestServer server([](const std::string&) { return ""; });
    url = server.Url("");
  }
  ProviderSettings settings = TestSettings("entsoe");
  settings.endpoint = url;
  const auto provider = MakeProvider("entsoe", settings, {client_, TestZones(), TestFactors()});
  ASSERT_TRUE(provider);
  ExpectError((*provider)->Latest(Zone{"DE"}, kNow), Code::kUnavailable, "entsoe");
}

}  // namespace
}  // namespace lowtide
