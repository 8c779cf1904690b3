// Sends requests with libcurl. TLS certificates are always verified.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/units.h"
#include "http/http.h"

namespace lowtide {

struct CurlOptions {
  Seconds connect_timeout{10};
  Seconds timeout{30};                             // of one request, redirects included
  std::size_t max_bytes = std::size_t{16} << 20U;  // of a decoded body
  std::string ca_file{};                           // PEM; empty: the system's
  std::string user_agent{};                        // "lowtide/0.1.0"
  // Ends requests that are under way, and those that come.
  std::stop_token stop{};
};

// As HttpTransport. Redirects (three at most) are followed to the same host only, from http to
// https at most: keys go nowhere else. A request with secrets goes out encrypted, or to this very
// machine; anything else is kInvalidArgument. Connections are kept and used again. libcurl takes
// proxies from the environment, except for this machine.
class CurlTransport final : public HttpTransport {
 public:
  CurlTransport(Clock& clock, CurlOptions options);
  ~CurlTransport() override;

  Result<HttpResponse> Send(const HttpRequest& request) override;

 private:
  class Pool;
  Clock& clock_;
  CurlOptions options_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace lowtide
