#include "device/rapl/rapl_discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/sysfs/fake_powercap.h"

namespace lowtide {
namespace {

using fakes::FakePowercap;
using fakes::Layout;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Labels(const RaplScan& scan) {
  std::vector<std::string> labels;
  for (const RaplZone& zone : scan.zones) labels.push_back(zone.control_type + " " + zone.label);
  return labels;
}

void AddTypicalZones(FakePowercap& powercap) {
  powercap.Add({"intel-rapl:0", "package-0"});
  powercap.Add({"intel-rapl:0:0", "core"});
  powercap.Add({"intel-rapl:0:1", "uncore"});
  powercap.Add({.folder = "intel-rapl:0:2", .name = "dram", .range_uj = 65'532'610'987});
  powercap.Add({"intel-rapl:1", "package-1"});
  powercap.Add({"intel-rapl:1:0", "dram"});
  powercap.Add({"intel-rapl:2", "psys"});
  powercap.Add({"intel-rapl-mmio:0", "package-0"});
}

TEST(RaplDiscoveryTest, TakesPackagesAndDramOnly) {
  for (const Layout layout : {Layout::kFlat, Layout::kNested}) {
    FakePowercap powercap(layout);
    AddTypicalZones(powercap);
    const RaplScan scan = ScanPowercap(powercap.Root());
    EXPECT_THAT(scan.problems, IsEmpty());
    EXPECT_THAT(Labels(scan),
                ElementsAre("intel-rapl package-0", "intel-rapl dram-0", "intel-rapl package-1",
                            "intel-rapl dram-1", "intel-rapl-mmio package-0"));
    EXPECT_EQ(scan.zones[0].folder, powercap.Folder("intel-rapl:0"));
    EXPECT_EQ(scan.zones[0].kind, DeviceKind::kCpuPackage);
    EXPECT_EQ(scan.zones[0].range_uj, fakes::kUsualRangeUj);
    EXPECT_FALSE(scan.zones[0].disabled);
    EXPECT_EQ(scan.zones[1].kind, DeviceKind::kDram);
    EXPECT_EQ(scan.zones[1].parent, "package-0");
    EXPECT_EQ(scan.zones[1].range_uj, 65'532'610'987U);
  }
}

TEST(RaplDiscoveryTest, TheKernelsControlTypeFoldersBesideTheZonesChangeNothing) {
  FakePowercap powercap;
  AddTypicalZones(powercap);
  // The class folder also links the control type, whose folder holds the zones again.
  FakePowercap devices(Layout::kNested);
  AddTypicalZones(devices);
  std::filesystem::create_directory_symlink(devices.Root() / "intel-rapl",
                                            powercap.Root() / "intel-rapl");
  const RaplScan scan = ScanPowercap(powercap.Root());
  EXPECT_EQ(scan.zones.size(), 5U);
  EXPECT_EQ(scan.zones[0].folder, powercap.Folder("intel-rapl:0"));
}

TEST(RaplDiscoveryTest, DiesAreNamedAfterTheirPackage) {
  FakePowercap powercap;
  powercap.Add({"intel-rapl:0", "package-0-die-0"});
  powercap.Add({"intel-rapl:1", "package-0-die-1"});
  powercap.Add({"intel-rapl:1:0", "dram"});
  EXPECT_THAT(Labels(ScanPowercap(powercap.Root())),
              ElementsAre("intel-rapl package-0-die-0", "intel-rapl package-0-die-1",
                          "intel-rapl dram-0-die-1"));
}

TEST(RaplDiscoveryTest, ZonesComeInTheOrderOfTheirNumbers) {
  FakePowercap powercap;
  for (int i = 11; i >= 0; --i) {
    powercap.Add({"intel-rapl:" + std::to_string(i), "package-" + std::to_string(i)});
  }
  const RaplScan scan = ScanPowercap(powercap.Root());
  ASSERT_EQ(scan.zones.size(), 12U);
  EXPECT_EQ(scan.zones[2].label, "package-2");
  EXPECT_EQ(scan.zones[10].label, "package-10");
}

TEST(RaplDiscoveryTest, ReadsDisabledAndUnreadableRange) {
  FakePowercap powercap;
  powercap.Add({.folder = "intel-rapl:0", .name = "package-0", .range_uj = {}, .enabled = 0});
  const RaplScan scan = ScanPowercap(powercap.Root());
  ASSERT_EQ(scan.zones.size(), 1U);
  EXPECT_TRUE(scan.zones[0].disabled);
  EXPECT_FALSE(scan.zones[0].range_uj);
}

TEST(RaplDiscoveryTest, ARangeOf0IsNone) {
  FakePowercap powercap;
  powercap.Add({.folder = "intel-rapl:0", .name = "package-0", .range_uj = 0});
  EXPECT_FALSE(ScanPowercap(powercap.Root()).zones.at(0).range_uj);
}

TEST(RaplDiscoveryTest, NoFolderIsAProblemThatNamesIt) {
  const RaplScan scan = ScanPowercap("/nonexistent/powercap");
  EXPECT_THAT(scan.zones, IsEmpty());
  ASSERT_EQ(scan.problems.size(), 1U);
  EXPECT_EQ(scan.problems[0].kind, DeviceKind::kCpuPackage);
  EXPECT_EQ(scan.problems[0].error.code, Code::kNotFound);
  EXPECT_THAT(scan.problems[0].error.message, HasSubstr("/nonexistent/powercap"));
  EXPECT_THAT(scan.problems[0].remedy, HasSubstr("modprobe"));
}

TEST(RaplDiscoveryTest, AFolderWithoutPackagesIsAProblem) {
  FakePowercap powercap;
  powercap.Add({"intel-rapl:0", "psys"});
  powercap.Add({"dtpm:0", "package-0"});
  const RaplScan scan = ScanPowercap(powercap.Root());
  EXPECT_THAT(scan.zones, IsEmpty());
  ASSERT_EQ(scan.problems.size(), 1U);
  EXPECT_THAT(scan.problems[0].error.message, HasSubstr("no RAPL package zone"));
}

TEST(RaplDiscoveryTest, ADanglingLinkIsAProblemThatTellsOfTheMount) {
  FakePowercap powercap;
  powercap.AddDanglingLink("intel-rapl:0");
  powercap.AddDanglingLink("intel-rapl:0:0");
  const RaplScan scan = ScanPowercap(powercap.Root());
  ASSERT_EQ(scan.problems.size(), 1U);
  EXPECT_EQ(scan.problems[0].error.code, Code::kNotFound);
  EXPECT_EQ(scan.problems[0].name, powercap.Folder("intel-rapl:0").string());
  EXPECT_THAT(scan.problems[0].remedy, HasSubstr("/sys/devices/virtual/powercap"));
}

}  // namespace
}  // namespace lowtide
