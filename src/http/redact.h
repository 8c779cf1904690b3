// Keeps keys, tokens and passwords out of everything that people or files get to see.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/http.h"

namespace lowtide {

// What stands in the place of a secret.
inline constexpr std::string_view kHidden = "***";

// Whether a header or query parameter of this name (any case) always holds a secret: Authorization,
// auth-token, api_key, securityToken, ...
bool IsSecretName(std::string_view name);

// `text` with each of `secrets` hidden, also percent-encoded, and in Base64 alone or as a part of
// something longer ("user:secret"). Secrets shorter than four characters are left: they would hide
// ordinary text.
std::string Redact(std::string text, const std::vector<std::string>& secrets);

// "GET https://host/path?zone=DE&api_key=***": fit to be logged.
std::string Describe(const HttpRequest& request);

// The beginning of a body, on one line, without the request's secrets and control characters.
std::string Excerpt(std::string_view body, const HttpRequest& request);

// "GET https://host/path?zone=DE: HTTP 503: <excerpt>": fit to be logged.
std::string DescribeAnswer(const HttpRequest& request, const HttpResponse& response);

}  // namespace lowtide
