#include "http/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "http/hasty_clock_for_tests.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

HttpResponse Reply(int status, std::vector<HttpHeader> headers = {}, std::string body = "") {
  HttpResponse r;
  r.status = status;
  r.headers = std::move(headers);
  r.body = std::move(body);
  return r;
}

// Answers in turn; the last answer again and again.
class ScriptedTransport final : public HttpTransport {
 public:
  Result<HttpResponse> Send(const HttpRequest& request) override {
    requests.push_back(request);
    Result<HttpResponse> answer = answers.front();
    if (answers.size() > 1) answers.pop_front();
    return answer;
  }
  std::deque<Result<HttpResponse>> answers;
  std::vector<HttpRequest> requests;
};

class HttpClientTest : public ::testing::Test {
 protected:
  HttpClient Make(ClientOptions options = {}) {
    return HttpClient(transport_, clock_, [] { return 0.5; }, std::move(options));
  }
  static HttpRequest Request(const std::string& url = "https://grid.example/v4/zone") {
    HttpRequest request;
    request.url = url;
    request.headers = {{"auth-token", "s3cret-key"}};
    return request;
  }
  HastyClock clock_;
  ScriptedTransport transport_;
};

TEST_F(HttpClientTest, WhatMayPassIsAskedAgain) {
  transport_.answers = {Reply(503), Fail(Code::kUnavailable, "cut off"), Reply(200, {}, "x")};
  auto client = Make();
  const auto response = client.Send(Request());
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(client.Sent("https://grid.example"), 3);
  EXPECT_DOUBLE_EQ(clock_.Elapsed_s(), 0.25 + 0.5);  // half of 0.5 s, half of 1 s
}

TEST_F(HttpClientTest, WhatWillNotPassIsAskedOnce) {
  for (const int status : {200, 204, 301, 400, 401, 403, 404, 422, 501}) {
    transport_.answers = {Reply(status)};
    transport_.requests.clear();
    auto client = Make();
    EXPECT_EQ(client.Send(Request())->status, status);
    EXPECT_EQ(transport_.requests.size(), 1U) << status;
  }
  transport_.answers = {Fail(Code::kPermissionDenied, "certificate")};
  transport_.requests.clear();
  auto client = Make();
  EXPECT_FALSE(client.Send(Request()));
  EXPECT_EQ(transport_.requests.size(), 1U);
}

TEST_F(HttpClientTest, AttemptsAreBounded) {
  transport_.answers = {Reply(500)};
  auto client = Make({.attempts = 4});
  EXPECT_EQ(client.Send(Request())->status, 500);
  EXPECT_EQ(transport_.requests.size(), 4U);
}

TEST_F(HttpClientTest, RetryAfterIsObeyed) {
  transport_.answers = {Reply(429, {{"retry-after", "7"}}), Reply(200)};
  auto client = Make();
  EXPECT_EQ(client.Send(Request())->status, 200);
  EXPECT_GE(clock_.Elapsed_s(), 7);
}

TEST_F(HttpClientTest, ALongBanKeepsEverybodyAwayFromThatHostOnly) {
  transport_.answers = {Reply(429, {{"retry-after", "600"}}), Reply(200)};
  auto client = Make();
  EXPECT_EQ(client.Send(Request())->status, 429);
  const auto soon = client.Send(Request("https://grid.example/v4/other"));
  ASSERT_FALSE(soon);
  EXPECT_EQ(soon.error().code, Code::kUnavailable);
  EXPECT_THAT(soon.error().message, HasSubstr("not asked for another 600 s"));
  EXPECT_THAT(soon.error().message, HasSubstr("HTTP 429"));
  EXPECT_EQ(transport_.requests.size(), 1U);
  EXPECT_TRUE(client.Send(Request("https://else.example/")));
  clock_.Advance(Seconds(601));
  EXPECT_TRUE(client.Send(Request()));
}

TEST_F(HttpClientTest, AnUsedUpQuotaIsWaitedFor) {
  transport_.answers = {Reply(200, {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "30"}}),
                        Reply(200)};
  auto client = Make();
  EXPECT_TRUE(client.Send(Request()));
  EXPECT_FALSE(client.Send(Request()));
  clock_.Advance(Seconds(31));
  EXPECT_TRUE(client.Send(Request()));
}

TEST_F(HttpClientTest, AResetOfTheQuotaIsWaitedForWithinACall) {
  transport_.answers = {Reply(429, {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "5"}}),
                        Reply(200)};
  auto client = Make();
  EXPECT_EQ(client.Send(Request())->status, 200);
  EXPECT_GE(clock_.Elapsed_s(), 5);
  // Longer than a call waits: not one more request before the reset.
  transport_.answers = {Reply(503, {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "60"}}),
                        Reply(200)};
  transport_.requests.clear();
  EXPECT_EQ(client.Send(Request())->status, 503);
  EXPECT_FALSE(client.Send(Request()));
  EXPECT_EQ(transport_.requests.size(), 1U);
}

TEST_F(HttpClientTest, AHostWhoseCertificateIsWrongMeetsNoStorm) {
  transport_.answers = {Fail(Code::kPermissionDenied, "certificate")};
  auto client = Make();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(client.Send(Request()));
  EXPECT_EQ(client.Sent("https://grid.example"), 3);
}

TEST_F(HttpClientTest, ABadRequestIsNoFailureOfTheHost) {
  transport_.answers = {Fail(Code::kInvalidArgument, "no such method")};
  auto client = Make();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(client.Send(Request()));
  transport_.answers = {Reply(200)};
  EXPECT_TRUE(client.Send(Request()));
}

TEST_F(HttpClientTest, WhatMightBeDoneTwiceIsNotRepeated) {
  HttpRequest post = Request();
  for (const char* method : {"POST", "PATCH"}) {
    post.method = method;
    for (const auto& answer : {Result<HttpResponse>(Reply(503)), Result<HttpResponse>(Reply(500)),
                               Result<HttpResponse>(Fail(Code::kUnavailable, "cut off"))}) {
      transport_.answers = {answer};
      transport_.requests.clear();
      auto client = Make();
      static_cast<void>(client.Send(post));
      EXPECT_EQ(transport_.requests.size(), 1U) << method;
    }
    transport_.answers = {Reply(429), Reply(201)};
    auto client = Make();
    EXPECT_EQ(client.Send(post)->status, 201) << "the server did nothing the first time";
  }
  post.method = "PUT";
  transport_.answers = {Reply(503), Reply(200)};
  auto client = Make();
  EXPECT_EQ(client.Send(post)->status, 200);
}

TEST_F(HttpClientTest, AHostThatIsDownMeetsNoStorm) {
  transport_.answers = {Fail(Code::kUnavailable, "connection refused")};
  auto client = Make();
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(client.Send(Request()));
    clock_.Advance(Seconds(1));
  }
  // Three calls of three, then one call of three after 60, 120, 240 and 480 s.
  EXPECT_LE(client.Sent("https://grid.example"), 9 + 4 * 3);
  EXPECT_GE(client.Sent("https://grid.example"), 9 + 3 * 3);
}

TEST_F(HttpClientTest, ACallNeverBeginsAnAttemptAfterItsDeadline) {
  transport_.answers = {Reply(503, {{"retry-after", "4"}})};
  auto client = Make({.attempts = 100, .deadline = Seconds(10)});
  EXPECT_EQ(client.Send(Request())->status, 503);
  EXPECT_LE(clock_.Elapsed_s(), 10);
  EXPECT_LE(transport_.requests.size(), 4U);
}

TEST_F(HttpClientTest, AnAnswerWithAValidatorIsAskedForConditionally) {
  transport_.answers = {Reply(200, {{"etag", "\"a1\""}}, "body"), Reply(304),
                        Reply(200, {}, "new")};
  auto client = Make();
  EXPECT_EQ(client.Send(Request())->body, "body");
  const auto again = client.Send(Request());
  EXPECT_EQ(again->status, 200);
  EXPECT_EQ(again->body, "body");
  EXPECT_EQ(transport_.requests[1].headers.back().name, "If-None-Match");
  EXPECT_EQ(transport_.requests[1].headers.back().value, "\"a1\"");
  EXPECT_EQ(client.Send(Request())->body, "new");
}

TEST_F(HttpClientTest, WhatIsKeptIsBounded) {
  const auto asks_conditionally = [this](HttpClient& client, const std::string& path) {
    transport_.requests.clear();
    static_cast<void>(client.Send(Request("https://grid.example/" + path)));
    return transport_.requests[0].headers.size() == 2;
  };
  const std::string body(1000, 'x');
  transport_.answers = {Reply(200, {{"last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"}}, body)};
  auto client = Make({.kept_answers = 3, .kept_bytes = 2500});
  EXPECT_FALSE(asks_conditionally(client, "a"));
  EXPECT_FALSE(asks_conditionally(client, "b"));
  EXPECT_TRUE(asks_conditionally(client, "a"));
  EXPECT_EQ(transport_.requests[0].headers[1].name, "If-Modified-Since");
  EXPECT_FALSE(asks_conditionally(client, "c")) << "2 of 1000 bytes fit: b has to go";
  EXPECT_TRUE(asks_conditionally(client, "a"));
  EXPECT_FALSE(asks_conditionally(client, "b"));
  transport_.answers = {Reply(200, {{"etag", "1"}}, std::string(2501, 'x'))};
  EXPECT_FALSE(asks_conditionally(client, "large"));
  EXPECT_FALSE(asks_conditionally(client, "large"));
  EXPECT_TRUE(asks_conditionally(client, "b")) << "it drove nothing out";
}

TEST_F(HttpClientTest, AnotherKeyIsAnotherQuestion) {
  transport_.answers = {Reply(200, {{"etag", "\"a1\""}}, "mine"), Reply(200, {}, "theirs")};
  auto client = Make();
  EXPECT_EQ(client.Send(Request())->body, "mine");
  HttpRequest other = Request();
  other.headers[0].value = "another-key";
  EXPECT_EQ(client.Send(other)->body, "theirs");
  EXPECT_EQ(transport_.requests[1].headers.size(), 1U) << "no validator of somebody else's";
}

TEST_F(HttpClientTest, AValueThatLooksLikeAParameterIsAnotherQuestion) {
  transport_.answers = {Reply(200, {{"etag", "\"a1\""}}, "one")};
  auto client = Make();
  HttpRequest one = Request();
  one.query = {{"a", "1\n?b=2"}};
  HttpRequest two = Request();
  two.query = {{"a", "1"}, {"b", "2"}};
  EXPECT_TRUE(client.Send(one));
  EXPECT_TRUE(client.Send(two));
  EXPECT_EQ(transport_.requests[1].headers.size(), 1U) << "no validator of the other";
}

TEST_F(HttpClientTest, AStopEndsTheWaiting) {
  std::stop_source stop;
  stop.request_stop();
  transport_.answers = {Reply(503)};
  auto client = Make({.stop = stop.get_token()});
  EXPECT_FALSE(client.Send(Request()));
  EXPECT_TRUE(transport_.requests.empty());
}

TEST_F(HttpClientTest, NoSecretIsSaid) {
  transport_.answers = {Reply(429, {{"retry-after", "600"}})};
  auto client = Make();
  HttpRequest request = Request();
  request.query = {{"securityToken", "t0psecret"}, {"zone", "DE"}};
  EXPECT_TRUE(client.Send(request));
  const auto banned = client.Send(request);
  ASSERT_FALSE(banned);
  EXPECT_THAT(banned.error().message, HasSubstr("zone=DE"));
  EXPECT_THAT(banned.error().message, HasSubstr("securityToken=***"));
  EXPECT_THAT(banned.error().message, Not(HasSubstr("t0psecret")));
  EXPECT_THAT(banned.error().message, Not(HasSubstr("s3cret")));
}

TEST_F(HttpClientTest, WhatIsLoggedHasNoSecret) {
  transport_.answers = {Reply(503, {}, "you are s3cret-key"), Reply(200)};
  auto client = Make();
  ConfigureLog(LogLevel::kDebug, LogFormat::kText);
  ::testing::internal::CaptureStderr();
  static_cast<void>(client.Send(Request()));
  const std::string log = ::testing::internal::GetCapturedStderr();
  ConfigureLog(LogLevel::kWarning, LogFormat::kText);
  EXPECT_THAT(log, HasSubstr("GET https://grid.example/v4/zone: HTTP 503: you are ***"));
  EXPECT_THAT(log, HasSubstr("asked again in 0.25s"));
  EXPECT_THAT(log, Not(HasSubstr("s3cret")));
}

// Holds its answer back until it is let go.
class GatedTransport final : public HttpTransport {
 public:
  Result<HttpResponse> Send(const HttpRequest& /*request*/) override {
    ++sent;
    while (!open) std::this_thread::yield();
    return Reply(200, {}, "shared");
  }
  std::atomic<int> sent{0};
  std::atomic<bool> open{false};
};

TEST(HttpClientThreads, TheSameQuestionAtTheSameTimeIsAskedOnce) {
  RealClock clock;
  GatedTransport transport;
  HttpClient client(transport, clock, [] { return 0.0; });
  HttpRequest request;
  request.url = "https://grid.example/now";
  std::atomic<int> answered{0};
  std::vector<std::thread> askers;
  for (int i = 0; i < 8; ++i) {
    askers.emplace_back([&] {
      const auto response = client.Send(request);
      if (response && response->body == "shared") ++answered;
    });
  }
  while (transport.sent == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the others come to wait
  transport.open = true;
  for (auto& asker : askers) asker.join();
  EXPECT_EQ(answered, 8);
  EXPECT_LE(transport.sent, 2) << "one that came very late may ask anew";
}

// Fails three times; the first answer after that is held back until it is let go.
class RecoveringTransport final : public HttpTransport {
 public:
  Result<HttpResponse> Send(const HttpRequest& /*request*/) override {
    const int mine = ++sent;
    if (mine <= 3) return Fail(Code::kUnavailable, "down");
    while (mine == 4 && !open) std::this_thread::yield();
    return Reply(200);
  }
  std::atomic<int> sent{0};
  std::atomic<bool> open{false};
};

TEST(HttpClientThreads, OneCallTriesAHostThatWasDown) {
  HastyClock clock;
  RecoveringTransport transport;
  HttpClient client(transport, clock, [] { return 0.0; }, {.attempts = 1});
  HttpRequest request;
  const auto to = [&request](int i) {
    HttpRequest other = request;
    other.url = "https://grid.example/" + std::to_string(i);
    return other;
  };
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(client.Send(to(i)));
  clock.Advance(Seconds(61));
  std::jthread first([&] { EXPECT_TRUE(client.Send(to(100))); });
  while (transport.sent < 4) std::this_thread::yield();
  for (int i = 0; i < 10; ++i) {
    const auto other = client.Send(to(i));
    EXPECT_FALSE(other);
    if (!other) {
      EXPECT_THAT(other.error().message, HasSubstr("while another request tries it"));
    }
  }
  EXPECT_EQ(transport.sent, 4);
  transport.open = true;
  first.join();
  EXPECT_TRUE(client.Send(to(1)));
}

}  // namespace
}  // namespace lowtide
