// The client and libcurl against servers that misbehave, over the loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "fakes/providers/provider_servers.h"
#include "http/client.h"
#include "http/curl_transport.h"
#include "http/hasty_clock_for_tests.h"
#include "http/send_all.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::string_view kName = "electricity_maps";

class HttpLoopbackTest : public ::testing::Test {
 protected:
  HttpRequest Request(const std::string& query_zone = "DE") const {
    HttpRequest request;
    request.url = fake_.Url(kName) + "/v4/carbon-intensity/latest";
    request.query = {{"zone", query_zone}};
    request.headers = {{"auth-token", "em-full"}};
    return request;
  }
  void Once(Json rule) {
    rule["times"] = 1;
    fake_.Fault(rule);
  }
  std::size_t Count() const { return fake_.Requests(kName).size(); }

  ProviderServers fake_;
  RealClock clock_;
  CurlTransport transport_{clock_, {.user_agent = "lowtide/test"}};
  HastyClock hasty_;
  HttpClient client_{transport_, hasty_, [] { return 0.5; }};
};

TEST_F(HttpLoopbackTest, AConnectionIsUsedAgain) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(transport_.Send(Request()));
  Once({{"kind", "close"}});
  ASSERT_TRUE(transport_.Send(Request()));
  ASSERT_TRUE(transport_.Send(Request()));
  const auto log = fake_.Requests(kName);
  ASSERT_THAT(log, SizeIs(5));
  EXPECT_EQ(log[0].connection, log[2].connection);
  EXPECT_EQ(log[0].connection, log[3].connection);
  EXPECT_NE(log[3].connection, log[4].connection);
  EXPECT_EQ(log[0].Header("user-agent"), "lowtide/test");
  EXPECT_THAT(log[0].Header("accept-encoding"), HasSubstr("gzip"));
}

TEST_F(HttpLoopbackTest, EncodedAnswersAreDecoded) {
  const std::string plain = transport_.Send(Request())->body;
  EXPECT_THAT(plain, HasSubstr("carbonIntensity"));
  for (const char* kind : {"gzip", "chunked"}) {
    Once({{"kind", kind}});
    const auto response = transport_.Send(Request());
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body.size(), plain.size()) << kind;
  }
}

TEST_F(HttpLoopbackTest, TheBoundIsOnTheDecodedBody) {
  CurlTransport transport(clock_, {.max_bytes = 1'000'000});
  for (const bool gzip : {false, true}) {
    Once({{"kind", "huge"}, {"bytes", 1'000'001}, {"gzip", gzip}});
    const auto response = transport.Send(Request());
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Code::kResourceExhausted);
    Once({{"kind", "huge"}, {"bytes", 1'000'000}, {"gzip", gzip}});
    EXPECT_TRUE(transport.Send(Request()));
  }
}

TEST_F(HttpLoopbackTest, HeadersAreBoundedToo) {
  Json headers = Json::object();
  for (int i = 0; i < 5; ++i) headers["X-" + std::to_string(i)] = std::string(58'000, 'x');
  Once({{"kind", "headers"}, {"headers", headers}});
  const auto response = transport_.Send(Request());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kResourceExhausted) << response.error().message;
  EXPECT_TRUE(transport_.Send(Request()));
}

TEST_F(HttpLoopbackTest, ABodyThatDripsRunsIntoTheDeadline) {
  CurlTransport transport(clock_, {.timeout = Seconds(0.3)});
  Once({{"kind", "slow"}, {"delay_s", 0}, {"bytes_per_s", 40}});
  const MonoTime began = clock_.Monotonic();
  const auto response = transport.Send(Request());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kDeadlineExceeded);
  EXPECT_LT(ToSeconds(clock_.Monotonic() - began).count(), 2);
}

TEST_F(HttpLoopbackTest, KeysAreKeptOnTheSameHostAndGoToNoOther) {
  Once({{"kind", "redirect"}, {"location", "/v4/carbon-intensity/latest?zone=FR"}});
  const auto here = transport_.Send(Request());
  ASSERT_TRUE(here) << here.error().message;
  EXPECT_EQ(here->status, 200);
  EXPECT_THAT(here->body, HasSubstr("\"FR\""));
  EXPECT_EQ(fake_.Requests(kName)[1].Header("auth-token"), "em-full");
  Once({{"kind", "redirect"}, {"to_provider", "eia"}});
  const auto away = transport_.Send(Request());
  ASSERT_FALSE(away);
  EXPECT_THAT(fake_.Requests("eia"), IsEmpty());
}

TEST_F(HttpLoopbackTest, WhatIsMeantForThisMachineMeetsNoProxy) {
  ::setenv("http_proxy", fake_.Url("eia").c_str(), 1);
  ::unsetenv("no_proxy");
  const auto response = transport_.Send(Request());
  ::unsetenv("http_proxy");
  ASSERT_TRUE(response);
  EXPECT_EQ(Count(), 1U);
  EXPECT_THAT(fake_.Requests("eia"), IsEmpty()) << "the key went there unencrypted";
}

TEST_F(HttpLoopbackTest, AServerThatHangsUpAmidARequestEndsOnlyTheRequest) {
  HttpRequest request = Request();
  request.method = "POST";
  request.body = std::string(8U << 20U, 'x');  // more than it takes
  for (int i = 0; i < 3; ++i) {
    const auto response = transport_.Send(request);
    if (response) {
      EXPECT_EQ(response->status, 413);
    }
  }
  EXPECT_TRUE(transport_.Send(Request()));
}

TEST_F(HttpLoopbackTest, RetryAfterIsObeyedWhateverTheServersClockSays) {
  const double before = hasty_.Elapsed_s();
  fake_.Fault({{"kind", "clock_skew"}, {"seconds", -86400}});
  Once({{"kind", "rate_limit"}, {"retry_after_s", 6}, {"form", "date"}});
  const auto response = client_.Send(Request());
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_GE(hasty_.Elapsed_s() - before, 6);
  EXPECT_LT(hasty_.Elapsed_s() - before, 8);
  EXPECT_EQ(Count(), 2U);
}

TEST_F(HttpLoopbackTest, ALongBanIsObeyedWithoutAnotherRequest) {
  for (const Json& limit : {Json{{"retry_after_s", 120}}, Json{{"reset_s", 120}},
                            Json{{"retry_after_s", 120}, {"form", "date"}}}) {
    Json rule = limit;
    rule["kind"] = "rate_limit";
    Once(rule);
    const std::size_t before = Count();
    EXPECT_EQ(client_.Send(Request())->status, 429);
    for (int i = 0; i < 50; ++i) EXPECT_FALSE(client_.Send(Request(std::to_string(i))));
    EXPECT_EQ(Count(), before + 1) << rule.dump();
    hasty_.Advance(Seconds(121));
    EXPECT_EQ(client_.Send(Request())->status, 200);
  }
}

TEST_F(HttpLoopbackTest, RefusalsAreNotRepeated) {
  for (const char* kind : {"bad_key", "not_in_plan", "html_403", "suspended"}) {
    const std::size_t before = Count();
    Once({{"kind", kind}});
    const int status = client_.Send(Request())->status;
    EXPECT_TRUE(status == 401 || status == 403) << status;
    EXPECT_EQ(Count(), before + 1) << kind;
  }
}

TEST_F(HttpLoopbackTest, ServerErrorsPass) {
  fake_.Fault({{"kind", "status"}, {"status", 502}, {"times", 2}});
  EXPECT_EQ(client_.Send(Request())->status, 200);
  EXPECT_EQ(Count(), 3U);
  Once({{"kind", "cut_off"}});
  EXPECT_EQ(client_.Send(Request())->status, 200);
  EXPECT_EQ(Count(), 5U);
}

TEST_F(HttpLoopbackTest, APulledPlugMeetsNoStormAndIsNoticedWhenItIsBack) {
  ASSERT_TRUE(client_.Send(Request()));
  const std::string origin = fake_.Url(kName);
  const auto sent = client_.Sent(origin);
  fake_.Unplug(kName);
  for (int i = 0; i < 200; ++i) {
    const auto response = client_.Send(Request());
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Code::kUnavailable);
    EXPECT_THAT(response.error().message, HasSubstr(origin));
    EXPECT_THAT(response.error().message, Not(HasSubstr("em-full")));
    hasty_.Advance(Seconds(1));
  }
  EXPECT_LE(client_.Sent(origin) - sent, 3 * 3 + 2 * 3);
  fake_.Plug(kName);
  hasty_.Advance(Seconds(900));
  EXPECT_TRUE(client_.Send(Request()));
}

TEST_F(HttpLoopbackTest, TheSameQuestionOfManyIsAskedOnce) {
  Once({{"kind", "slow"}, {"delay_s", 0.3}});
  std::vector<std::jthread> askers;
  for (int i = 0; i < 8; ++i) {
    askers.emplace_back([this] { EXPECT_TRUE(client_.Send(Request())); });
  }
  askers.clear();
  EXPECT_EQ(Count(), 1U);
}

TEST_F(HttpLoopbackTest, ManyAreSentAtOnce) {
  fake_.Fault({{"kind", "slow"}, {"delay_s", 0.1}});
  std::vector<HttpRequest> requests;
  for (const char* zone : {"DE", "FR", "AT", "CH", "FI", "NL", "PL", "ES"}) {
    requests.push_back(Request(zone));
  }
  const MonoTime began = clock_.Monotonic();
  const auto answers = SendAll(client_, requests, 8);
  EXPECT_LT(ToSeconds(clock_.Monotonic() - began).count(), 0.7);
  ASSERT_THAT(answers, SizeIs(8));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ASSERT_TRUE(answers[i]) << answers[i].error().message;
    EXPECT_THAT(answers[i]->body, HasSubstr("\"zone\":\"" + requests[i].query[0].second + "\""));
  }
}

TEST(HttpLoopbackTls, ProvidersAreAskedOverTlsOnlyWithACertificateThatIsVouchedFor) {
  char pattern[] = "/tmp/lowtide-tls-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(pattern);
  const std::string certificate = (folder / "cert").string();
  const std::string key = (folder / "key").string();
  const std::string make =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=fake"
      " -addext subjectAltName=IP:127.0.0.1 -keyout " +
      key + " -out " + certificate + " 2>/dev/null";
  ASSERT_EQ(std::system(make.c_str()), 0);
  const ProviderServers fake({.certificate_file = certificate, .key_file = key});
  HttpRequest request;
  request.url = fake.Url("uk_carbon_intensity") + "/intensity";
  ASSERT_TRUE(request.url.starts_with("https://"));

  RealClock clock;
  CurlTransport strangers(clock, {});
  HastyClock hasty;
  HttpClient client(strangers, hasty, [] { return 0.5; });
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(client.Send(request));
  EXPECT_EQ(client.Sent(fake.Url("uk_carbon_intensity")), 3);
  EXPECT_EQ(strangers.Send(request).error().code, Code::kPermissionDenied);
  EXPECT_THAT(fake.Requests(), IsEmpty());

  CurlTransport transport(clock, {.ca_file = certificate});
  const auto response = transport.Send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lowtide
