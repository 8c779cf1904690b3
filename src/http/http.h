// One request and its answer, as plain data, and the seam behind which the network lies.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"

namespace lowtide {

struct HttpHeader {
  std::string name;
  std::string value;
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;  // http or https, without user, password, query or fragment
  std::vector<std::pair<std::string, std::string>> query;  // unescaped; appended in this order
  std::vector<HttpHeader> headers;
  std::string body;
  // Never shown: header values and query parameters of these names, and these very texts wherever
  // they occur in an address, a header or a body that is logged or becomes part of an error.
  std::vector<std::string> secret_names;
  std::vector<std::string> secrets;
};

struct HttpResponse {
  int status = 0;
  std::vector<HttpHeader> headers;  // names in lower case, of the last answer
  std::string body;                 // decoded (gzip), at most the client's size limit
  TimePoint received_at;

  // Nothing when absent; `name` in lower case.
  std::optional<std::string_view> Header(std::string_view name) const;
};

// Sends one request once.
class HttpTransport {
 public:
  virtual ~HttpTransport() = default;
  // Any status is an answer. Errors: kDeadlineExceeded; kUnavailable (name, connection, cut off);
  // kPermissionDenied (the certificate is not accepted); kResourceExhausted (answer larger than
  // allowed); kInvalidArgument (the request itself). Thread-safe.
  virtual Result<HttpResponse> Send(const HttpRequest& request) = 0;
};

}  // namespace lowtide
