#include "http/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace lowtide {
namespace {

constexpr std::string_view kUnreserved =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

std::string_view HostAndPort(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  url.remove_prefix(scheme + 3);
  return url.substr(0, url.find_first_of("/?#"));
}

}  // namespace

std::string PercentEncode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (kUnreserved.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

Result<std::string> FullUrl(const HttpRequest& request) {
  const std::string_view url = request.url;
  const auto refuse = [](std::string_view why) {
    return Fail(Code::kInvalidArgument, fmt::format("an address {}", why));
  };
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    return refuse("must begin with http:// or https://");
  }
  const std::string_view host = HostAndPort(url);
  if (host.empty() || host.front() == ':') return refuse("must name a host");
  if (host.find('@') != std::string_view::npos) return refuse("must not hold a user or password");
  if (url.find_first_of("?#") != std::string_view::npos) {
    return refuse("must not hold a query or fragment");
  }
  if (std::ranges::any_of(url, [](unsigned char c) { return c <= 0x20 || c >= 0x7f; })) {
    return refuse("must not hold blanks or control characters");
  }
  std::string out(url);
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    out += separator;
    out += PercentEncode(name) + "=" + PercentEncode(value);
    separator = '&';
  }
  return out;
}

std::string Origin(std::string_view url) {
  const auto scheme = url.find("://");
  std::string out(url.substr(0, scheme == std::string_view::npos ? 0 : scheme + 3));
  out += HostAndPort(url);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool IsLoopback(std::string_view url) {
  std::string_view host = HostAndPort(url);
  if (host.starts_with("[::1]")) return true;
  host = host.substr(0, host.find(':'));
  if (host == "localhost") return true;
  const bool digits =
      std::ranges::all_of(host, [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
  return digits && host.starts_with("127.");
}

}  // namespace lowtide
