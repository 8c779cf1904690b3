#include "grid/zone_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <set>

#include "base/csv.h"
#include "base/embedded/embedded.h"
#include "grid/zone.h"

namespace lowtide {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const ZoneTable& Table() {
  static const ZoneTable table =
      *ZoneTable::Parse(*FindEmbedded("grid/zones.csv"), *FindEmbedded("grid/cloud_regions.csv"),
                        *FindEmbedded("grid/zone_aliases.csv"));
  return table;
}

std::string Resolved(std::string_view text) {
  const auto zone = Table().Resolve(text);
  return zone ? zone->key : zone.error().message;
}

void ExpectUnknown(std::string_view text, std::string_view part) {
  const auto zone = Table().Resolve(text);
  ASSERT_FALSE(zone) << text << " is " << zone->key;
  EXPECT_EQ(zone.error().code, Code::kNotFound) << zone.error().message;
  EXPECT_THAT(zone.error().message, HasSubstr(std::string(part)));
}

TEST(ZoneTableTest, TheShippedTablesParse) {
  const auto table =
      ZoneTable::Parse(*FindEmbedded("grid/zones.csv"), *FindEmbedded("grid/cloud_regions.csv"),
                       *FindEmbedded("grid/zone_aliases.csv"));
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_GT(table->Zones().size(), 390U);
  EXPECT_GT(table->Regions().size(), 150U);
  EXPECT_EQ(table->Find("US"), nullptr);  // it has no series of its own
  EXPECT_EQ(table->Find("DE")->name, "Germany");
}

TEST(ZoneTableTest, AreaCodesAreAreas) {
  // The third character is the kind: Y is an area.
  std::set<std::string> seen;
  for (const std::string_view key : Table().ZonesOf("entsoe")) {
    const std::string code = *Table().ProviderName("entsoe", Zone{std::string(key)});
    EXPECT_EQ(code.size(), 16U) << key;
    EXPECT_EQ(code[2], 'Y') << key;
    EXPECT_TRUE(seen.insert(code).second) << key;
  }
  EXPECT_EQ(Table().ProviderName("entsoe", Zone{"SE-SE3"}), "10Y1001A1001A46L");
}

TEST(ZoneTableTest, TheReferencesPairsHold) {
  EXPECT_EQ(Table().ProviderName("eia", Zone{"US-NW-BPAT"}), "BPAT");
  EXPECT_EQ(Table().ProviderName("eia", Zone{"US-CENT-SWPP"}), "SWPP");
  EXPECT_EQ(Table().ProviderName("watttime", Zone{"US-CAL-CISO"}), "CAISO_NORTH");
  EXPECT_EQ(Table().ProviderName("energy_charts", Zone{"AT"}), "at");
  EXPECT_EQ(Table().ProviderName("uk_carbon_intensity", Zone{"GB"}), "national");
  EXPECT_FALSE(Table().ProviderName("eia", Zone{"DE"}));
  EXPECT_FALSE(Table().ProviderName("nobody", Zone{"DE"}));
}

TEST(ZoneTableTest, KeysResolveInAnyCase) {
  EXPECT_EQ(Resolved("DE"), "DE");
  EXPECT_EQ(Resolved("us-cal-ciso"), "US-CAL-CISO");
}

TEST(ZoneTableTest, CloudRegionsResolve) {
  EXPECT_EQ(Resolved("gcp:europe-north1"), "FI");
  EXPECT_EQ(Resolved("GCP:Europe-North1"), "FI");
  EXPECT_EQ(Resolved("europe-north1"), "FI");
  EXPECT_EQ(Resolved("aws:eu-north-1"), "SE-SE3");
  EXPECT_EQ(Resolved("azure:northeurope"), "IE");
  EXPECT_EQ(Resolved("us-central1"), "US-CENT-SWPP");
}

TEST(ZoneTableTest, ARegionOfTwoCloudsMustBeSaidWhich) {
  const auto table = ZoneTable::Parse(
      "key,name,lat,lon,place\nDE,Germany,52.5,13.4,Berlin\nFR,France,48.9,2.4,Paris\n",
      "provider,region,location,lat,lon,zone\na,one,x,0,0,DE\nb,one,x,0,0,FR\n", "old,new,note\n");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->Resolve("b:one")->key, "FR");
  const auto zone = table->Resolve("one");
  ASSERT_FALSE(zone);
  EXPECT_THAT(zone.error().message, AllOf(HasSubstr("a:one"), HasSubstr("b:one")));
}

TEST(ZoneTableTest, UnknownRegionsNameNearOnes) {
  ExpectUnknown("gcp:europe-north9", "europe-north1");
  ExpectUnknown("oracle:eu-frankfurt-1", "there are aws, azure, gcp, ovh");
  ExpectUnknown("aws:", "has no region ''");
  ExpectUnknown("europe-nort1", "europe-north1");
}

TEST(ZoneTableTest, UnknownKeysNameNearOnes) {
  ExpectUnknown("US-CAL-CISA", "did you mean US-CAL-CISO");
  ExpectUnknown("CISO", "US-CAL-CISO");
  ExpectUnknown("Atlantis", "'lowtide zones' lists them");
  EXPECT_EQ(Table().Resolve("").error().code, Code::kInvalidArgument);
  EXPECT_EQ(Table().Resolve("a b").error().code, Code::kInvalidArgument);
}

TEST(ZoneTableTest, NearComesByDistance) {
  const auto near = Table().Near({52.5, 13.4}, 3);
  ASSERT_EQ(near.size(), 3U);
  EXPECT_EQ(near[0].zone->zone.key, "DE");
  EXPECT_LT(near[0].distance_km, 5);
  EXPECT_LE(near[1].distance_km, near[2].distance_km);
  EXPECT_EQ(Table().Near({0, 0}, 1).size(), 1U);
  EXPECT_EQ(Table().Near({0, 0}, 100000).size(), Table().Zones().size());
}

TEST(ZoneTableTest, DistanceIsTheGreatCircles) {
  EXPECT_DOUBLE_EQ(DistanceKm({10, 20}, {10, 20}), 0);
  // A quarter of the circumference of the mean sphere.
  EXPECT_NEAR(DistanceKm({0, 0}, {90, 0}), 10007.557, 0.001);
  EXPECT_NEAR(DistanceKm({0, 179.5}, {0, -179.5}), 111.195, 0.001);  // across the date line
}

TEST(ZoneTableTest, CoordinatesIncludeZeroAndTheirBounds) {
  for (const char* text : {"0,0", "-90,180", "90,-180", " 52.5 , 13.4 ", "-0.0,1e1"}) {
    EXPECT_TRUE(ParseCoordinates(text)) << text;
  }
  for (const char* text : {"", "52.5", "52,5;13,4", "91,0", "0,180.1", "nan,0", "a,b", "1,2,3"}) {
    EXPECT_EQ(ParseCoordinates(text).error().code, Code::kInvalidArgument) << text;
  }
  EXPECT_EQ(FormatDegrees(-0.0), "0");
  EXPECT_EQ(FormatDegrees(-3.25), "-3.25");
}

TEST(ZoneTableTest, BadTablesAreRefusedWithTheirLine) {
  const std::string zones = "key,name,lat,lon,place\nDE,Germany,52.5,13.4,Berlin\n";
  const std::string regions = "provider,region,location,lat,lon,zone\n";
  const std::string aliases = "old,new,note\n";
  const auto parse = [&](const std::string& more_zones, const std::string& more_regions,
                         const std::string& more_aliases) {
    const auto table =
        ZoneTable::Parse(zones + more_zones, regions + more_regions, aliases + more_aliases);
    return table ? std::string("ok") : table.error().message;
  };
  EXPECT_EQ(parse("", "", ""), "ok");
  EXPECT_THAT(parse("DE,x,0,0,y\n", "", ""), HasSubstr("'DE' is given twice"));
  EXPECT_THAT(parse("F R,x,0,0,y\n", "", ""), HasSubstr("zones.csv:3"));
  EXPECT_THAT(parse("FR,x,91,0,y\n", "", ""), HasSubstr("zones.csv:3"));
  EXPECT_THAT(parse("", "a,one,x,0,0,FR\n", ""), HasSubstr("cloud_regions.csv:2"));
  EXPECT_THAT(parse("", "a,one,x,0,0,DE\na,one,x,0,0,DE\n", ""), HasSubstr("given twice"));
  EXPECT_THAT(parse("", "", "DE,FR,renamed\n"), HasSubstr("zone_aliases.csv:2"));
  EXPECT_THAT(parse("", "", "A,DE,x\nA,DE,x\n"), HasSubstr("given twice"));
}

TEST(ZoneTableTest, AliasesLeadToZones) {
  const auto aliases = ParseCsv(*FindEmbedded("grid/zone_aliases.csv"), "zone_aliases.csv");
  for (const CsvRow& row : aliases->rows) {
    std::string_view keys = row.fields[1];
    while (!keys.empty()) {
      const auto end = std::min(keys.find(' '), keys.size());
      EXPECT_NE(Table().Find(keys.substr(0, end)), nullptr) << row.fields[0];
      keys.remove_prefix(std::min(end + 1, keys.size()));
    }
  }
  ExpectUnknown("IN-KA", "use IN-SO");
  ExpectUnknown("uk", "use GB");
  ExpectUnknown("US-SW-DEAA", "retired");
  ExpectUnknown("CA-NL", "one of CA-NL-NF, CA-NL-LB");
  EXPECT_TRUE(Table().IsFormer("uk"));
  EXPECT_FALSE(Table().IsFormer("GB"));
}

}  // namespace
}  // namespace lowtide
