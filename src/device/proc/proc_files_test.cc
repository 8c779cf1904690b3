#include "device/proc/proc_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kTimes =
    " R 7 8 9 0 -1 4194560 120 0 0 0 11 22 33 44 20 0 6 0 8000 1000 5 18446744073709551615\n";

TEST(ProcPidStatTest, ReadsTheFieldsThatCount) {
  const auto stat = ParseProcPidStat("4242 (python3)" + std::string(kTimes));
  ASSERT_TRUE(stat) << stat.error().message;
  EXPECT_EQ(stat->pid, 4242);
  EXPECT_EQ(stat->comm, "python3");
  EXPECT_EQ(stat->state, 'R');
  EXPECT_EQ(stat->parent, 7);
  EXPECT_EQ(stat->user_ticks, 11U);
  EXPECT_EQ(stat->system_ticks, 22U);
  EXPECT_EQ(stat->children_user_ticks, 33U);
  EXPECT_EQ(stat->children_system_ticks, 44U);
  EXPECT_EQ(stat->TotalTicks(), 110U);
  EXPECT_EQ(stat->threads, 6);
}

TEST(ProcPidStatTest, TheNumberOfThreadsMayBeMissing) {
  const auto stat = ParseProcPidStat("1 (a) R 7 8 9 0 -1 4194560 120 0 0 0 11 22 33 44 20 0");
  ASSERT_TRUE(stat) << stat.error().message;
  EXPECT_EQ(stat->threads, 0);
}

TEST(ProcPidStatTest, ANameMayHoldBlanksParenthesesAndLineEnds) {
  for (const std::string name :
       {"tmux: server", "a) R 1 2 3", "((", "))", "", "x) (y", "two\nlines", "\xff\xfe"}) {
    const auto stat = ParseProcPidStat("1 (" + name + ")" + std::string(kTimes));
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->comm, name);
    EXPECT_EQ(stat->parent, 7) << name;
    EXPECT_EQ(stat->TotalTicks(), 110U) << name;
  }
}

TEST(ProcPidStatTest, WhatIsMissingIsNamed) {
  EXPECT_FALSE(ParseProcPidStat(""));
  EXPECT_FALSE(ParseProcPidStat("12 python R 1"));
  EXPECT_FALSE(ParseProcPidStat(")("));
  EXPECT_FALSE(ParseProcPidStat("x (a) R 1"));
  EXPECT_THAT(ParseProcPidStat("1 (a) RR 1").error().message, HasSubstr("field 3"));
  EXPECT_THAT(ParseProcPidStat("1 (a) R -1").error().message, HasSubstr("field 4"));
  const auto cut = ParseProcPidStat("1 (a) R 7 8 9 0 -1 4194560 120 0 0 0 11 22 33");
  EXPECT_THAT(cut.error().message, HasSubstr("field 17"));
  EXPECT_EQ(cut.error().code, Code::kDataLoss);
  EXPECT_FALSE(ParseProcPidStat("1 (a) R 7 8 9 0 -1 4194560 120 0 0 0 -11 22 33 44"));
  EXPECT_FALSE(ParseProcPidStat("1 (a) R 7 8 9 0 -1 4194560 120 0 0 0 18446744073709551615 2 3 4"));
}

TEST(ProcStatTest, BusyIsAllButIdleIoWaitAndSteal) {
  const auto stat = ParseProcStat(
      "cpu  100 20 30 4000 500 6 7 80 9 1\n"
      "cpu0 50 10 15 2000 250 3 3 40 4 0\n"
      "cpu1 50 10 15 2000 250 3 4 40 5 1\n"
      "intr 1 2 3\nctxt 5\n");
  ASSERT_TRUE(stat) << stat.error().message;
  EXPECT_EQ(stat->BusyTicks(), 100U + 20 + 30 + 6 + 7) << "guest time is in user already";
  EXPECT_EQ(stat->idle, 4000U);
  EXPECT_EQ(stat->io_wait, 500U);
  EXPECT_EQ(stat->steal, 80U);
  EXPECT_EQ(stat->cpus, 2);
}

TEST(ProcStatTest, OldKernelsHaveFewerFields) {
  const auto stat = ParseProcStat("cpu 1 2 3 4\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->BusyTicks(), 6U);
  EXPECT_EQ(stat->cpus, 0);
}

TEST(ProcStatTest, MalformedTextIsAnError) {
  EXPECT_THAT(ParseProcStat("").error().message, HasSubstr("no line 'cpu'"));
  EXPECT_FALSE(ParseProcStat("cpu0 1 2 3 4\n"));
  EXPECT_FALSE(ParseProcStat("cpu 1 2 3\n"));
  EXPECT_FALSE(ParseProcStat("cpu 1 2 3 4\ncpu 1 2 3 4\n"));
  EXPECT_THAT(ParseProcStat("cpu 1 x 3 4\n").error().message, HasSubstr("field 3"));
  EXPECT_FALSE(ParseProcStat("cpu 1 2 3 4 5 6 99999999999999999999\n"));
}

TEST(CpuInfoTest, CountsThreadsAndPackages) {
  const auto info = ParseCpuInfo(
      "processor\t: 0\nmodel name\t: AMD EPYC 7742 64-Core Processor\nphysical id\t: 0\n"
      "flags\t\t: fpu vme\n\n"
      "processor\t: 1\nmodel name\t: AMD EPYC 7742 64-Core Processor\nphysical id\t: 1\n\n"
      "processor\t: 2\nmodel name\t: AMD EPYC 7742 64-Core Processor\nphysical id\t: 0\n\n"
      "processor\t: 3\nmodel name\t: AMD EPYC 7742 64-Core Processor\nphysical id\t: 1\n\n");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->model, "AMD EPYC 7742 64-Core Processor");
  EXPECT_EQ(info->threads, 4);
  EXPECT_EQ(info->packages, 2);
  EXPECT_FALSE(info->virtual_machine);
}

TEST(CpuInfoTest, TheHypervisorFlagIsAWholeWord) {
  EXPECT_TRUE(ParseCpuInfo("processor : 0\nflags : fpu hypervisor lahf_lm\n")->virtual_machine);
  EXPECT_FALSE(ParseCpuInfo("processor : 0\nflags : hypervisor_x\n")->virtual_machine);
  EXPECT_FALSE(ParseCpuInfo("processor : 0\nbugs : hypervisor\n")->virtual_machine);
}

TEST(CpuInfoTest, ArmHasNoModelName) {
  const auto info = ParseCpuInfo(
      "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\n"
      "processor\t: 1\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\n\n");
  ASSERT_TRUE(info);
  EXPECT_FALSE(info->model);
  EXPECT_EQ(info->threads, 2);
  EXPECT_EQ(info->packages, 1);
  // An old 32-bit form: "Processor" tells the model, not a thread.
  EXPECT_EQ(ParseCpuInfo("Processor : ARMv7\nprocessor : 0\n")->threads, 1);
}

TEST(CpuInfoTest, WithoutAProcessorItIsAnError) {
  EXPECT_FALSE(ParseCpuInfo(""));
  EXPECT_FALSE(ParseCpuInfo("model name : X\n"));
  EXPECT_FALSE(ParseCpuInfo("processor : rev 2 (v7l)\n"));
}

TEST(MemoryFilesTest, ResidentPagesAndPss) {
  EXPECT_EQ(ParseStatmResidentPages("4000 1234 50 5 0 20 0\n"), 1234U);
  EXPECT_FALSE(ParseStatmResidentPages("4000"));
  EXPECT_FALSE(ParseStatmResidentPages(""));
  EXPECT_FALSE(ParseStatmResidentPages("4000 x"));
  EXPECT_EQ(ParseSmapsRollupPss("00-ff ---p 0 00:00 0 [rollup]\nRss:  3996 kB\nPss:   870 kB\n"
                                "Pss_Dirty: 599 kB\n"),
            870U * 1024);
  EXPECT_FALSE(ParseSmapsRollupPss("Rss: 1 kB\n"));
  EXPECT_FALSE(ParseSmapsRollupPss("Pss: 1 MB\n"));
  EXPECT_FALSE(ParseSmapsRollupPss("Pss: x kB\n"));
  EXPECT_FALSE(ParseSmapsRollupPss(""));
}

TEST(ChildrenTest, ReadsProcessIds) {
  EXPECT_THAT(ParseChildren("12 345 6 "), ElementsAre(12, 345, 6));
  EXPECT_THAT(ParseChildren(""), IsEmpty());
  EXPECT_THAT(ParseChildren("x 0 -5 7\n"), ElementsAre(7));
}

}  // namespace
}  // namespace lowtide
