#include "http/retry.h"

#include <gtest/gtest.h>

namespace lowtide {
namespace {

TimePoint Unix(std::int64_t s) { return TimePoint(std::chrono::seconds(s)); }

TEST(HttpDate, ReadsTheExampleOfTheStandard) {
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT"), Unix(784111777));
}

TEST(HttpDate, AnythingElseIsNone) {
  for (const char* text : {"", "now", "Sun, 06 Nov 1994 08:49:37", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Xxx 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT"}) {
    EXPECT_FALSE(ParseHttpDate(text)) << text;
  }
}

HttpResponse With(std::vector<HttpHeader> headers) {
  HttpResponse r;
  r.status = 429;
  r.headers = std::move(headers);
  r.received_at = Unix(784111777 + 5000);  // our clock is wrong
  return r;
}

TEST(RetryAfter, SecondsOrADateByTheServersOwnClock) {
  EXPECT_EQ(RetryAfter(With({{"retry-after", "120"}}))->count(), 120);
  EXPECT_EQ(RetryAfter(With({{"date", "Sun, 06 Nov 1994 08:49:37 GMT"},
                             {"retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"}}))
                ->count(),
            30);
  EXPECT_EQ(RetryAfter(With({{"retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"}}))->count(), 0)
      << "past by our clock, and there is no other";
  EXPECT_EQ(RetryAfter(With({{"retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"},
                             {"date", "Sat, 01 Jan 2000 00:00:00 GMT"}}))
                ->count(),
            252455615999.0);
  EXPECT_EQ(RetryAfter(With({{"retry-after", "Mon, 01 Jan 0001 00:00:00 GMT"}}))->count(), 0);
  EXPECT_FALSE(RetryAfter(With({{"retry-after", "soon"}})));
  EXPECT_FALSE(RetryAfter(With({{"retry-after", "-3"}})));
  EXPECT_FALSE(RetryAfter(With({})));
}

TEST(RateLimit, CountsWhenNothingIsLeft) {
  EXPECT_EQ(
      RateLimitWait(With({{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "42"}}))->count(),
      42);
  EXPECT_EQ(RateLimitWait(With({{"ratelimit-remaining", "0"}, {"ratelimit-reset", "9"}}))->count(),
            9);
  HttpResponse unix_time =
      With({{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1700000060"}});
  unix_time.received_at = Unix(1700000000);
  EXPECT_EQ(RateLimitWait(unix_time)->count(), 60);
  EXPECT_FALSE(RateLimitWait(With({{"x-ratelimit-remaining", "3"}, {"x-ratelimit-reset", "42"}})));
  EXPECT_FALSE(RateLimitWait(With({{"x-ratelimit-remaining", "0"}})));
}

TEST(Backoff, DoublesUpToItsLongestAndIsJittered) {
  EXPECT_DOUBLE_EQ(Backoff(1, Seconds(1), Seconds(10), 0.5).count(), 0.5);
  EXPECT_DOUBLE_EQ(Backoff(3, Seconds(1), Seconds(10), 0.5).count(), 2);
  EXPECT_DOUBLE_EQ(Backoff(60, Seconds(1), Seconds(10), 0.5).count(), 5);
  EXPECT_DOUBLE_EQ(Backoff(2, Seconds(1), Seconds(10), 0).count(), 0);
}

TEST(Transient, OnlyWhatMayPass) {
  for (const int s : {429, 500, 502, 503, 504, 599}) EXPECT_TRUE(IsTransient(s)) << s;
  for (const int s : {200, 304, 400, 401, 403, 404, 408, 422, 501, 505})
    EXPECT_FALSE(IsTransient(s)) << s;
}

}  // namespace
}  // namespace lowtide
