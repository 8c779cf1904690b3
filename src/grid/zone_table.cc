#include "grid/zone_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/csv.h"
#include "base/near_names.h"
#include "base/sort_stably.h"
#include "grid/zone.h"

namespace lowtide {
namespace {

constexpr std::array<std::string_view, 5> kZoneColumns = {"key", "name", "lat", "lon", "place"};
constexpr double kEarthRadiusKm = 6371.0088;

std::string Upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::unexpected<Error> FailAt(const CsvTable& table, const CsvRow& row, std::string_view what) {
  return Fail(Code::kInvalidArgument, fmt::format("{}:{}: {}", table.name, row.line, what));
}

Result<Coordinates> CoordinatesIn(const CsvTable& table, const CsvRow& row, std::size_t lat,
                                  std::size_t lon) {
  Coordinates at;
  LOWTIDE_TRY(at.latitude, CsvNumber(table, row, lat));
  LOWTIDE_TRY(at.longitude, CsvNumber(table, row, lon));
  if (const auto status = CheckCoordinates(at); !status) {
    return FailAt(table, row, status.error().message);
  }
  return at;
}

double Radians(double degrees) { return degrees * std::numbers::pi / 180; }

}  // namespace

Status CheckCoordinates(const Coordinates& at) {
  if (std::abs(at.latitude) <= 90 && std::abs(at.longitude) <= 180) return {};
  return Fail(Code::kInvalidArgument,
              fmt::format("{},{} are no coordinates; allowed are a latitude of -90 to 90 and a "
                          "longitude of -180 to 180 degrees",
                          at.latitude, at.longitude));
}

Result<Coordinates> ParseCoordinates(std::string_view text) {
  const auto comma = text.find(',');
  std::optional<double> latitude;
  std::optional<double> longitude;
  if (comma != std::string_view::npos) {
    const auto trimmed = [](std::string_view part) {
      while (part.starts_with(' ')) part.remove_prefix(1);
      while (part.ends_with(' ')) part.remove_suffix(1);
      return part;
    };
    latitude = ParseNumber(trimmed(text.substr(0, comma)));
    longitude = ParseNumber(trimmed(text.substr(comma + 1)));
  }
  if (!latitude || !longitude) {
    return Fail(Code::kInvalidArgument,
                fmt::format("'{}' are no coordinates; expected LATITUDE,LONGITUDE in degrees, such "
                            "as 52.5,13.4",
                            text.substr(0, 60)));
  }
  const Coordinates at{*latitude, *longitude};
  LOWTIDE_TRY_STATUS(CheckCoordinates(at));
  return at;
}

std::string FormatDegrees(double degrees) {
  const double no_minus_zero = degrees == 0 ? 0 : degrees;
  return fmt::format("{}", no_minus_zero);
}

double DistanceKm(const Coordinates& a, const Coordinates& b) {
  // Haversine formula.
  const double lat = std::sin(Radians(b.latitude - a.latitude) / 2);
  const double lon = std::sin(Radians(b.longitude - a.longitude) / 2);
  const double h =
      lat * lat + std::cos(Radians(a.latitude)) * std::cos(Radians(b.latitude)) * lon * lon;
  return 2 * kEarthRadiusKm * std::asin(std::sqrt(std::clamp(h, 0.0, 1.0)));
}

Result<ZoneTable> ZoneTable::Parse(std::string_view zones_csv, std::string_view cloud_regions_csv,
                                   std::string_view zone_aliases_csv) {
  ZoneTable out;
  LOWTIDE_TRY_STATUS(out.ParseZones(zones_csv));
  LOWTIDE_TRY_STATUS(out.ParseRegions(cloud_regions_csv));
  LOWTIDE_TRY_STATUS(out.ParseAliases(zone_aliases_csv));
  return out;
}

Status ZoneTable::ParseZones(std::string_view csv) {
  LOWTIDE_TRY(const CsvTable table, ParseCsv(csv, "zones.csv"));
  std::array<std::size_t, kZoneColumns.size()> at{};
  for (std::size_t i = 0; i < at.size(); ++i) {
    LOWTIDE_TRY(at[i], table.Require(kZoneColumns[i]));
  }
  for (const CsvRow& row : table.rows) {
    ZoneInfo info;
    const auto zone = ParseZone(row.fields[at[0]]);
    if (!zone) return FailAt(table, row, zone.error().message);
    info.zone = *zone;
    info.name = row.fields[at[1]];
    LOWTIDE_TRY(info.at, CoordinatesIn(table, row, at[2], at[3]));
    info.place = row.fields[at[4]];
    for (std::size_t column = 0; column < table.header.size(); ++column) {
      if (std::ranges::find(at, column) != at.end() || row.fields[column].empty()) continue;
      info.provider_names.emplace(table.header[column], row.fields[column]);
    }
    zones_.push_back(std::move(info));
  }
  const auto key = [](const ZoneInfo& info) -> const std::string& { return info.zone.key; };
  std::ranges::sort(zones_, {}, key);
  const auto twice = std::ranges::adjacent_find(zones_, {}, key);
  if (twice == zones_.end()) return {};
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: '{}' is given twice", table.name, twice->zone.key));
}

Status ZoneTable::ParseRegions(std::string_view csv) {
  LOWTIDE_TRY(const CsvTable table, ParseCsv(csv, "cloud_regions.csv"));
  LOWTIDE_TRY(const std::size_t provider, table.Require("provider"));
  LOWTIDE_TRY(const std::size_t region, table.Require("region"));
  LOWTIDE_TRY(const std::size_t location, table.Require("location"));
  LOWTIDE_TRY(const std::size_t lat, table.Require("lat"));
  LOWTIDE_TRY(const std::size_t lon, table.Require("lon"));
  LOWTIDE_TRY(const std::size_t zone, table.Require("zone"));
  for (const CsvRow& row : table.rows) {
    CloudRegion out;
    out.provider = row.fields[provider];
    out.region = row.fields[region];
    out.location = row.fields[location];
    LOWTIDE_TRY(out.at, CoordinatesIn(table, row, lat, lon));
    out.zone.key = row.fields[zone];
    if (Find(out.zone.key) == nullptr) {
      return FailAt(table, row, fmt::format("zone '{}' is not in zones.csv", out.zone.key));
    }
    if (FindRegion(out.provider, out.region) != nullptr) {
      return FailAt(table, row, fmt::format("{}:{} is given twice", out.provider, out.region));
    }
    regions_.push_back(std::move(out));
  }
  return {};
}

Status ZoneTable::ParseAliases(std::string_view csv) {
  LOWTIDE_TRY(const CsvTable table, ParseCsv(csv, "zone_aliases.csv"));
  LOWTIDE_TRY(const std::size_t old_key, table.Require("old"));
  LOWTIDE_TRY(const std::size_t new_keys, table.Require("new"));
  LOWTIDE_TRY(const std::size_t note, table.Require("note"));
  for (const CsvRow& row : table.rows) {
    const std::string& old = row.fields[old_key];
    if (Find(old) != nullptr) return FailAt(table, row, fmt::format("'{}' is a zone", old));
    if (!aliases_.emplace(old, Alias{row.fields[new_keys], row.fields[note]}).second) {
      return FailAt(table, row, fmt::format("'{}' is given twice", old));
    }
  }
  return {};
}

const ZoneInfo* ZoneTable::Find(std::string_view key) const {
  const auto it = std::ranges::lower_bound(
      zones_, key, {}, [](const ZoneInfo& info) { return std::string_view(info.zone.key); });
  return it != zones_.end() && it->zone.key == key ? &*it : nullptr;
}

const CloudRegion* ZoneTable::FindRegion(std::string_view provider, std::string_view region) const {
  const auto it = std::ranges::find_if(regions_, [&](const CloudRegion& candidate) {
    return candidate.provider == provider && candidate.region == region;
  });
  return it == regions_.end() ? nullptr : &*it;
}

Result<Zone> ZoneTable::Resolve(std::string_view text) const {
  if (text.find(':') != std::string_view::npos) return ResolveRegion(text);
  LOWTIDE_TRY(const Zone typed, ParseZone(text));
  const std::string key = Upper(typed.key);
  if (const ZoneInfo* info = Find(key)) return info->zone;
  std::vector<Zone> found;
  std::vector<std::string> all;
  for (const CloudRegion& region : regions_) {
    if (Upper(region.region) != key) continue;
    found.push_back(region.zone);
    all.push_back(fmt::format("{}:{}", region.provider, region.region));
  }
  if (found.size() == 1) return found.front();
  if (all.size() > 1) {
    return Fail(Code::kNotFound, fmt::format("several clouds have a region '{}'; say which: {}",
                                             typed.key, fmt::join(all, ", ")));
  }
  return std::unexpected(Unknown(typed.key));
}

Result<Zone> ZoneTable::ResolveRegion(std::string_view text) const {
  const auto colon = text.find(':');
  std::string provider(text.substr(0, colon));
  for (char& c : provider) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const std::string region = Upper(text.substr(colon + 1));
  std::vector<std::string_view> providers;
  std::vector<std::string> names;
  for (const CloudRegion& candidate : regions_) {
    if (providers.empty() || providers.back() != candidate.provider) {
      providers.push_back(candidate.provider);
    }
    if (candidate.provider != provider) continue;
    if (Upper(candidate.region) == region) return candidate.zone;
    names.push_back(candidate.region);
  }
  if (names.empty()) {
    return Fail(Code::kNotFound,
                fmt::format("no cloud '{}' for region '{}'; there are {}", provider.substr(0, 40),
                            text.substr(0, 80), fmt::join(providers, ", ")));
  }
  const std::string near = DidYouMean(text.substr(colon + 1), names);
  return Fail(
      Code::kNotFound,
      fmt::format(
          "{} has no region '{}' in the table; {}", provider, text.substr(colon + 1, 80),
          near.empty() ? "'lowtide zones' lists them, and a zone key serves as well" : near));
}

Error ZoneTable::Unknown(std::string_view key) const {
  const std::string upper = Upper(key);
  const auto fail = [&](std::string_view what) {
    return Error{Code::kNotFound, fmt::format("no zone '{}'; {}", key, what)};
  };
  if (const auto alias = aliases_.find(upper); alias != aliases_.end()) {
    const auto& [keys, note] = alias->second;
    if (keys.empty()) {
      return fail(fmt::format("{}; 'lowtide zones --near LAT,LON' shows those around it", note));
    }
    std::string listed = keys;
    for (auto blank = listed.find(' '); blank != std::string::npos;
         blank = listed.find(' ', blank)) {
      listed.replace(blank, 1, ", ");
      blank += 2;
    }
    const bool split = listed.find(',') != std::string::npos;
    return fail(fmt::format("{}: use {}{}", note, split ? "one of " : "", listed));
  }
  std::vector<std::string_view> below;
  std::vector<std::string> keys;
  for (const ZoneInfo& info : zones_) {
    keys.push_back(info.zone.key);
    if (info.zone.key.starts_with(upper + "-")) below.push_back(info.zone.key);
  }
  if (!below.empty()) {
    return fail(fmt::format("it is divided into {}", fmt::join(below, ", ")));
  }
  for (const CloudRegion& region : regions_) keys.push_back(region.region);
  if (const std::string near = DidYouMean(key, keys); !near.empty()) return fail(near);
  return fail("'lowtide zones' lists them, 'lowtide zones --near LAT,LON' those around a place");
}

bool ZoneTable::IsFormer(std::string_view key) const { return aliases_.contains(Upper(key)); }

std::optional<std::string> ZoneTable::ProviderName(std::string_view provider,
                                                   const Zone& zone) const {
  const ZoneInfo* info = Find(zone.key);
  if (info == nullptr) return std::nullopt;
  const auto it = info->provider_names.find(provider);
  if (it == info->provider_names.end()) return std::nullopt;
  return it->second;
}

std::vector<std::string_view> ZoneTable::ZonesOf(std::string_view provider) const {
  std::vector<std::string_view> out;
  for (const ZoneInfo& info : zones_) {
    if (info.provider_names.contains(provider)) out.push_back(info.zone.key);
  }
  return out;
}

std::vector<NearZone> ZoneTable::Near(const Coordinates& at, std::size_t count) const {
  std::vector<NearZone> out;
  out.reserve(zones_.size());
  for (const ZoneInfo& info : zones_) out.push_back({&info, DistanceKm(at, info.at)});
  SortStably(out, &NearZone::distance_km);
  if (out.size() > count) out.resize(count);
  return out;
}

}  // namespace lowtide
