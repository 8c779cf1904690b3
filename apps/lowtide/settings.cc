#include "settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <sstream>

#include "base/file.h"
#include "environment.h"
#include "option_lookup.h"
#include "provider_settings.h"
#include "zone_settings.h"

namespace lowtide::cli {
namespace {

constexpr std::size_t kMaxSettingsBytes = 1U << 20U;
constexpr std::string_view kPrefix = "LOWTIDE_";

// Variables with a meaning of their own; see the reference of the environment.
constexpr std::array<std::string_view, 10> kNotSettings = {
    "LOWTIDE_SOCKET",        "LOWTIDE_RUN_ID",     "LOWTIDE_NVML_LIBRARY", "LOWTIDE_POWERCAP_ROOT",
    "LOWTIDE_STATE_DIR",     "LOWTIDE_BATCH_SIZE", "LOWTIDE_DEBUG",        "LOWTIDE_TEST_DATA",
    "LOWTIDE_UPDATE_GOLDEN", "LOWTIDE_DATA_DIR"};

std::string NormalKey(std::string_view key) {
  std::string out(key);
  std::ranges::replace(out, '_', '-');
  return out;
}

// One TOML value as an option would be typed; nothing for a table or an array.
std::optional<std::string> Scalar(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  std::ostringstream out;
  if (const auto* date = node.as_date()) out << date->get();
  if (const auto* time = node.as_time()) out << time->get();
  if (const auto* both = node.as_date_time()) out << both->get();
  if (out.str().empty()) return std::nullopt;
  return out.str();
}

std::string At(const std::string& file, const toml::source_region& where) {
  return fmt::format("{}:{}", file, where.begin.line);
}

Result<std::vector<std::string>> Values(const toml::node& node, const std::string& origin,
                                        std::string_view key) {
  std::vector<std::string> values;
  const auto add = [&](const toml::node& element) -> Status {
    auto value = Scalar(element);
    if (!value || value->empty()) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: '{}' {}; allowed are a text, a number, a time, true or false, "
                              "and an array of these",
                              origin, key, value ? "is empty" : "is not a value"));
    }
    values.push_back(*std::move(value));
    return {};
  };
  if (const auto* array = node.as_array()) {
    for (const auto& element : *array) LOWTIDE_TRY_STATUS(add(element));
    if (!values.empty()) return values;
    return Fail(Code::kInvalidArgument, fmt::format("{}: '{}' is an empty array", origin, key));
  }
  LOWTIDE_TRY_STATUS(add(node));
  return values;
}

// Keys of this table first, those of its verbs after, so that these win.
Status Collect(const toml::table& table, const std::string& verb, const std::string& file,
               Settings& out) {
  for (const auto& [name, node] : table) {
    if (node.is_table()) continue;
    Setting setting{.verb = verb,
                    .key = NormalKey(name.str()),
                    .values = {},
                    .origin = At(file, node.source())};
    LOWTIDE_TRY(setting.values, Values(node, setting.origin, name.str()));
    out.push_back(std::move(setting));
  }
  for (const auto& [name, node] : table) {
    if (const auto* inner = node.as_table()) {
      const std::string path =
          verb.empty() ? std::string(name.str()) : fmt::format("{} {}", verb, name.str());
      if (inner->empty()) {
        out.push_back({.verb = path, .key = "", .values = {}, .origin = At(file, node.source())});
      }
      LOWTIDE_TRY_STATUS(Collect(*inner, path, file, out));
    }
  }
  return {};
}

// The long names of the options of `app` and of the verbs below it.
void CollectKeys(const CLI::App& app, std::set<std::string>& keys) {
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) {
      if (FindOption(app, name) != nullptr) keys.insert(name);
    }
  }
  for (const CLI::App* child : Children(app)) CollectKeys(*child, keys);
}

std::string AllowedVerbs(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* child : Children(app)) names.push_back(child->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

// What settings add for one app, given the arguments typed for it.
void InjectFor(const CLI::App& app, const std::string& verb, const std::vector<std::string>& typed,
               const Settings& settings, InjectedArguments& out) {
  std::set<const CLI::Option*> taken;
  for (const auto& arg : typed) {
    if (const auto* option = TypedOption(app, arg)) taken.insert(option);
  }
  const auto excluded = [&](const CLI::Option* option) {
    if (taken.contains(option)) return true;
    return std::ranges::any_of(option->get_excludes(),
                               [&](const CLI::Option* other) { return taken.contains(other); });
  };
  for (auto setting = settings.rbegin(); setting != settings.rend(); ++setting) {
    if (!Applies(*setting, verb)) continue;
    const CLI::Option* option = FindOption(app, setting->key);
    if (option == nullptr || excluded(option)) continue;
    taken.insert(option);
    for (const auto& value : setting->values) {
      out.args.push_back(fmt::format("--{}={}", setting->key, value));
    }
    out.used.push_back(*setting);
  }
}

}  // namespace

bool Applies(const Setting& setting, std::string_view verb) {
  return setting.verb.empty() || verb == setting.verb ||
         (verb.starts_with(setting.verb) && verb[setting.verb.size()] == ' ');
}

SettingsSources DefaultSettingsSources() {
  SettingsSources sources;
  if (const auto xdg = Environment("XDG_CONFIG_HOME"); xdg && xdg->starts_with('/')) {
    sources.files.push_back(std::filesystem::path(*xdg) / "lowtide/config.toml");
  } else if (const auto home = Environment("HOME"); home && !home->empty()) {
    sources.files.push_back(std::filesystem::path(*home) / ".config/lowtide/config.toml");
  }
  sources.files.emplace_back("./lowtide.toml");
  sources.environment = EnvironmentStartingWith(kPrefix);
  return sources;
}

Result<Settings> ParseSettings(std::string_view toml, const std::string& file) {
  toml::table table;
  try {
    table = toml::parse(toml);
  } catch (const toml::parse_error& e) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: {}", At(file, e.source()), e.description()));
  }
  Settings settings;
  LOWTIDE_TRY_STATUS(Collect(table, "", file, settings));
  return settings;
}

Result<Settings> LoadSettings(const SettingsSources& sources) {
  Settings settings;
  for (const auto& path : sources.files) {
    const auto text = ReadFile(path, kMaxSettingsBytes);
    if (!text && text.error().code == Code::kNotFound) continue;
    if (!text) return std::unexpected(text.error());
    LOWTIDE_TRY(const Settings from_file, ParseSettings(*text, path.string()));
    settings.insert(settings.end(), from_file.begin(), from_file.end());
  }
  for (const auto& [name, value] : sources.environment) {
    if (value.empty() || !name.starts_with(kPrefix) || name.starts_with("LOWTIDE_FAKE_") ||
        std::ranges::find(kNotSettings, name) != kNotSettings.end()) {
      continue;
    }
    std::string key = NormalKey(name.substr(kPrefix.size()));
    std::ranges::transform(key, key.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    settings.push_back({.verb = "",
                        .key = std::move(key),
                        .values = {value},
                        .origin = "environment " + name,
                        .from_environment = true});
  }
  return settings;
}

Result<CheckedSettings> CheckSettings(const CLI::App& app, const Settings& settings) {
  CheckedSettings out;
  for (const auto& setting : settings) {
    if (IsProviderSetting(setting)) continue;
    if (IsZoneSetting(setting)) {
      out.settings.push_back(setting);
      continue;
    }
    const CLI::App* verb = FindVerb(app, setting.verb);
    if (verb == nullptr) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format("{}: [{}] is not a verb; allowed are {}, [sources.NAME] and [zones.KEY]",
                      setting.origin, setting.verb, AllowedVerbs(app)));
    }
    if (setting.key.empty()) continue;  // an empty table
    std::set<std::string> allowed;
    CollectKeys(*verb, allowed);
    if (allowed.contains(setting.key)) {
      out.settings.push_back(setting);
      continue;
    }
    if (setting.from_environment) {
      out.unknown_variables.push_back(setting.origin.substr(setting.origin.find(' ') + 1));
      continue;
    }
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: unknown key '{}'{}; allowed are {}", setting.origin, setting.key,
                            setting.verb.empty() ? "" : fmt::format(" in [{}]", setting.verb),
                            fmt::join(allowed, ", ")));
  }
  return out;
}

Settings EffectiveSettings(const Settings& settings) {
  Settings out;
  for (auto it = settings.begin(); it != settings.end(); ++it) {
    const bool replaced = std::any_of(it + 1, settings.end(), [&](const Setting& later) {
      return later.key == it->key && Applies(later, it->verb);
    });
    if (!replaced && !it->key.empty()) out.push_back(*it);
  }
  return out;
}

InjectedArguments InjectSettings(const CLI::App& app, const std::vector<std::string>& args,
                                 const Settings& settings) {
  InjectedArguments out;
  const CLI::App* at = &app;
  std::string verb;
  std::size_t next = 0;
  while (true) {
    const std::vector<std::string> typed(args.begin() + static_cast<std::ptrdiff_t>(next),
                                         args.end());
    InjectFor(*at, verb, typed, settings, out);
    // Pass over this app's own arguments to the name of the verb below it.
    const CLI::App* below = nullptr;
    for (; next < args.size() && below == nullptr; ++next) {
      out.args.push_back(args[next]);
      const CLI::Option* option = TypedOption(*at, args[next]);
      if (option != nullptr) {
        if (ValueFollows(*option, args[next]) && next + 1 < args.size()) {
          out.args.push_back(args[++next]);
        }
      } else if (!args[next].starts_with('-')) {
        below = Child(*at, args[next]);
      }
    }
    if (below == nullptr) return out;
    at = below;
    verb += (verb.empty() ? "" : " ") + at->get_name();
  }
}

}  // namespace lowtide::cli
