#include "zone_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "option_lookup.h"

namespace lowtide::cli {
namespace {

constexpr std::string_view kTable = "zones ";
constexpr std::array<std::string_view, 2> kKeys = {"sources", "signal"};

std::string_view KeyOf(const Setting& setting) {
  return std::string_view(setting.verb).substr(kTable.size());
}

struct Typed {
  std::string verb;                 // "forecast score"
  std::optional<std::string> zone;  // as typed
};

Typed TypedZone(const CLI::App& app, const std::vector<std::string>& args) {
  Typed out;
  const CLI::App* at = &app;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    const CLI::Option* option = TypedOption(*at, arg);
    if (option == nullptr) option = TypedOption(app, arg);  // --log-level may stand anywhere
    if (option != nullptr) {
      const bool follows = ValueFollows(*option, arg) && i + 1 < args.size();
      if (option->check_lname("zone")) {
        out.zone = follows ? args[i + 1] : arg.substr(std::min(arg.find('='), arg.size() - 1) + 1);
      }
      if (follows) ++i;
    } else if (!arg.starts_with('-')) {
      if (const CLI::App* below = Child(*at, arg)) {
        at = below;
        out.verb += (out.verb.empty() ? "" : " ") + at->get_name();
      } else if (!out.zone && at->get_option_no_throw("ZONE") != nullptr) {
        out.zone = arg;
      }
    }
  }
  return out;
}

}  // namespace

bool IsZoneSetting(const Setting& setting) { return setting.verb.starts_with(kTable); }

Status CheckZoneSettings(const Settings& settings, const ZoneTable& zones) {
  for (const Setting& setting : settings) {
    if (!IsZoneSetting(setting)) continue;
    if (const auto zone = zones.Resolve(KeyOf(setting)); !zone) {
      return Annotate(zone.error(), fmt::format("{}: [zones.{}]", setting.origin, KeyOf(setting)));
    }
    if (setting.key.empty() || std::ranges::find(kKeys, setting.key) != kKeys.end()) continue;
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: unknown key '{}' in [zones.{}]; allowed are {}", setting.origin,
                            setting.key, KeyOf(setting), fmt::join(kKeys, ", ")));
  }
  return {};
}

Settings SettingsForZone(const CLI::App& app, const std::vector<std::string>& args,
                         const Settings& settings, const ZoneTable& zones) {
  const Typed typed = TypedZone(app, args);
  std::optional<std::string> text = typed.zone;
  for (auto it = settings.rbegin(); it != settings.rend() && !text; ++it) {
    if (it->key == "zone" && !IsZoneSetting(*it) && Applies(*it, typed.verb)) {
      text = it->values.back();
    }
  }
  const auto zone = text ? zones.Resolve(*text) : Fail(Code::kNotFound, "none");
  Settings out;
  for (const Setting& setting : settings) {
    if (!IsZoneSetting(setting)) {
      out.push_back(setting);
      continue;
    }
    const auto own = zones.Resolve(KeyOf(setting));
    if (setting.key.empty() || !zone || !own || own->key != zone->key) continue;
    out.push_back(setting);
    out.back().verb.clear();
  }
  return out;
}

}  // namespace lowtide::cli
