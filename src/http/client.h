// Asks politely: repeats what may pass, waits when it is told to, asks nobody who does not answer
// again and again, and asks the same question once for all who want to know.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/units.h"
#include "http/http.h"

namespace lowtide {

struct ClientOptions {
  int attempts = 3;           // of one call, the first included
  Seconds first_pause{0.5};   // see Backoff
  Seconds longest_pause{10};  // also the longest wait that a server can ask for within a call
  Seconds deadline{60};       // of one call with all its attempts; none begins after it
  // After so many calls in a row that came to nothing, a host is left alone for `cool_down`, which
  // doubles each time up to `longest_cool_down`.
  int failures_to_cool_down = 3;
  Seconds cool_down{60};
  Seconds longest_cool_down{900};
  // The longest that a server's own limits (Retry-After, rate limits) are obeyed.
  Seconds longest_ban{3600};
  // Answers with a validator that are kept, to be asked for conditionally; so many bytes of bodies.
  std::size_t kept_answers = 64;
  std::size_t kept_bytes = std::size_t{8} << 20U;
  std::stop_token stop{};  // ends waits, and calls that come
};

// Thread-safe. Send answers as HttpTransport does: the last attempt's answer or error. A host that
// is left alone for now is kUnavailable, and the message says until when and why; when that time is
// over, one call tries it while the others are still refused. A POST or PATCH is repeated only when
// the server has said that it did nothing (429): it might be done twice.
class HttpClient final : public HttpTransport {
 public:
  // `transport` and `clock` outlive the client. `random` gives numbers in [0, 1).
  HttpClient(HttpTransport& transport, Clock& clock, std::function<double()> random,
             ClientOptions options = {});
  ~HttpClient() override;

  Result<HttpResponse> Send(const HttpRequest& request) override;

  // Requests that were really sent to an origin ("https://host") so far.
  std::int64_t Sent(std::string_view origin) const;

 private:
  struct State;
  struct Flight;

  Result<HttpResponse> SendAlone(const HttpRequest& request);
  Result<HttpResponse> Attempt(const HttpRequest& request, const std::string& origin);
  Status MayAsk(const HttpRequest& request, const std::string& origin);
  // How long the host is to be left alone from now on; 0 when it may be asked.
  Seconds BanLeft(const std::string& origin);
  bool MayRepeat(const HttpRequest& request, const Result<HttpResponse>& result) const;
  void Note(const std::string& origin, const Result<HttpResponse>& result);
  bool Wait(Seconds pause, MonoTime until);

  HttpTransport& transport_;
  Clock& clock_;
  std::function<double()> random_;
  ClientOptions options_;
  std::unique_ptr<State> state_;
};

}  // namespace lowtide
