#include "provider_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "base/file.h"
#include "environment.h"
#include "grid/providers/registry.h"

namespace lowtide::cli {
namespace {

constexpr std::size_t kMostSecretBytes = 4096;
constexpr std::string_view kFolderFile = "./lowtide.toml:";

constexpr std::array<std::string_view, 11> kKeys = {
    "endpoint", "key",    "key-file", "username",   "password",  "password-file",
    "version",  "signal", "basis",    "key-header", "zone-names"};

std::string Underscored(std::string_view text) {
  std::string out(text);
  std::ranges::replace(out, '-', '_');
  return out;
}

std::string ListOfProviders() {
  std::vector<std::string_view> names;
  for (const ProviderInfo& info : Providers()) names.push_back(info.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string ListOfKeys() {
  std::vector<std::string> names;
  for (const std::string_view key : kKeys) {
    if (key != "key" && key != "password") names.push_back(Underscored(key));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// The two parts of "eia-key", the key of LOWTIDE_EIA_KEY.
struct NameAndKey {
  const ProviderInfo* provider;
  std::string_view key;
};
std::optional<NameAndKey> SplitVariable(const Setting& setting) {
  const std::string name = Underscored(setting.key);
  for (const ProviderInfo& info : Providers()) {
    if (!name.starts_with(std::string(info.name) + "_")) continue;
    const std::string_view key = std::string_view(setting.key).substr(info.name.size() + 1);
    if (std::ranges::find(kKeys, key) != kKeys.end()) return NameAndKey{&info, key};
  }
  return std::nullopt;
}

bool IsSecretKey(std::string_view key) { return key == "key" || key == "password"; }

std::string HostOf(std::string_view url) {
  const auto slashes = url.find("//");
  if (slashes == std::string_view::npos) return "";
  url.remove_prefix(slashes + 2);
  url = url.substr(0, url.find('/'));
  if (url.starts_with('[')) return std::string(url.substr(0, url.find(']') + 1));
  return std::string(url.substr(0, url.find(':')));
}

bool IsThisMachine(std::string_view url) {
  const std::string host = HostOf(url);
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

// A relative path is relative to the settings file that names it.
std::filesystem::path PathOf(const std::string& text, const std::string& origin) {
  if (text.starts_with("~/")) {
    if (const auto home = Environment("HOME")) return std::filesystem::path(*home) / text.substr(2);
  }
  std::filesystem::path path(text);
  if (path.is_absolute() || origin.starts_with("environment ")) return path;
  return std::filesystem::path(origin.substr(0, origin.rfind(':'))).parent_path() / path;
}

Status CheckOneOf(const Setting& setting, std::string_view key,
                  std::initializer_list<std::string_view> allowed) {
  const std::string& text = setting.values.front();
  if (std::ranges::find(allowed, text) != allowed.end()) return {};
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: {} = '{}'; allowed are {}", setting.origin, Underscored(key),
                          text.substr(0, 40), fmt::join(allowed, ", ")));
}

}  // namespace

bool IsProviderSetting(const Setting& setting) {
  if (setting.from_environment) return SplitVariable(setting).has_value();
  return setting.verb == "sources" || setting.verb.starts_with("sources ");
}

Result<ProviderSettingsBook> ProviderSettingsBook::Make(const Settings& settings,
                                                        const Lookup& environment) {
  ProviderSettingsBook book;
  const auto customary = [&](std::string_view provider, std::string_view key,
                             std::string_view variable) -> Status {
    const std::string name(variable);
    const auto value = environment(name.c_str());
    if (!value || value->empty()) return {};
    return book.Set(provider, key,
                    {.verb = "",
                     .key = "",
                     .values = {*value},
                     .origin = "environment " + name,
                     .from_environment = true});
  };
  for (const ProviderInfo& info : Providers()) {
    // The first of the names that is set counts.
    for (auto name = info.key_variables.rbegin(); name != info.key_variables.rend(); ++name) {
      LOWTIDE_TRY_STATUS(customary(info.name, "key", *name));
    }
  }
  LOWTIDE_TRY_STATUS(customary("watttime", "username", "WATTTIME_USER"));
  LOWTIDE_TRY_STATUS(customary("watttime", "username", "WATTTIME_USERNAME"));
  LOWTIDE_TRY_STATUS(customary("watttime", "password", "WATTTIME_PASSWORD"));
  for (const Setting& setting : settings) {
    if (IsProviderSetting(setting)) LOWTIDE_TRY_STATUS(book.Take(setting));
  }
  return book;
}

Status ProviderSettingsBook::Take(const Setting& setting) {
  if (setting.from_environment) {
    const auto parts = SplitVariable(setting);
    // The key file's variable comes before the key's in the order of names; a key counts more.
    if (parts->key.ends_with("-file")) {
      const std::string_view plain = parts->key.substr(0, parts->key.size() - 5);
      const auto& values = providers_[std::string(parts->provider->name)];
      const auto there = values.find(plain);
      if (there != values.end() && !there->second.is_file &&
          there->second.origin.starts_with("environment LOWTIDE_")) {
        return {};
      }
    }
    return Set(parts->provider->name, parts->key, setting);
  }
  std::string_view name = setting.verb;
  name.remove_prefix(std::min<std::size_t>(name.size(), 8));  // "sources "
  const std::string provider = Underscored(name);
  if (FindProvider(provider) == nullptr) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: [sources{}{}] is not a source with settings; allowed are "
                            "[sources.NAME] with {}",
                            setting.origin, name.empty() ? "" : ".", name, ListOfProviders()));
  }
  if (setting.key.empty()) return {};  // an empty table
  if (IsSecretKey(setting.key)) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{}: a {} does not belong in a settings file; put it into a file of its "
                    "own that only you can read, and name that in {}_file",
                    setting.origin, setting.key, setting.key));
  }
  if (std::ranges::find(kKeys, setting.key) == kKeys.end()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: unknown key '{}' in [sources.{}]; allowed are {}", setting.origin,
                            setting.key, provider, ListOfKeys()));
  }
  return Set(provider, setting.key, setting);
}

Status ProviderSettingsBook::Set(std::string_view provider, std::string_view key,
                                 const Setting& setting) {
  if (key != "zone-names" && setting.values.size() != 1) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: '{}' takes one value", setting.origin, Underscored(key)));
  }
  if (key == "signal") LOWTIDE_TRY_STATUS(CheckOneOf(setting, key, {"average", "marginal"}));
  if (key == "basis") LOWTIDE_TRY_STATUS(CheckOneOf(setting, key, {"lifecycle", "direct"}));
  const ProviderInfo& info = *FindProvider(provider);
  if (key == "endpoint" && info.credential != Credential::kNone &&
      setting.origin.starts_with(kFolderFile) && !IsThisMachine(setting.values.front())) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{}: endpoint: a folder's settings cannot choose to which server the key "
                    "of {} is sent; set it in ~/.config/lowtide/config.toml or as "
                    "LOWTIDE_*_ENDPOINT",
                    setting.origin, provider));
  }
  Value value{setting.values, setting.origin, key.ends_with("-file")};
  if (key == "zone-names") {
    // LOWTIDE_<NAME>_ZONE_NAMES="GB=13,US-MIDA-PJM=PJM_DC"
    value.texts.clear();
    for (const std::string& text : setting.values) {
      std::string_view rest = text;
      while (!rest.empty()) {
        const auto comma = std::min(rest.find(','), rest.size());
        const std::string_view pair = rest.substr(0, comma);
        rest.remove_prefix(std::min(comma + 1, rest.size()));
        const auto equals = pair.find('=');
        if (equals == 0 || equals == std::string_view::npos || equals + 1 == pair.size()) {
          return Fail(Code::kInvalidArgument,
                      fmt::format("{}: zone_names: '{}': expected ZONE=NAME, such as "
                                  "US-MIDA-PJM=PJM_DC",
                                  setting.origin, pair.substr(0, 60)));
        }
        value.texts.emplace_back(pair);
      }
    }
  }
  if (value.is_file) {
    const auto path = PathOf(setting.values.front(), setting.origin);
    value.texts = {path.string()};
    key.remove_suffix(5);
  }
  providers_[std::string(provider)].insert_or_assign(std::string(key), std::move(value));
  return {};
}

std::string ProviderSettingsBook::Text(const Values& values, std::string_view key) const {
  const auto it = values.find(key);
  return it == values.end() ? "" : it->second.texts.front();
}

Result<std::string> ProviderSettingsBook::Secret(const Values& values, std::string_view key) const {
  const auto it = values.find(key);
  if (it == values.end()) return "";
  const Value& value = it->second;
  std::string text = value.texts.front();
  std::string where = value.origin;
  if (value.is_file) {
    where = fmt::format("{}: {}", value.origin, text);
    auto content = ReadFile(text, kMostSecretBytes);
    if (!content) {
      return Annotate(content.error(), fmt::format("{}: {}_file", value.origin, key));
    }
    text = *std::move(content);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.pop_back();
  }
  if (text.empty())
    return Fail(Code::kInvalidArgument, fmt::format("{}: the {} is empty", where, key));
  const bool control = std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
  if (control) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{}: the {} has more than one line, or a control character", where, key));
  }
  return text;
}

Result<ProviderSettings> ProviderSettingsBook::For(std::string_view provider) const {
  ProviderSettings out;
  const auto it = providers_.find(provider);
  if (it == providers_.end()) return out;
  const Values& values = it->second;
  LOWTIDE_TRY(out.key, Secret(values, "key"));
  LOWTIDE_TRY(out.password, Secret(values, "password"));
  out.endpoint = Text(values, "endpoint");
  out.username = Text(values, "username");
  out.version = Text(values, "version");
  out.key_header = Text(values, "key-header");
  if (const auto signal = Text(values, "signal"); !signal.empty()) {
    out.signal = signal == "marginal" ? Signal::kMarginal : Signal::kAverage;
  }
  if (const auto basis = Text(values, "basis"); !basis.empty()) {
    out.basis = basis == "direct" ? Basis::kDirect : Basis::kLifecycle;
  }
  if (const auto names = values.find("zone-names"); names != values.end()) {
    for (const std::string& pair : names->second.texts) {
      const auto equals = pair.find('=');
      out.zone_names.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
    }
  }
  return out;
}

std::vector<ShownProviderSetting> ProviderSettingsBook::Shown() const {
  std::vector<ShownProviderSetting> out;
  for (const ProviderInfo& info : Providers()) {
    const auto it = providers_.find(info.name);
    if (it == providers_.end()) continue;
    for (const auto& [key, value] : it->second) {
      ShownProviderSetting shown{std::string(info.name), Underscored(key), "", value.origin};
      if (IsSecretKey(key) && !value.is_file) {
        shown.value = "set";
      } else {
        shown.value = fmt::format("{}", fmt::join(value.texts, ", "));
        if (value.is_file) shown.key += "_file";
      }
      out.push_back(std::move(shown));
    }
  }
  return out;
}

std::vector<std::string> ProviderSettingsBook::Warnings() const {
  std::vector<std::string> out;
  for (const auto& [provider, values] : providers_) {
    for (const auto& [key, value] : values) {
      if (!value.is_file) continue;
      struct stat status{};
      const std::string& path = value.texts.front();
      if (::stat(path.c_str(), &status) != 0 || (status.st_mode & (S_IRGRP | S_IROTH)) == 0)
        continue;
      out.push_back(
          fmt::format("{}: others can read {}, which holds a {} of {}; put it right with: "
                      "chmod 600 {}",
                      value.origin, path, key, provider, path));
    }
  }
  return out;
}

std::optional<std::string> ProviderSettingsBook::WhatIsMissing(std::string_view provider) const {
  const ProviderInfo* info = FindProvider(provider);
  if (info == nullptr) return "there is no such source";
  const auto it = providers_.find(provider);
  const auto has = [&](std::string_view key) {
    return it != providers_.end() && it->second.contains(key);
  };
  if (info->endpoint.empty() && !has("endpoint")) return "needs an endpoint";
  if (info->name == "carbon_aware_sdk" && !has("signal")) return "needs a signal";
  if (info->credential == Credential::kKey && !has("key")) return "needs a key";
  if (info->credential == Credential::kLogin && !(has("username") && has("password"))) {
    return "needs a user name and a password";
  }
  return std::nullopt;
}

Result<ProviderSettingsBook> LoadProviderSettings(const SettingsSources& sources) {
  LOWTIDE_TRY(const Settings settings, LoadSettings(sources));
  return ProviderSettingsBook::Make(settings, Environment);
}

}  // namespace lowtide::cli
