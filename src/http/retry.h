// When to ask again: pure functions of what a server said.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"
#include "base/units.h"
#include "http/http.h"

namespace lowtide {

// Whether the same request may succeed a moment later: 429 and 5xx except 501 and 505.
bool IsTransient(int status);

// "Sun, 06 Nov 1994 08:49:37 GMT" (IMF-fixdate, RFC 9110 section 5.6.7); nothing otherwise.
std::optional<TimePoint> ParseHttpDate(std::string_view text);

// How long the server asks to wait (RFC 9110 section 10.2.3): seconds, or a date, which is taken
// relative to the answer's own Date, so that a wrong clock on either side does not matter. Never
// negative; nothing when there is no such header or it says something else.
std::optional<Seconds> RetryAfter(const HttpResponse& response);

// How long until more requests are allowed when none are left: X-RateLimit-Remaining: 0 with
// X-RateLimit-Reset (seconds from now, or Unix time), and the RateLimit-* of the IETF draft.
std::optional<Seconds> RateLimitWait(const HttpResponse& response);

// The pause before attempt number `attempt` (1 is the first repetition): full jitter over
// `first` x 2^(attempt - 1), at most `longest`. `random` is in [0, 1).
// Source: AWS Architecture Blog, "Exponential Backoff And Jitter" (2015).
Seconds Backoff(int attempt, Seconds first, Seconds longest, double random);

}  // namespace lowtide
