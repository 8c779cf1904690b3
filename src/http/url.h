// The addresses of requests.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/http.h"

namespace lowtide {

// RFC 3986: all but unreserved characters as %XX.
std::string PercentEncode(std::string_view text);

// The address with its query. kInvalidArgument unless it is http or https with a host and without
// user, password, query, fragment, blanks and control characters.
Result<std::string> FullUrl(const HttpRequest& request);

// "https://host:port" of a valid address, in lower case: what a limit or a failure belongs to.
std::string Origin(std::string_view url);

// Whether it leads to this very machine: localhost, 127.0.0.0/8, [::1].
bool IsLoopback(std::string_view url);

}  // namespace lowtide
