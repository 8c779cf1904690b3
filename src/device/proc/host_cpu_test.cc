#include "device/proc/host_cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/sysfs/fake_proc.h"

namespace lowtide {
namespace {

using fakes::FakeProc;
using ::testing::HasSubstr;

TEST(HostCpuTest, BusySecondsAndProcessors) {
  FakeProc proc;
  proc.SetHost({.user = 1000,
                .nice = 100,
                .system = 300,
                .idle = 90'000,
                .io_wait = 5000,
                .irq = 40,
                .soft_irq = 60,
                .steal = 7000,
                .guest = 500,
                .guest_nice = 50},
               16);
  const HostCpu host(proc.Root(), 100);
  EXPECT_EQ(host.BusySeconds(), Seconds(15));
  EXPECT_EQ(host.Cpus(), 16);
  EXPECT_EQ(HostCpu(proc.Root(), 1000).BusySeconds(), Seconds(1.5));
}

TEST(HostCpuTest, ErrorsNameTheFile) {
  FakeProc proc;
  const HostCpu host(proc.Root(), 100);
  EXPECT_EQ(host.BusySeconds().error().code, Code::kNotFound);
  fakes::WriteText(proc.Root() / "stat", "cpu 1\n");
  EXPECT_THAT(host.BusySeconds().error().message, HasSubstr((proc.Root() / "stat").string()));
  EXPECT_THAT(host.Cpus().error().message, HasSubstr("field 3"));
  EXPECT_EQ(ReadCpuInfo(proc.Root()).error().code, Code::kNotFound);
  proc.SetCpuInfo("nothing\n");
  EXPECT_THAT(ReadCpuInfo(proc.Root()).error().message,
              HasSubstr((proc.Root() / "cpuinfo").string()));
}

TEST(HostCpuTest, ReadsTheProcessor) {
  FakeProc proc;
  proc.SetCpuInfo(fakes::X86CpuInfo("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", 56, 2));
  const auto info = ReadCpuInfo(proc.Root());
  ASSERT_TRUE(info);
  EXPECT_EQ(info->model, "Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz");
  EXPECT_EQ(info->threads, 56);
  EXPECT_EQ(info->packages, 2);
}

TEST(HostCpuTest, ThisHost) {
  const HostCpu host("/proc", 100);
  const auto busy = host.BusySeconds();
  ASSERT_TRUE(busy) << busy.error().message;
  EXPECT_GT(busy->count(), 0);
  EXPECT_GE(*host.Cpus(), 1);
}

TEST(CpuShareTest, IsAPartOfWhatWasDone) {
  EXPECT_DOUBLE_EQ(*CpuShare(Seconds(2.5), Seconds(10)), 0.25);
  EXPECT_DOUBLE_EQ(*CpuShare(Seconds(0), Seconds(10)), 0);
  EXPECT_DOUBLE_EQ(*CpuShare(Seconds(10.01), Seconds(10)), 1);
  EXPECT_DOUBLE_EQ(*CpuShare(Seconds(-1), Seconds(10)), 0);
  EXPECT_FALSE(CpuShare(Seconds(0), Seconds(0)));
  EXPECT_FALSE(CpuShare(Seconds(1), Seconds(-1)));
}

}  // namespace
}  // namespace lowtide
