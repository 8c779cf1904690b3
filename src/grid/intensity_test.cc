#include "grid/intensity.h"

#include <gtest/gtest.h>

#include "grid/zone.h"

namespace lowtide {
namespace {

TEST(IntensityTest, NamesAreThoseOfReports) {
  EXPECT_EQ(SignalName(Signal::kAverage), "average");
  EXPECT_EQ(SignalName(Signal::kMarginal), "marginal");
  EXPECT_EQ(BasisName(Basis::kLifecycle), "lifecycle");
  EXPECT_EQ(BasisName(Basis::kDirect), "direct");
  EXPECT_EQ(BasisName(Basis::kUnstated), "unstated");
  EXPECT_EQ(KindName(IntensityKind::kMeasured), "measured");
  EXPECT_EQ(KindName(IntensityKind::kEstimated), "estimated");
  EXPECT_EQ(KindName(IntensityKind::kForecast), "forecast");
  EXPECT_EQ(KindName(IntensityKind::kYearlyAverage), "yearly_average");
  EXPECT_EQ(KindName(IntensityKind::kConstant), "constant");
}

TEST(ZoneTest, TakesElectricityMapsKeysAndColumnNames) {
  for (const char* key : {"DE", "US-CAL-CISO", "DK-DK1", "de", "my_site.2", "0"}) {
    const auto zone = ParseZone(key);
    ASSERT_TRUE(zone) << key;
    EXPECT_EQ(zone->key, key);
  }
  EXPECT_TRUE(ParseZone(std::string(64, 'A')));
}

TEST(ZoneTest, RefusesWhatIsNoKey) {
  for (const std::string& key :
       {std::string(), std::string("-DE"), std::string("D E"), std::string("DE\n"),
        std::string("D\0E", 3), std::string("d\xC3\xA9"), std::string(65, 'A')}) {
    const auto zone = ParseZone(key);
    ASSERT_FALSE(zone) << key;
    EXPECT_EQ(zone.error().code, Code::kInvalidArgument);
  }
}

TEST(ZoneTest, TheCountryIsTheFirstPart) {
  EXPECT_EQ(CountryPart(Zone{"US-CAL-CISO"}), "US");
  EXPECT_EQ(CountryPart(Zone{"de"}), "DE");
  EXPECT_EQ(CountryPart(Zone{""}), "");
}

}  // namespace
}  // namespace lowtide
