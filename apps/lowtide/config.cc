// lowtide config: the settings in force and where each comes from.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "environment.h"
#include "grid/providers/registry.h"
#include "intensity_options.h"
#include "provider_settings.h"
#include "settings.h"
#include "usage.h"
#include "verbs.h"
#include "zone_settings.h"
#include "zone_tables.h"

namespace lowtide::cli {
namespace {

Json SourcesToJson(const ProviderSettingsBook& book) {
  Json out = Json::array();
  const auto shown = book.Shown();
  for (const ProviderInfo& info : Providers()) {
    Json rows = Json::array();
    for (const auto& row : shown) {
      if (row.provider != info.name) continue;
      rows.push_back({{"key", row.key}, {"value", row.value}, {"from", row.origin}});
    }
    const auto missing = book.WhatIsMissing(info.name);
    out.push_back({{"name", info.name},
                   {"title", info.title},
                   {"gives", info.gives},
                   {"endpoint", info.endpoint.empty() ? Json() : Json(info.endpoint)},
                   {"usable", !missing},
                   {"missing", missing ? Json(*missing) : Json()},
                   {"page", info.page},
                   {"settings", std::move(rows)}});
  }
  return out;
}

void PrintSources(const ProviderSettingsBook& book) {
  fmt::print("\nSources:\n");
  for (const ProviderInfo& info : Providers()) {
    const auto missing = book.WhatIsMissing(info.name);
    fmt::print("  {:<20} {}\n", info.name,
               missing ? fmt::format("{}: {}", *missing, info.page) : "can be used");
  }
  for (const auto& row : book.Shown()) {
    const std::string line = fmt::format("[sources.{}] {} = {}", row.provider, row.key, row.value);
    fmt::print("{:<40} {}\n", line, row.origin);
  }
}

Json ToJson(const SettingsSources& sources, const Settings& settings,
            const ProviderSettingsBook& book) {
  Json files = Json::array();
  for (const auto& file : sources.files) {
    files.push_back({{"path", file.string()}, {"exists", std::filesystem::exists(file)}});
  }
  Json rows = Json::array();
  for (const auto& setting : settings) {
    rows.push_back(
        {{"verb", setting.verb.empty() ? Json() : Json(setting.verb)},
         {"key", setting.key},
         {"value", setting.values.size() == 1 ? Json(setting.values[0]) : Json(setting.values)},
         {"from", setting.origin}});
  }
  return {{"settings", std::move(rows)},
          {"files", std::move(files)},
          {"sources", SourcesToJson(book)},
          {"state_directory", StateDirectory().string()}};
}

// As it is written in a file: "[runs.list] ".
std::string TableOf(const Setting& setting) {
  if (setting.verb.empty()) return "";
  std::string path = setting.verb;
  std::ranges::replace(path, ' ', '.');
  return fmt::format("[{}] ", path);
}

void PrintText(const SettingsSources& sources, const Settings& settings) {
  if (settings.empty()) fmt::print("No settings: every option has its default.\n");
  for (const auto& setting : settings) {
    const std::string line =
        fmt::format("{}{} = {}", TableOf(setting), setting.key, fmt::join(setting.values, ", "));
    fmt::print("{:<40} {}\n", line, setting.origin);
  }
  // Highest precedence first, as one would look.
  fmt::print("\nFiles:\n");
  for (auto file = sources.files.rbegin(); file != sources.files.rend(); ++file) {
    fmt::print("  {}{}\n", file->string(), std::filesystem::exists(*file) ? "" : " (absent)");
  }
  fmt::print("State: {}\n", StateDirectory().string());
}

// What the verb would say to the values of its option; empty: nothing.
std::string Problem(CLI::Option& option, const Setting& setting) {
  for (const std::string& value : setting.values) {
    if (option.get_items_expected_max() == 0) {
      if (std::string problem = FlagProblem(value); !problem.empty()) return problem;
      continue;
    }
    // An array's elements, and what a delimiter divides, are checked one by one.
    std::vector<std::string> parts = {value};
    if (option.get_delimiter() != '\0') parts = CLI::detail::split(value, option.get_delimiter());
    for (const std::string& part : parts) {
      for (int i = 0;; ++i) {
        const CLI::Validator* check = nullptr;
        try {
          check = option.get_validator(i);
        } catch (const CLI::OptionNotFound&) {
          break;
        }
        if (std::string problem = (*check)(part); !problem.empty()) return problem;
      }
    }
  }
  return {};
}

// Every setting is checked as each verb that takes it would.
Status CheckValues(CLI::App& app, const std::string& verb, const Settings& settings) {
  for (const Setting& setting : settings) {
    if (!Applies(setting, verb)) continue;
    CLI::Option* const option = app.get_option_no_throw("--" + setting.key);
    if (option == nullptr) continue;
    if (const std::string problem = Problem(*option, setting); !problem.empty()) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("--{}: {} (set in {})", setting.key, problem, setting.origin));
    }
  }
  for (CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string path = verb.empty() ? below->get_name() : verb + " " + below->get_name();
    LOWTIDE_TRY_STATUS(CheckValues(*below, path, settings));
  }
  return {};
}

// Those of [zones.KEY] as those of any verb that has the option.
Settings WithZonesAsVerbs(Settings settings) {
  for (Setting& setting : settings) {
    if (IsZoneSetting(setting)) setting.verb.clear();
  }
  return settings;
}

// A zone that no verb would find. A trace's columns may be called anything.
Status CheckZones(const Settings& settings, const ZoneTable& zones) {
  const auto given = [&](std::string_view key) {
    return std::ranges::any_of(settings, [&](const Setting& s) { return s.key == key; });
  };
  if (given("trace")) return {};
  RealClock clock;
  for (const Setting& setting : settings) {
    if (setting.key != "zone") continue;
    const std::string& zone = setting.values.back();
    if (given("sources") && ParseCoordinates(zone)) continue;
    if (zones.Resolve(zone)) continue;
    // A country without a series of its own has its yearly average.
    IntensityFlags flags;
    flags.zone = zone;
    if (const auto grid = OpenGrid(flags, clock); !grid) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{} (set in {})", grid.error().message, setting.origin));
    }
  }
  return {};
}

int Show(CLI::App& app, bool as_json) {
  const SettingsSources sources = DefaultSettingsSources();
  const auto loaded = LoadSettings(sources);
  if (!loaded) return PrintError(loaded.error());
  const auto checked = CheckSettings(app, *loaded);
  if (!checked) return PrintError(checked.error());
  const Settings settings = EffectiveSettings(checked->settings);
  const auto book = ProviderSettingsBook::Make(*loaded, Environment);
  if (!book) return PrintError(book.error());
  const auto zones = EmbeddedZoneTable();
  if (!zones) return PrintError(zones.error());
  for (const Status& status :
       {CheckZoneSettings(checked->settings, *zones),
        CheckValues(app, "", WithZonesAsVerbs(settings)), CheckZones(settings, *zones)}) {
    if (!status) return PrintError(status.error());
  }
  for (const std::string& warning : book->Warnings()) LogWarning(warning);
  if (as_json) {
    fmt::print("{}\n", DumpJsonPretty(ToJson(sources, settings, *book)));
  } else {
    PrintText(sources, settings);
    PrintSources(*book);
  }
  return 0;
}

}  // namespace

void AddConfigVerb(CLI::App& app, int& exit_code) {
  auto* verb = app.add_subcommand("config", "The settings in force and where each comes from");
  verb->group("Setup");
  auto as_json = std::make_shared<bool>(false);
  verb->add_flag("--json", *as_json, "Print JSON");
  verb->callback([&app, &exit_code, as_json] { exit_code = Show(app, *as_json); });
}

}  // namespace lowtide::cli
