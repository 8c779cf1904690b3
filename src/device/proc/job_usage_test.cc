#include "device/proc/job_usage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "fakes/sysfs/fake_proc.h"

namespace lowtide {
namespace {

using fakes::FakeProc;
using std::chrono::milliseconds;

MonoTime At(int ms) { return MonoTime(milliseconds(ms)); }

class JobUsageTest : public ::testing::Test {
 protected:
  JobUsageTest() { proc_.Set({.pid = 10, .user = 100, .pss_kib = 1000}); }

  void SetTicks(std::uint64_t user) {
    proc_.At(10).user = user;
    proc_.Write(10);
  }
  void SetPss(std::uint64_t kib) {
    proc_.At(10).pss_kib = kib;
    proc_.Write(10);
  }

  FakeProc proc_;
  JobUsage usage_{{.proc = proc_.Root(), .ticks_per_second = 100}};
};

TEST_F(JobUsageTest, NothingIsUsedBeforeTheStart) {
  EXPECT_EQ(usage_.CpuSeconds(At(0)), Seconds(0));
  EXPECT_EQ(usage_.MemoryBytes(At(0)), std::uint64_t{0});
  usage_.Start({.root = 10});
  EXPECT_EQ(usage_.CpuSeconds(At(0)), Seconds(1));
}

TEST_F(JobUsageTest, LooksAgainWhenTheValueIsOld) {
  usage_.Start({.root = 10});
  EXPECT_EQ(usage_.CpuSeconds(At(0)), Seconds(1));
  SetTicks(200);
  EXPECT_EQ(usage_.CpuSeconds(At(499)), Seconds(1));
  EXPECT_EQ(usage_.CpuSeconds(At(500)), Seconds(2));
}

TEST_F(JobUsageTest, WhatWasReapedCountsAtOnce) {
  usage_.Start({.root = 10});
  EXPECT_EQ(usage_.CpuSeconds(At(0)), Seconds(1));
  proc_.Remove(10);
  usage_.AddReaped(Seconds(1.25));
  EXPECT_EQ(usage_.CpuSeconds(At(1)), Seconds(1.25));
  usage_.AddReaped(Seconds(0.5));
  EXPECT_EQ(usage_.CpuSeconds(At(2)), Seconds(1.75));
}

TEST_F(JobUsageTest, MemoryIsLookedAtOftenAtFirst) {
  usage_.Start({.root = 10});
  const auto kib = [this](int ms) { return *usage_.MemoryBytes(At(ms)) / 1024; };
  EXPECT_EQ(kib(0), 1000U);
  SetPss(2000);
  EXPECT_EQ(kib(999), 1000U);
  EXPECT_EQ(kib(1000), 2000U);
  SetPss(3000);
  EXPECT_EQ(kib(2999), 2000U);
  EXPECT_EQ(kib(3000), 3000U);
  SetPss(4000);
  EXPECT_EQ(kib(6999), 3000U);
  EXPECT_EQ(kib(7000), 4000U);
  EXPECT_EQ(kib(15'000), 4000U);
  EXPECT_EQ(kib(31'000), 4000U);
  SetPss(5000);
  EXPECT_EQ(kib(60'999), 4000U) << "from 30 s on it is looked at every 30 s";
  EXPECT_EQ(kib(61'000), 5000U);
}

TEST_F(JobUsageTest, MemoryOfAnEndedJobIs0) {
  usage_.Start({.root = 10});
  EXPECT_EQ(usage_.MemoryBytes(At(0)), 1000U * 1024);
  proc_.Remove(10);
  usage_.AddReaped(Seconds(1));
  EXPECT_EQ(usage_.MemoryBytes(At(100)), 0U);
}

TEST(JobUsageRealTest, ThisProcess) {
  JobUsage usage;
  usage.Start({.root = ::getpid()});
  EXPECT_TRUE(usage.CpuSeconds(At(0)));
  const auto bytes = usage.MemoryBytes(At(0));
  ASSERT_TRUE(bytes);
  EXPECT_GT(*bytes, 100'000U);
}

}  // namespace
}  // namespace lowtide
