#include "device/cpu_model/cpu_model_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "fakes/sysfs/fake_proc.h"

namespace lowtide {
namespace {

using fakes::FakeProc;
using fakes::X86CpuInfo;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kTable = "Name,TDP\nAMD EPYC 7742,225\nIntel Celeron 1400,33.34.8\n";
constexpr std::string_view kEpyc = "AMD EPYC 7742 64-Core Processor";

MonoTime At(int ms) { return MonoTime(milliseconds(ms)); }

class CpuModelTest : public ::testing::Test {
 protected:
  CpuModelTest() {
    proc_.Set({.pid = 10, .user = 100, .pss_kib = 1'000'000});
    options_.proc = proc_.Root();
    options_.tdp_table = kTable;
  }

  Discovery Discover() { return CpuModelBackend(options_, usage_).Discover(); }
  Discovery DiscoverCpu() {
    options_.kinds = {DeviceKind::kCpuPackage};
    return Discover();
  }
  void SetTicks(std::uint64_t user) {
    proc_.At(10).user = user;
    proc_.Write(10);
  }

  FakeProc proc_;
  JobUsage usage_{{.proc = proc_.Root(),
                   .ticks_per_second = 100,
                   .cpu_age = Seconds(0),
                   .memory_age = Seconds(0)}};
  CpuModelOptions options_;
};

TEST_F(CpuModelTest, CpuEnergyIsTheThreadsPartOfTdpTimesCpuTime) {
  // 2 packages of 128 threads: 225 / 128 W for each thread that works.
  proc_.SetCpuInfo(X86CpuInfo(kEpyc, 256, 2));
  auto discovery = DiscoverCpu();
  EXPECT_THAT(discovery.problems, IsEmpty());
  ASSERT_EQ(discovery.devices.size(), 1U);
  PowerDevice& cpu = *discovery.devices[0];
  EXPECT_EQ(cpu.Info().kind, DeviceKind::kCpuPackage);
  EXPECT_EQ(cpu.Info().provenance, Provenance::kModelled);
  EXPECT_EQ(cpu.Info().uuid, "cpu_model:cpu");
  EXPECT_EQ(cpu.Info().backend, "cpu_model");
  EXPECT_EQ(cpu.Info().name, kEpyc);
  EXPECT_FALSE(cpu.Info().whole_host);
  EXPECT_EQ(cpu.Info().note,
            "225 W TDP ('AMD EPYC 7742' in hardware/cpu_power.csv) / 128 threads x CPU seconds of "
            "the job");
  EXPECT_EQ(cpu.Read(At(0))->energy, Joules(0)) << "before the start";
  usage_.Start({.root = 10});
  EXPECT_EQ(cpu.Read(At(0))->energy, Joules(225.0 / 128.0 * 1));
  SetTicks(12'900);
  const auto reading = cpu.Read(At(1000));
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->energy, Joules(225.0 / 128.0 * 129));
  EXPECT_FALSE(reading->power);
  EXPECT_FALSE(reading->discontinuity);
  EXPECT_EQ(cpu.SetLimit(Watts(1)).error().code, Code::kUnimplemented);
  EXPECT_EQ(cpu.Limits().error().code, Code::kUnimplemented);
  EXPECT_EQ(cpu.Limit().error().code, Code::kUnimplemented);
}

TEST_F(CpuModelTest, AJobThatUsesAllThreadsDrawsTheTdpOfAllPackages) {
  proc_.SetCpuInfo(X86CpuInfo(kEpyc, 256, 2));
  auto discovery = DiscoverCpu();
  usage_.Start({.root = 10});
  const double before = discovery.devices[0]->Read(At(0))->energy->v;
  SetTicks(100 + 256 * 100);  // one second of all threads
  EXPECT_DOUBLE_EQ(discovery.devices[0]->Read(At(1000))->energy->v - before, 450);
}

TEST_F(CpuModelTest, DramEnergyIsMemoryOverTime) {
  proc_.SetCpuInfo(X86CpuInfo(kEpyc, 256, 2));
  options_.kinds = {DeviceKind::kDram};
  auto discovery = Discover();
  ASSERT_EQ(discovery.devices.size(), 1U);
  PowerDevice& dram = *discovery.devices[0];
  EXPECT_EQ(dram.Info().kind, DeviceKind::kDram);
  EXPECT_EQ(dram.Info().provenance, Provenance::kModelled);
  EXPECT_EQ(dram.Info().note, "0.3725 W/GB x memory of the job (Green Algorithms)");
  EXPECT_EQ(dram.Read(At(0))->energy, Joules(0)) << "before the start";
  usage_.Start({.root = 10});
  const auto first = dram.Read(At(0));
  EXPECT_EQ(first->energy, Joules(0));
  EXPECT_FALSE(first->discontinuity);
  // 1.024 GB for 10 s, then 2.048 GB for 10 s.
  proc_.At(10).pss_kib = 2'000'000;
  proc_.Write(10);
  EXPECT_DOUBLE_EQ(dram.Read(At(10'000))->energy->v, 0.3725 * 1.024 * 10);
  EXPECT_DOUBLE_EQ(dram.Read(At(20'000))->energy->v, 0.3725 * (1.024 + 2.048) * 10);
  // The job ends: memory is given back and nothing more is counted.
  proc_.Remove(10);
  usage_.AddReaped(Seconds(1));
  const double last = dram.Read(At(21'000))->energy->v;
  EXPECT_DOUBLE_EQ(last, 0.3725 * (1.024 * 10 + 2.048 * 11));
  EXPECT_DOUBLE_EQ(dram.Read(At(90'000))->energy->v, last);
}

TEST_F(CpuModelTest, UnknownProcessorIsMissingAndSaysHowToGiveItsTdp) {
  proc_.SetCpuInfo(X86CpuInfo("Intel(R) Xeon(R) Processor", 2, 1));
  const auto discovery = DiscoverCpu();
  EXPECT_THAT(discovery.devices, IsEmpty());
  ASSERT_EQ(discovery.problems.size(), 1U);
  EXPECT_EQ(discovery.problems[0].kind, DeviceKind::kCpuPackage);
  EXPECT_EQ(discovery.problems[0].error.code, Code::kNotFound);
  EXPECT_THAT(discovery.problems[0].error.message, HasSubstr("Intel(R) Xeon(R) Processor"));
  EXPECT_THAT(discovery.problems[0].remedy, HasSubstr("--cpu-tdp"));
}

TEST_F(CpuModelTest, ArmHasNoModel) {
  proc_.SetCpuInfo("processor : 0\nCPU implementer : 0x41\n");
  const auto discovery = DiscoverCpu();
  EXPECT_THAT(discovery.devices, IsEmpty());
  EXPECT_THAT(discovery.problems.at(0).error.message, HasSubstr("names no processor model"));
  EXPECT_THAT(discovery.problems.at(0).remedy, HasSubstr("--cpu-tdp"));
}

TEST_F(CpuModelTest, AGivenTdpTakesTheTablesPlace) {
  proc_.SetCpuInfo("processor : 0\nprocessor : 1\nCPU implementer : 0x41\n");
  options_.tdp = Watts(30);
  auto discovery = DiscoverCpu();
  ASSERT_EQ(discovery.devices.size(), 1U);
  EXPECT_EQ(discovery.devices[0]->Info().note,
            "30 W TDP (given) / 2 threads x CPU seconds of the job");
  EXPECT_EQ(discovery.devices[0]->Info().name, "CPU");
  usage_.Start({.root = 10});
  EXPECT_EQ(discovery.devices[0]->Read(At(0))->energy, Joules(15));
}

TEST_F(CpuModelTest, AVirtualMachineSeesAnUnknownPartOfTheProcessor) {
  proc_.SetCpuInfo(X86CpuInfo(kEpyc, 4, 1, "fpu hypervisor"));
  const auto unknown = DiscoverCpu();
  EXPECT_THAT(unknown.devices, IsEmpty());
  ASSERT_EQ(unknown.problems.size(), 1U);
  EXPECT_THAT(unknown.problems[0].error.message, HasSubstr("4 threads"));
  EXPECT_THAT(unknown.problems[0].remedy, HasSubstr("--cpu-threads"));

  options_.threads_per_package = 128;
  usage_.Start({.root = 10});
  const auto known = DiscoverCpu();
  ASSERT_EQ(known.devices.size(), 1U);
  EXPECT_EQ(known.devices[0]->Read(At(0))->energy, Joules(225.0 / 128.0));

  options_.threads_per_package.reset();
  options_.tdp = Watts(8);
  const auto part = DiscoverCpu();
  ASSERT_EQ(part.devices.size(), 1U);
  EXPECT_EQ(part.devices[0]->Read(At(0))->energy, Joules(2));
}

TEST_F(CpuModelTest, AnUnusableRowIsAProblem) {
  proc_.SetCpuInfo(X86CpuInfo("Intel(R) Celeron(R) CPU 1400", 1, 1));
  const auto discovery = DiscoverCpu();
  EXPECT_THAT(discovery.devices, IsEmpty());
  EXPECT_THAT(discovery.problems.at(0).error.message, HasSubstr("33.34.8"));
}

TEST_F(CpuModelTest, BadOptionsAreNamed) {
  proc_.SetCpuInfo(X86CpuInfo(kEpyc, 2, 1));
  options_.tdp = Watts(0);
  EXPECT_EQ(DiscoverCpu().problems.at(0).error.code, Code::kInvalidArgument);
  options_.tdp = Watts(10);
  options_.threads_per_package = 0;
  const auto discovery = DiscoverCpu();
  EXPECT_EQ(discovery.problems.at(0).error.code, Code::kInvalidArgument);
  EXPECT_THAT(discovery.problems.at(0).error.message, HasSubstr("--cpu-threads is 0"));
}

TEST_F(CpuModelTest, WithoutCpuinfoBothNumbersMustBeGiven) {
  EXPECT_THAT(DiscoverCpu().problems.at(0).error.message, HasSubstr("cpuinfo"));
  options_.tdp = Watts(100);
  options_.threads_per_package = 10;
  EXPECT_EQ(DiscoverCpu().devices.size(), 1U);
}

TEST_F(CpuModelTest, BothKindsByDefault) {
  proc_.SetCpuInfo(X86CpuInfo(kEpyc, 2, 1));
  const auto discovery = Discover();
  ASSERT_EQ(discovery.devices.size(), 2U);
  EXPECT_EQ(discovery.devices[0]->Info().kind, DeviceKind::kCpuPackage);
  EXPECT_EQ(discovery.devices[1]->Info().kind, DeviceKind::kDram);
}

}  // namespace
}  // namespace lowtide
