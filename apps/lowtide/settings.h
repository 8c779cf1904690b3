// Settings: options that need not be typed. In rising precedence they come from
// ~/.config/lowtide/config.toml, ./lowtide.toml, LOWTIDE_* variables; what is typed wins over all.
// A top-level key of a file serves every verb that has the option (`zone = "DE"`), a key in [VERB]
// only that verb, over the same file's top-level keys. A key is an option's long name, with - or _.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace lowtide::cli {

struct Setting {
  std::string verb;                 // "run", "runs list"; empty: every verb that has the option
  std::string key;                  // the option's long name, without "--"
  std::vector<std::string> values;  // one, or the elements of an array
  std::string origin;               // "./lowtide.toml:3", "environment LOWTIDE_ZONE"
  bool from_environment = false;
};

// In rising precedence: a later one wins.
using Settings = std::vector<Setting>;

struct SettingsSources {
  std::vector<std::filesystem::path> files;  // in rising precedence; those absent are passed over
  std::vector<std::pair<std::string, std::string>> environment;  // LOWTIDE_* names and values
};

// The places of this process: its environment, home and working directory.
SettingsSources DefaultSettingsSources();

// Errors name file, line and key. kInvalidArgument for bad TOML or a value that no option can take
// (a nested table, an empty text).
Result<Settings> ParseSettings(std::string_view toml, const std::string& file);
Result<Settings> LoadSettings(const SettingsSources& sources);

// Every setting of a file must be an option of its verb, or of any verb where it names none: the
// error names file, line, key and what is allowed. A variable that no option bears is set apart: it
// may belong to another version. Settings of sources (provider_settings.h) are left out.
struct CheckedSettings {
  Settings settings;
  std::vector<std::string> unknown_variables;
};
Result<CheckedSettings> CheckSettings(const CLI::App& app, const Settings& settings);

// Whether the setting is one of the verb ("runs list"; empty: of the program), if that has the
// option.
bool Applies(const Setting& setting, std::string_view verb);

// `settings` without those that a later one replaces everywhere.
Settings EffectiveSettings(const Settings& settings);

struct InjectedArguments {
  std::vector<std::string> args;
  Settings used;
};

// `args` (without the program's name, and nothing from "--" on) with "--key=value" put in right
// after the verb that has the option. Left out is what the user typed, and what excludes (in
// CLI11's sense) an option typed or of higher precedence.
InjectedArguments InjectSettings(const CLI::App& app, const std::vector<std::string>& args,
                                 const Settings& settings);

}  // namespace lowtide::cli
