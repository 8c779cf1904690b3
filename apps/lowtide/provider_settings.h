// What the user has set for the providers of carbon intensity.
//
// For one setting, in rising precedence: the names that users have for a key already (EIA_API_KEY,
// WATTTIME_USERNAME, ...), [sources.NAME] of ~/.config/lowtide/config.toml and of ./lowtide.toml,
// LOWTIDE_<NAME>_* (LOWTIDE_EIA_KEY). A key and a key file are one setting, as are a password and a
// password file; where a variable gives both, the key itself counts.
//
// A key is never in a settings file, and is never shown. A folder's ./lowtide.toml cannot choose to
// which server a key is sent.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grid/providers/provider_settings.h"
#include "settings.h"

namespace lowtide::cli {

// Whether the setting is one of [sources.NAME] or LOWTIDE_<NAME>_*: no option of a verb.
bool IsProviderSetting(const Setting& setting);

// For people: a secret reads "set".
struct ShownProviderSetting {
  std::string provider;
  std::string key;  // as in [sources.NAME]
  std::string value;
  std::string origin;
};

class ProviderSettingsBook {
 public:
  using Lookup = std::function<std::optional<std::string>(const char* name)>;

  // Takes the settings that IsProviderSetting; `environment` finds the names that users have
  // already. kInvalidArgument, naming file, line and key: an unknown source or key, a value that it
  // cannot have, a secret in a settings file. Reads no key file.
  static Result<ProviderSettingsBook> Make(const Settings& settings, const Lookup& environment);

  // With the key files read. Errors: those of ReadFile, or kInvalidArgument for an empty or long
  // one, which name the file and never its content.
  Result<ProviderSettings> For(std::string_view provider) const;

  // What is set, in the order of the providers.
  std::vector<ShownProviderSetting> Shown() const;

  // What should be put right: a key file that others may read.
  std::vector<std::string> Warnings() const;

  // Why the provider cannot be used as things are; nothing when it can.
  std::optional<std::string> WhatIsMissing(std::string_view provider) const;

 private:
  struct Value {
    std::vector<std::string> texts;
    std::string origin;
    bool is_file = false;  // of a key or password
  };
  using Values = std::map<std::string, Value, std::less<>>;  // by key

  Status Take(const Setting& setting);
  Status Set(std::string_view provider, std::string_view key, const Setting& setting);
  Result<std::string> Secret(const Values& values, std::string_view key) const;
  std::string Text(const Values& values, std::string_view key) const;

  std::map<std::string, Values, std::less<>> providers_;
};

// The providers' settings of this process.
Result<ProviderSettingsBook> LoadProviderSettings(const SettingsSources& sources);

}  // namespace lowtide::cli
