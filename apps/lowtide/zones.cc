// lowtide zones: the zones of the grid, the cloud regions in them, and what lies near a place.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "base/embedded/embedded.h"
#include "base/json.h"
#include "environment.h"
#include "grid/zone_table.h"
#include "option_checks.h"
#include "verbs.h"
#include "zone_tables.h"

namespace lowtide::cli {
namespace {

struct ZonesFlags {
  std::string search;
  std::string near;
  std::size_t count = 10;
  bool json = false;
};

struct Row {
  const ZoneInfo* zone;
  std::optional<double> distance_km;
};

std::vector<std::string> RegionsIn(const ZoneTable& table, const ZoneInfo& zone) {
  std::vector<std::string> out;
  for (const CloudRegion& region : table.Regions()) {
    if (region.zone.key == zone.zone.key) {
      out.push_back(fmt::format("{}:{}", region.provider, region.region));
    }
  }
  return out;
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// The zone of that key and those below it; where there are none, zones whose key, name, place or
// cloud region holds the text.
std::vector<Row> Search(const ZoneTable& table, const std::string& text) {
  const std::string part = Lower(text);
  std::vector<Row> exact;
  std::vector<Row> holding;
  for (const ZoneInfo& zone : table.Zones()) {
    const std::string key = Lower(zone.zone.key);
    if (key == part || key.starts_with(part + "-")) exact.push_back({&zone, std::nullopt});
    bool found = key.find(part) != key.npos || Lower(zone.name).find(part) != key.npos ||
                 Lower(zone.place).find(part) != key.npos;
    for (const std::string& region : RegionsIn(table, zone)) {
      found = found || region.find(part) != region.npos;
    }
    if (found) holding.push_back({&zone, std::nullopt});
  }
  return exact.empty() ? holding : exact;
}

Json ToJson(const ZoneTable& table, const std::vector<Row>& rows) {
  Json out = Json::array();
  for (const Row& row : rows) {
    const ZoneInfo& zone = *row.zone;
    Json names = Json::object();
    for (const auto& [provider, name] : zone.provider_names) names[provider] = name;
    out.push_back(
        {{"zone", zone.zone.key},
         {"name", zone.name},
         {"place", zone.place},
         {"latitude_deg", zone.at.latitude},
         {"longitude_deg", zone.at.longitude},
         {"distance_km", row.distance_km ? Json(std::round(*row.distance_km * 10) / 10) : Json()},
         {"cloud_regions", RegionsIn(table, zone)},
         {"source_names", std::move(names)}});
  }
  return {{"zones", std::move(out)}};
}

void PrintText(const ZoneTable& table, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const ZoneInfo& zone = *row.zone;
    std::string line = fmt::format("{:<13} {:<40}", zone.zone.key, zone.name);
    if (row.distance_km) line += fmt::format(" {:>6.0f} km to {}", *row.distance_km, zone.place);
    const auto regions = RegionsIn(table, zone);
    if (!regions.empty()) line += fmt::format("  {}", fmt::join(regions, " "));
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

int Show(const ZonesFlags& flags) {
  const auto table = EmbeddedZoneTable();
  if (!table) return PrintError(table.error());
  std::vector<Row> rows;
  if (!flags.near.empty()) {
    const auto at = ParseCoordinates(flags.near);
    if (!at) return PrintError(Error{at.error().code, "--near: " + at.error().message});
    for (const NearZone& near : table->Near(*at, flags.count)) {
      rows.push_back({near.zone, near.distance_km});
    }
  } else {
    rows = Search(*table, flags.search);
    if (rows.empty() || table->IsFormer(flags.search)) {
      const auto resolved = table->Resolve(flags.search);
      if (!resolved) return PrintError(resolved.error());
      rows = {{table->Find(resolved->key), std::nullopt}};
    }
  }
  if (flags.json) {
    fmt::print("{}\n", DumpJsonPretty(ToJson(*table, rows)));
    return 0;
  }
  PrintText(*table, rows);
  if (!flags.near.empty()) {
    fmt::print("Distances are to one place in each zone; a border may lie between.\n");
  }
  return 0;
}

}  // namespace

Result<ZoneTable> EmbeddedZoneTable() {
  LOWTIDE_TRY(const std::string_view zones, EmbeddedFile("grid/zones.csv"));
  LOWTIDE_TRY(const std::string_view regions, EmbeddedFile("grid/cloud_regions.csv"));
  LOWTIDE_TRY(const std::string_view aliases, EmbeddedFile("grid/zone_aliases.csv"));
  return ZoneTable::Parse(zones, regions, aliases);
}

void AddZonesVerb(CLI::App& app, int& exit_code) {
  auto* verb = app.add_subcommand("zones", "Zones of the grid, and the cloud regions in them");
  auto flags = std::make_shared<ZonesFlags>();
  verb->add_option("TEXT", flags->search,
                   "Only zones with this in key, name, place or cloud region (default: all)");
  auto* near =
      verb->add_option("--near", flags->near,
                       "Zones around a place: LATITUDE,LONGITUDE in degrees (default: none)")
          ->type_name("LAT,LON")
          ->delimiter('\0')
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  near->excludes(verb->get_option("TEXT"));
  verb->add_option("--count", flags->count, "How many of them")
      ->check(WholeNumberFrom(1, 1000))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->capture_default_str();
  verb->add_flag("--json", flags->json, "Print JSON");
  verb->callback([&exit_code, flags] { exit_code = Show(*flags); });
}

}  // namespace lowtide::cli
