#include "http/redact.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "http/base64.h"
#include "http/url.h"

namespace lowtide {
namespace {

constexpr std::size_t kShortestSecret = 4;
constexpr std::size_t kExcerpt = 160;

constexpr std::array<std::string_view, 14> kSecretNames = {"authorization", "auth-token",
                                                           "apikey",        "api_key",
                                                           "api-key",       "x-api-key",
                                                           "securitytoken", "token",
                                                           "password",      "cookie",
                                                           "username",      "set-cookie",
                                                           "access_token",  "proxy-authorization"};

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// "%2B" as "%2b".
std::string LowerHex(std::string encoded) {
  for (std::size_t i = 0; i + 2 < encoded.size(); ++i) {
    if (encoded[i] != '%') continue;
    for (char* c = &encoded[i + 1]; c <= &encoded[i + 2]; ++c) {
      *c = static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
    }
  }
  return encoded;
}

void ReplaceAll(std::string& text, std::string_view what) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), kHidden);
    at += kHidden.size();
  }
}

// What of `secret` shows in the Base64 of any text that holds it: the characters that depend on
// neither what comes before, which shifts it by 0 to 2 bytes, nor what comes after.
void AddBase64Forms(const std::string& secret, std::vector<std::string>& forms) {
  constexpr std::size_t kShortest = 6;  // less is found in ordinary text
  for (std::size_t shift = 0; shift < 3; ++shift) {
    const std::string text = Base64(std::string(shift, '\0') + secret);
    const std::size_t from = (shift * 8 + 5) / 6;
    const std::size_t to = (shift + secret.size()) * 8 / 6;
    if (to >= from + kShortest) forms.push_back(text.substr(from, to - from));
  }
}

bool IsSecret(const HttpRequest& request, std::string_view name) {
  if (IsSecretName(name)) return true;
  return std::ranges::any_of(request.secret_names,
                             [&](const std::string& s) { return Lower(s) == Lower(name); });
}

// The request's own secrets: those it names, and the values of its secret fields.
std::vector<std::string> SecretsOf(const HttpRequest& request) {
  std::vector<std::string> secrets = request.secrets;
  for (const auto& [name, value] : request.query) {
    if (IsSecret(request, name)) secrets.push_back(value);
  }
  for (const HttpHeader& header : request.headers) {
    if (!IsSecret(request, header.name)) continue;
    secrets.push_back(header.value);
    // "Bearer abc": the credentials alone are a secret too.
    if (const auto blank = header.value.find(' '); blank != std::string::npos) {
      secrets.push_back(header.value.substr(blank + 1));
    }
  }
  return secrets;
}

}  // namespace

bool IsSecretName(std::string_view name) {
  return std::ranges::find(kSecretNames, Lower(name)) != kSecretNames.end();
}

std::string Redact(std::string text, const std::vector<std::string>& secrets) {
  // The longest first: one secret may be a part of another.
  std::vector<std::string> forms;
  for (const std::string& secret : secrets) {
    if (secret.size() < kShortestSecret) continue;
    forms.push_back(secret);
    const std::string encoded = PercentEncode(secret);
    forms.push_back(encoded);
    forms.push_back(LowerHex(encoded));
    AddBase64Forms(secret, forms);
  }
  std::ranges::sort(forms, [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (const std::string& form : forms) ReplaceAll(text, form);
  return text;
}

std::string Describe(const HttpRequest& request) {
  std::string out = request.method + " " + request.url;
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    out += separator;
    out += PercentEncode(name);
    out += '=';
    out += IsSecret(request, name) ? std::string(kHidden) : PercentEncode(value);
    separator = '&';
  }
  return Redact(std::move(out), SecretsOf(request));
}

std::string Excerpt(std::string_view body, const HttpRequest& request) {
  // Cut after the secrets are gone: half a secret would not be found.
  std::string text = Redact(std::string(body), SecretsOf(request));
  text.resize(std::min(text.size(), 2 * kExcerpt));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (text.size() > kExcerpt) {
    text.resize(kExcerpt);
    text += "...";
  }
  return text;
}

std::string DescribeAnswer(const HttpRequest& request, const HttpResponse& response) {
  const std::string said = Excerpt(response.body, request);
  return fmt::format("{}: HTTP {}{}{}", Describe(request), response.status,
                     said.empty() ? "" : ": ", said);
}

}  // namespace lowtide
