// The providers by name.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grid/provider.h"
#include "grid/providers/generation_mix.h"
#include "grid/providers/provider_settings.h"
#include "grid/zone_table.h"
#include "http/http.h"

namespace lowtide {

enum class Credential : std::uint8_t { kNone, kKey, kLogin };

struct ProviderInfo {
  std::string_view name;      // in the settings: [sources.NAME]
  std::string_view title;     // for people
  std::string_view endpoint;  // its own; empty: must be set
  Credential credential;
  std::vector<std::string_view> key_variables;  // names that users have for the key already
  std::string_view gives;                       // signal, basis, step, horizon, in one line
  std::string_view page;                        // where to get a key, or its terms
};

// In the order in which they are listed.
std::span<const ProviderInfo> Providers();
// nullptr: there is none of that name.
const ProviderInfo* FindProvider(std::string_view name);

// What providers share; all outlive them.
struct ProviderParts {
  HttpTransport& transport;
  const ZoneTable& zones;
  const EmissionFactors& factors;
};

// kNotFound for a name that is none (the error lists those there are); kInvalidArgument for
// settings that cannot work, naming the one to change. Sends nothing.
Result<std::unique_ptr<Provider>> MakeProvider(std::string_view name,
                                               const ProviderSettings& settings,
                                               const ProviderParts& parts);

}  // namespace lowtide
