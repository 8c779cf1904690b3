#include "device/rapl/rapl_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <map>

#include "fakes/sysfs/fake_powercap.h"

namespace lowtide {
namespace {

using fakes::FakePowercap;
using fakes::ScriptedRapl;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MonoTime At(int ms) { return MonoTime(milliseconds(ms)); }

// A host: zones, a script of faults, and how the counters move while discovery watches them.
class RaplBackendTest : public ::testing::Test {
 protected:
  Discovery Discover(OnUnreadable on_unreadable = OnUnreadable::kOmit) {
    RaplBackend backend({powercap_.Root(), on_unreadable, script_.Opener(), [this](Seconds) {
                           ++waits_;
                           for (const auto& [zone, uj] : rise_) {
                             powercap_.AddEnergy(zone, uj + jitter_[zone]++);
                           }
                         }});
    return backend.Discover();
  }

  static std::vector<std::string> Uuids(const Discovery& discovery) {
    std::vector<std::string> uuids;
    for (const auto& device : discovery.devices) uuids.push_back(device->Info().uuid);
    return uuids;
  }

  std::filesystem::path Energy(const std::string& zone) const { return powercap_.EnergyFile(zone); }

  FakePowercap powercap_;
  ScriptedRapl script_;
  std::map<std::string, std::uint64_t> rise_;
  std::map<std::string, std::uint64_t> jitter_;
  int waits_ = 0;
};

double Joules0(PowerDevice& device, int ms) {
  const auto reading = device.Read(At(ms));
  EXPECT_TRUE(reading) << reading.error().message;
  if (!reading || !reading->energy) return -1;
  EXPECT_FALSE(reading->discontinuity);
  EXPECT_FALSE(reading->power);
  EXPECT_EQ(reading->at, At(ms));
  return reading->energy->v;
}

TEST_F(RaplBackendTest, EveryPackageAndDramOnce) {
  powercap_.Add({"intel-rapl:0", "package-0"});
  powercap_.Add({"intel-rapl:0:0", "core"});
  powercap_.Add({"intel-rapl:0:1", "dram"});
  powercap_.Add({"intel-rapl:1", "psys"});
  powercap_.Add({"intel-rapl-mmio:0", "package-0"});
  auto discovery = Discover();
  EXPECT_THAT(discovery.problems, IsEmpty());
  EXPECT_THAT(Uuids(discovery), ElementsAre("rapl:package-0", "rapl:dram-0"));
  EXPECT_EQ(waits_, 0) << "one package leaves nothing to watch";

  const DeviceInfo& package = discovery.devices[0]->Info();
  EXPECT_EQ(package.kind, DeviceKind::kCpuPackage);
  EXPECT_EQ(package.name, "package-0");
  EXPECT_EQ(package.backend, "rapl");
  EXPECT_EQ(package.provenance, Provenance::kMeasured);
  EXPECT_TRUE(package.whole_host);
  EXPECT_EQ(package.note, "");
  EXPECT_EQ(discovery.devices[1]->Info().kind, DeviceKind::kDram);
  EXPECT_EQ(discovery.devices[0]->Limits().error().code, Code::kUnimplemented);
  EXPECT_EQ(discovery.devices[0]->Limit().error().code, Code::kUnimplemented);
  EXPECT_EQ(discovery.devices[0]->SetLimit(Watts(100)).error().code, Code::kUnimplemented);

  // 50 W and 5 W for 10 s: 550 J, whatever psys, core and MMIO say.
  EXPECT_EQ(Joules0(*discovery.devices[0], 0), 0);
  EXPECT_EQ(Joules0(*discovery.devices[1], 0), 0);
  powercap_.AddEnergy("intel-rapl:0", 500'000'000);
  powercap_.AddEnergy("intel-rapl:0:0", 400'000'000);
  powercap_.AddEnergy("intel-rapl:0:1", 50'000'000);
  powercap_.AddEnergy("intel-rapl:1", 700'000'000);
  powercap_.AddEnergy("intel-rapl-mmio:0", 500'000'000);
  EXPECT_EQ(Joules0(*discovery.devices[0], 10'000), 500);
  EXPECT_EQ(Joules0(*discovery.devices[1], 10'000), 50);
}

TEST_F(RaplBackendTest, MmioStandsInWhereMsrIsUnreadable) {
  powercap_.Add({"intel-rapl:0", "package-0"});
  powercap_.Add({"intel-rapl:0:0", "dram"});
  powercap_.Add({"intel-rapl-mmio:0", "package-0"});
  powercap_.Add({"intel-rapl-mmio:0:0", "dram"});
  script_.Deny(Energy("intel-rapl:0"));
  auto discovery = Discover();
  EXPECT_THAT(discovery.problems, IsEmpty());
  EXPECT_THAT(Uuids(discovery), ElementsAre("rapl:dram-0", "rapl:package-0"));
  EXPECT_THAT(discovery.devices[1]->Info().note, HasSubstr("read through intel-rapl-mmio"));
  EXPECT_THAT(discovery.devices[1]->Info().note, HasSubstr("Permission denied"));
  powercap_.AddEnergy("intel-rapl-mmio:0", 7'000'000);
  EXPECT_EQ(Joules0(*discovery.devices[1], 0), 0);
  powercap_.AddEnergy("intel-rapl-mmio:0", 7'000'000);
  EXPECT_EQ(Joules0(*discovery.devices[1], 100), 7);
}

TEST_F(RaplBackendTest, UnreadableMmioDoesNotDisturbMsr) {
  powercap_.Add({"intel-rapl:0", "package-0"});
  powercap_.Add({"intel-rapl:0:0", "dram"});
  powercap_.Add({"intel-rapl-mmio:0", "package-0"});
  script_.Deny(Energy("intel-rapl-mmio:0"));
  const auto discovery = Discover();
  EXPECT_THAT(discovery.problems, IsEmpty());
  EXPECT_THAT(Uuids(discovery), ElementsAre("rapl:package-0", "rapl:dram-0"));
}

TEST_F(RaplBackendTest, MirroredDiesCountOnce) {
  powercap_.Add({.folder = "intel-rapl:0", .name = "package-0-die-0", .energy_uj = 5'000'000});
  powercap_.Add({.folder = "intel-rapl:1", .name = "package-0-die-1", .energy_uj = 9'000'000});
  powercap_.Add({.folder = "intel-rapl:2", .name = "package-0-die-2", .energy_uj = 9'000'000});
  powercap_.Add({"intel-rapl:2:0", "dram"});
  // 68 W in each, by the same jitter.
  rise_ = {{"intel-rapl:0", 136'000},
           {"intel-rapl:1", 136'000},
           {"intel-rapl:2", 136'000},
           {"intel-rapl:2:0", 4'000}};
  auto discovery = Discover();
  EXPECT_THAT(Uuids(discovery), ElementsAre("rapl:package-0-die-0"));
  EXPECT_EQ(discovery.devices[0]->Info().note,
            "package-0-die-1 shows the same counter and is not counted again; "
            "package-0-die-2 shows the same counter and is not counted again");
  EXPECT_EQ(waits_, 12) << "mirrors are confirmed by a second watch";
  EXPECT_EQ(Joules0(*discovery.devices[0], 0), 0);
  powercap_.AddEnergy("intel-rapl:0", 68'000'000);
  powercap_.AddEnergy("intel-rapl:1", 68'000'000);
  EXPECT_EQ(Joules0(*discovery.devices[0], 1000), 68);
}

TEST_F(RaplBackendTest, SocketsUnderLikeLoadAreNotMirrors) {
  powercap_.Add({"intel-rapl:0", "package-0"});
  powercap_.Add({"intel-rapl:0:0", "dram"});
  powercap_.Add({"intel-rapl:1", "package-1"});
  powercap_.Add({"intel-rapl:1:0", "dram"});
  rise_ = {{"intel-rapl:0", 100'000},
           {"intel-rapl:1", 100'061},
           {"intel-rapl:0:0", 4'000},
           {"intel-rapl:1:0", 4'000}};
  const auto discovery = Discover();
  EXPECT_THAT(discovery.problems, IsEmpty());
  EXPECT_THAT(Uuids(discovery),
              ElementsAre("rapl:package-0", "rapl:dram-0", "rapl:package-1", "rapl:dram-1"));
  EXPECT_EQ(waits_, 6);
}

TEST_F(RaplBackendTest, ADisabledZoneThatStandsStillIsAProblemNot0W) {
  powercap_.Add({.folder = "intel-rapl:0", .name = "package-0", .enabled = 0});
  const auto discovery = Discover();
  EXPECT_THAT(discovery.devices, IsEmpty());
  ASSERT_EQ(discovery.problems.size(), 1U);
  EXPECT_EQ(discovery.problems[0].name, powercap_.Folder("intel-rapl:0").string());
  EXPECT_EQ(discovery.problems[0].error.code, Code::kUnavailable);
  EXPECT_THAT(discovery.problems[0].error.message, HasSubstr("disabled"));
  EXPECT_THAT(discovery.problems[0].remedy, HasSubstr("intel-rapl:0/enabled"));
}

TEST_F(RaplBackendTest, ALockedPowerLimitDoesNotHideACounterThatMoves) {
  powercap_.Add({.folder = "intel-rapl:0", .name = "package-0", .enabled = 0});
  rise_ = {{"intel-rapl:0", 50'000}};
  EXPECT_THAT(Uuids(Discover()), ElementsAre("rapl:package-0"));
}

TEST_F(RaplBackendTest, ACounterThatStaysAt0IsAProblem) {
  powercap_.Add({.folder = "intel-rapl:0", .name = "package-0", .energy_uj = 0});
  powercap_.Add({.folder = "intel-rapl:0:0", .name = "dram", .energy_uj = 0});
  rise_ = {{"intel-rapl:0:0", 4'000}};
  const auto discovery = Discover();
  EXPECT_THAT(Uuids(discovery), ElementsAre("rapl:dram-0")) << "it merely started at 0";
  ASSERT_EQ(discovery.problems.size(), 1U);
  EXPECT_THAT(discovery.problems[0].error.message, HasSubstr("package-0 stays at 0 uJ"));
}

TEST_F(RaplBackendTest, UnreadableCountersSayHowToAllowIt) {
  powercap_.Add({"intel-rapl:0", "package-0"});
  powercap_.Add({"intel-rapl:0:0", "dram"});
  powercap_.Add({"intel-rapl-mmio:0", "package-0"});
  script_.Deny(Energy("intel-rapl:0"));
  script_.Deny(Energy("intel-rapl:0:0"));
  script_.Deny(Energy("intel-rapl-mmio:0"));
  const auto discovery = Discover();
  EXPECT_THAT(discovery.devices, IsEmpty());
  ASSERT_EQ(discovery.problems.size(), 2U) << "the duplicate adds none";
  const DeviceProblem& package = discovery.problems[0];
  EXPECT_EQ(package.kind, DeviceKind::kCpuPackage);
  EXPECT_EQ(package.name, powercap_.Folder("intel-rapl:0").string());
  EXPECT_EQ(package.error.code, Code::kPermissionDenied);
  EXPECT_THAT(package.error.message, HasSubstr("intel-rapl:0/energy_uj"));
  EXPECT_THAT(package.remedy, HasSubstr("chmod a+r"));
  EXPECT_THAT(package.remedy, HasSubstr("SUBSYSTEM==\"powercap\""));
  EXPECT_THAT(package.remedy, HasSubstr("cap_dac_read_search"));
  EXPECT_THAT(package.remedy, HasSubstr("modelled"));
  EXPECT_EQ(discovery.problems[1].kind, DeviceKind::kDram);
  EXPECT_EQ(discovery.problems[1].remedy, package.remedy);
}

TEST_F(RaplBackendTest, FileMode0400IsRefusedToOthersThanRoot) {
  powercap_.Add({"intel-rapl:0", "package-0"});
  powercap_.SetEnergyMode("intel-rapl:0", ::geteuid() == 0 ? 0400 : 0);
  const uid_t nobody = 65534;
  const bool was_root = ::geteuid() == 0;
  if (was_root) {
    ASSERT_EQ(::seteuid(nobody), 0);
  }
  RaplBackend backend({.root = powercap_.Root()});
  const auto discovery = backend.Discover();
  if (was_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_THAT(discovery.devices, IsEmpty());
  ASSERT_EQ(discovery.problems.size(), 1U);
  EXPECT_EQ(discovery.problems[0].error.code, Code::kPermissionDenied);
}

TEST_F(RaplBackendTest, PermissionGrantedMidRunStartsWithABaseline) {
  powercap_.Add({.folder = "intel-rapl:0", .name = "package-0", .energy_uj = 53'131'000'000});
  script_.Deny(Energy("intel-rapl:0"));
  auto discovery = Discover(OnUnreadable::kWait);
  ASSERT_EQ(discovery.devices.size(), 1U);
  EXPECT_EQ(discovery.problems[0].error.code, Code::kPermissionDenied);
  PowerDevice& package = *discovery.devices[0];
  EXPECT_EQ(package.Info().uuid, "rapl:package-0");
  EXPECT_EQ(package.Read(At(0)).error().code, Code::kPermissionDenied);
  EXPECT_EQ(package.Read(At(100)).error().code, Code::kPermissionDenied);
  script_.Allow(Energy("intel-rapl:0"));
  EXPECT_EQ(Joules0(package, 200), 0);
  powercap_.AddEnergy("intel-rapl:0", 5'000'000);
  EXPECT_EQ(Joules0(package, 300), 5);
}

TEST_F(RaplBackendTest, TransientEioSkipsOneReading) {
  powercap_.Add({"intel-rapl:0", "package-0"});
  auto discovery = Discover();
  PowerDevice& package = *discovery.devices[0];
  EXPECT_EQ(Joules0(package, 0), 0);
  script_.PushEio(Energy("intel-rapl:0"));
  const auto failed = package.Read(At(100));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::kUnavailable);
  EXPECT_THAT(failed.error().message, HasSubstr("Input/output error"));
  powercap_.AddEnergy("intel-rapl:0", 20'000'000);
  EXPECT_EQ(Joules0(package, 200), 20);
}

TEST_F(RaplBackendTest, EioAcrossAWrapStillCounts) {
  const std::uint64_t range = fakes::kUsualRangeUj;
  powercap_.Add({.folder = "intel-rapl:0", .name = "package-0", .energy_uj = range - 1'000'000});
  auto discovery = Discover();
  PowerDevice& package = *discovery.devices[0];
  EXPECT_EQ(Joules0(package, 0), 0);
  script_.PushEio(Energy("intel-rapl:0"));
  EXPECT_FALSE(package.Read(At(100)));
  powercap_.AddEnergy("intel-rapl:0", 20'000'000);
  EXPECT_EQ(powercap_.Energy("intel-rapl:0"), 19'000'000U);
  EXPECT_EQ(Joules0(package, 200), 20);
}

TEST_F(RaplBackendTest, OneZoneWrapsByItsOwnRange) {
  const std::uint64_t dram_range = 65'532'610'987;
  powercap_.Add({.folder = "intel-rapl:0", .name = "package-0", .energy_uj = 250'000'000'000});
  powercap_.Add({.folder = "intel-rapl:0:0",
                 .name = "dram",
                 .energy_uj = dram_range - 1'000'000,
                 .range_uj = dram_range});
  auto discovery = Discover();
  EXPECT_EQ(Joules0(*discovery.devices[0], 0), 0);
  EXPECT_EQ(Joules0(*discovery.devices[1], 0), 0);
  powercap_.AddEnergy("intel-rapl:0", 10'000'000);
  powercap_.AddEnergy("intel-rapl:0:0", 3'000'000);
  EXPECT_EQ(Joules0(*discovery.devices[0], 1000), 10);
  EXPECT_EQ(Joules0(*discovery.devices[1], 1000), 3);
}

TEST_F(RaplBackendTest, ACounterResetIsADiscontinuity) {
  powercap_.Add({.folder = "intel-rapl:0", .name = "package-0", .energy_uj = 50'000'000'000});
  auto discovery = Discover();
  PowerDevice& package = *discovery.devices[0];
  EXPECT_EQ(Joules0(package, 0), 0);
  powercap_.AddEnergy("intel-rapl:0", 10'000'000);
  EXPECT_EQ(Joules0(package, 100), 10);
  powercap_.SetEnergy("intel-rapl:0", 1'000);
  const auto reset = package.Read(At(200));
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->discontinuity);
  powercap_.AddEnergy("intel-rapl:0", 10'000'000);
  EXPECT_EQ(Joules0(package, 300), 20);
}

TEST_F(RaplBackendTest, UnreadableRangeIsSaidAndABackwardStepIsDropped) {
  powercap_.Add({.folder = "intel-rapl:0",
                 .name = "package-0",
                 .energy_uj = 262'143'000'000,
                 .range_uj = std::nullopt});
  auto discovery = Discover();
  PowerDevice& package = *discovery.devices[0];
  EXPECT_THAT(package.Info().note, HasSubstr("wrap range unreadable"));
  EXPECT_EQ(Joules0(package, 0), 0);
  powercap_.SetEnergy("intel-rapl:0", 4'000'000);
  const auto wrapped = package.Read(At(100));
  ASSERT_TRUE(wrapped);
  EXPECT_TRUE(wrapped->discontinuity);
  EXPECT_EQ(wrapped->energy, Joules(0));
}

TEST_F(RaplBackendTest, AbsurdReadingsAreDroppedAndNameTheZone) {
  powercap_.Add({"intel-rapl:0", "package-0"});
  auto discovery = Discover();
  PowerDevice& package = *discovery.devices[0];
  EXPECT_EQ(Joules0(package, 0), 0);
  script_.Push(Energy("intel-rapl:0"), 4'294'967'295'000U);
  const auto absurd = package.Read(At(100));
  ASSERT_FALSE(absurd);
  EXPECT_EQ(absurd.error().code, Code::kDataLoss);
  EXPECT_THAT(absurd.error().message, HasSubstr("intel-rapl:0/energy_uj"));
  powercap_.AddEnergy("intel-rapl:0", 8'000'000);
  EXPECT_EQ(Joules0(package, 200), 8);
}

TEST_F(RaplBackendTest, TextThatIsNoNumberIsSkipped) {
  powercap_.Add({"intel-rapl:0", "package-0"});
  auto discovery = Discover();
  PowerDevice& package = *discovery.devices[0];
  EXPECT_EQ(Joules0(package, 0), 0);
  fakes::WriteText(Energy("intel-rapl:0"), "unknown\n");
  const auto bad = package.Read(At(100));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, Code::kUnavailable);
  EXPECT_THAT(bad.error().message, HasSubstr("unknown"));
  powercap_.AddEnergy("intel-rapl:0", 2'000'000);
  EXPECT_EQ(Joules0(package, 200), 2);
}

TEST_F(RaplBackendTest, AStandstillIsReportedUntilTheCounterMoves) {
  powercap_.Add({"intel-rapl:0", "package-0"});
  auto discovery = Discover();
  PowerDevice& package = *discovery.devices[0];
  EXPECT_EQ(Joules0(package, 0), 0);
  EXPECT_EQ(Joules0(package, 10'000), 0);
  const auto still = package.Read(At(10'001));
  ASSERT_FALSE(still);
  EXPECT_EQ(still.error().code, Code::kUnavailable);
  EXPECT_THAT(still.error().message, HasSubstr("stood still"));
  powercap_.AddEnergy("intel-rapl:0", 1'000'000);
  EXPECT_EQ(Joules0(package, 10'100), 1);
}

TEST_F(RaplBackendTest, NoDramZoneIsSaid) {
  powercap_.Add({"intel-rapl:0", "package-0"});
  const auto discovery = Discover();
  ASSERT_EQ(discovery.problems.size(), 1U);
  EXPECT_EQ(discovery.problems[0].kind, DeviceKind::kDram);
  EXPECT_EQ(discovery.problems[0].error.code, Code::kNotFound);
}

TEST_F(RaplBackendTest, EqualNamesInOneControlTypeGetUuidsOfTheirFolders) {
  powercap_.Add({"intel-rapl:0", "package-0"});
  powercap_.Add({"intel-rapl:1", "package-0"});
  rise_ = {{"intel-rapl:0", 100'000}, {"intel-rapl:1", 70'000}};
  EXPECT_THAT(Uuids(Discover()),
              ElementsAre("rapl:package-0@intel-rapl:0", "rapl:package-0@intel-rapl:1"));
}

TEST_F(RaplBackendTest, ABadZoneDoesNotHideAGoodOne) {
  powercap_.Add({"intel-rapl:0", "package-0"});
  powercap_.Add({"intel-rapl:1", "package-1"});
  std::filesystem::remove(Energy("intel-rapl:0"));
  const auto discovery = Discover();
  EXPECT_THAT(Uuids(discovery), ElementsAre("rapl:package-1"));
  EXPECT_EQ(discovery.problems[0].error.code, Code::kNotFound);
  EXPECT_EQ(discovery.problems[0].name, powercap_.Folder("intel-rapl:0").string());
}

TEST_F(RaplBackendTest, ReadsAnewWhatItHoldsOpen) {
  powercap_.Add({"intel-rapl:0", "package-0"});
  RaplBackend backend({.root = powercap_.Root()});
  auto discovery = backend.Discover();
  PowerDevice& package = *discovery.devices[0];
  EXPECT_EQ(Joules0(package, 0), 0);
  powercap_.AddEnergy("intel-rapl:0", 4'000'000);
  EXPECT_EQ(Joules0(package, 100), 4);
}

}  // namespace
}  // namespace lowtide
