#include "http/http.h"

#include <algorithm>

namespace lowtide {

std::optional<std::string_view> HttpResponse::Header(std::string_view name) const {
  const auto it = std::ranges::find(headers, name, &HttpHeader::name);
  if (it == headers.end()) return std::nullopt;
  return it->value;
}

}  // namespace lowtide
