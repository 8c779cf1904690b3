// What a user may set for one provider. Who reads it from where is the caller's business.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grid/intensity.h"

namespace lowtide {

struct ProviderSettings {
  std::string endpoint;  // base URL; empty: the provider's own
  std::string key;       // token or API key
  std::string username;
  std::string password;
  std::string version;     // of the interface: "v4", "v3"; empty: the newest
  std::string key_header;  // the header that carries the key; empty: the provider's own
  std::optional<Signal> signal;
  std::optional<Basis> basis;
  // Zone key -> the provider's own name, before the table of zones.
  std::vector<std::pair<std::string, std::string>> zone_names;
};

}  // namespace lowtide
