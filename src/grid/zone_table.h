// The zones, what each provider calls them, and the cloud regions that lie in them. A zone is never
// guessed: what is not in the table is an error that names what comes near.
//
// Three tables, given as text (data/grid/, described in data/README.md):
//   zones.csv          key,name,lat,lon,place, and a column for each provider with its own name
//   cloud_regions.csv  provider,region,location,lat,lon,zone
//   zone_aliases.csv   old,new,note     `new`: keys separated by spaces; empty: retired
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "grid/intensity.h"

namespace lowtide {

// Degrees, north and east. 0 is a coordinate like any other.
struct Coordinates {
  double latitude = 0;
  double longitude = 0;
};

// kInvalidArgument unless -90 <= latitude <= 90 and -180 <= longitude <= 180.
Status CheckCoordinates(const Coordinates& at);
// "52.5,13.4"; kInvalidArgument otherwise. Decimal points whatever the locale.
Result<Coordinates> ParseCoordinates(std::string_view text);
// Shortest decimal form that reads back as the same number.
std::string FormatDegrees(double degrees);
// Along the surface of a sphere of the Earth's mean radius, 6371.0088 km (IUGG).
double DistanceKm(const Coordinates& a, const Coordinates& b);

struct ZoneInfo {
  Zone zone;
  std::string name;
  Coordinates at;  // of `place`: where many people live, not the middle
  std::string place;
  std::map<std::string, std::string, std::less<>> provider_names;  // "watttime" -> "CAISO_NORTH"
};

struct CloudRegion {
  std::string provider;  // "gcp", "aws", "azure", "ovh"
  std::string region;    // "europe-north1"
  std::string location;
  Coordinates at;
  Zone zone;
};

struct NearZone {
  const ZoneInfo* zone;
  double distance_km;  // to its reference place
};

class ZoneTable {
 public:
  // kInvalidArgument, naming table and line.
  static Result<ZoneTable> Parse(std::string_view zones_csv, std::string_view cloud_regions_csv,
                                 std::string_view zone_aliases_csv);

  const std::vector<ZoneInfo>& Zones() const { return zones_; }         // by key
  const std::vector<CloudRegion>& Regions() const { return regions_; }  // by provider, region
  const ZoneInfo* Find(std::string_view key) const;                     // nullptr: not there
  const CloudRegion* FindRegion(std::string_view provider, std::string_view region) const;

  // The zone that a user means by a zone key (in any case), "gcp:europe-north1", or a region's bare
  // name where only one provider has it. kInvalidArgument for text of another form; kNotFound
  // otherwise, with the new key of a renamed zone, the sub-zones of a country that has no series of
  // its own, the providers that share a region's name, or the nearest spellings.
  Result<Zone> Resolve(std::string_view text) const;

  // Whether the key (in any case) is that of a zone that was renamed, divided or retired.
  bool IsFormer(std::string_view key) const;

  // What the provider calls the zone; nothing when the table has no name.
  std::optional<std::string> ProviderName(std::string_view provider, const Zone& zone) const;
  // The zones that the provider has a name for.
  std::vector<std::string_view> ZonesOf(std::string_view provider) const;

  // The zones whose reference places are nearest, nearest first. A border may lie between: this is
  // for people to choose from.
  std::vector<NearZone> Near(const Coordinates& at, std::size_t count) const;

 private:
  struct Alias {
    std::string new_keys;
    std::string note;
  };
  Status ParseZones(std::string_view csv);
  Status ParseRegions(std::string_view csv);
  Status ParseAliases(std::string_view csv);
  Result<Zone> ResolveRegion(std::string_view text) const;
  Error Unknown(std::string_view key) const;

  std::vector<ZoneInfo> zones_;
  std::vector<CloudRegion> regions_;
  std::map<std::string, Alias, std::less<>> aliases_;
};

}  // namespace lowtide
