// What a server says about waiting: no text may give a negative or endless wait.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/base64.h"
#include "http/redact.h"
#include "http/retry.h"
#include "http/url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lowtide;
  const std::string text(reinterpret_cast<const char*>(data), size);
  HttpResponse response;
  response.status = 429;
  // Lines "name: value", as they are handed on.
  for (std::size_t from = 0; from < text.size();) {
    const auto end = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, end - from);
    if (const auto colon = line.find(": "); colon != std::string::npos) {
      response.headers.push_back({line.substr(0, colon), line.substr(colon + 2)});
    }
    from = end + 1;
  }
  for (const auto& wait : {RetryAfter(response), RateLimitWait(response)}) {
    if (wait && !(wait->count() >= 0 && std::isfinite(wait->count()))) __builtin_trap();
  }
  ParseHttpDate(text);
  HttpRequest request;
  request.url = text;
  if (const auto url = FullUrl(request); url && Origin(*url).empty()) __builtin_trap();
  if (Redact(text, {"secret"}).find("secret") != std::string::npos) __builtin_trap();
  // A secret is found in the Base64 of anything that holds it.
  const std::string encoded = Base64(text + "secret-text" + text);
  if (Redact(encoded, {"secret-text"}) == encoded) __builtin_trap();
  return 0;
}
