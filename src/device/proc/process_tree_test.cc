#include "device/proc/process_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/proc/host_cpu.h"
#include "fakes/sysfs/fake_proc.h"

namespace lowtide {
namespace {

using fakes::ChildrenFiles;
using fakes::FakeProc;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr long kTicks = 100;

// Both ways to find children must agree.
class ProcessTreeTest : public ::testing::TestWithParam<ChildrenFiles> {
 protected:
  double Sample(const JobProcesses& job, double reaped = 0) {
    const auto seconds = cpu_.Sample(job, Seconds(reaped));
    EXPECT_TRUE(seconds) << seconds.error().message;
    return seconds ? seconds->count() : -1;
  }

  FakeProc proc_{GetParam()};
  ProcessTreeCpu cpu_{proc_.Root(), kTicks};
};

INSTANTIATE_TEST_SUITE_P(Kernels, ProcessTreeTest,
                         ::testing::Values(ChildrenFiles::kPresent, ChildrenFiles::kAbsent),
                         [](const auto& param) {
                           return param.param == ChildrenFiles::kPresent ? "ChildrenFiles" : "Scan";
                         });

TEST_P(ProcessTreeTest, SumsTheRootAndItsDescendants) {
  proc_.Set({.pid = 1, .parent = 0, .comm = "init", .user = 99'999});
  proc_.Set({.pid = 10, .user = 100, .system = 20});
  proc_.Set({.pid = 11, .parent = 10, .comm = "a (b) c", .user = 200});
  proc_.Set({.pid = 12, .parent = 11, .user = 300, .system = 5});
  proc_.Set({.pid = 20, .comm = "other", .user = 7777});
  EXPECT_DOUBLE_EQ(Sample({.root = 10}), 6.25);
  EXPECT_THAT(cpu_.Pids(), UnorderedElementsAre(10, 11, 12));
  EXPECT_EQ(cpu_.Pids()[0], 10) << "parents come first";
}

TEST_P(ProcessTreeTest, AReapedChildCountsOnceThroughItsParent) {
  proc_.Set({.pid = 10, .user = 100});
  proc_.Set({.pid = 11, .parent = 10, .user = 200, .system = 50, .children_user = 30});
  EXPECT_DOUBLE_EQ(Sample({.root = 10}), 3.8);
  proc_.Reap(11);
  EXPECT_DOUBLE_EQ(Sample({.root = 10}), 3.8);
  proc_.At(10).user += 10;
  proc_.Write(10);
  EXPECT_DOUBLE_EQ(Sample({.root = 10}), 3.9);
}

TEST_P(ProcessTreeTest, AZombieKeepsItsTimeUntilItIsReaped) {
  proc_.Set({.pid = 10, .user = 100});
  proc_.Set({.pid = 11, .parent = 10, .user = 200, .state = 'Z'});
  EXPECT_DOUBLE_EQ(Sample({.root = 10}), 3);
  proc_.Reap(11);
  EXPECT_DOUBLE_EQ(Sample({.root = 10}), 3);
}

TEST_P(ProcessTreeTest, NeverFalls) {
  proc_.Set({.pid = 10, .user = 100});
  proc_.Set({.pid = 11, .parent = 10, .user = 200});
  EXPECT_DOUBLE_EQ(Sample({.root = 10}), 3);
  // Seen neither alive nor in its parent: it ended between two reads, or its parent ignores
  // SIGCHLD.
  proc_.Remove(11);
  EXPECT_DOUBLE_EQ(Sample({.root = 10}), 3);
  // The parent's count arrives: nothing is counted twice.
  proc_.At(10).children_user = 200;
  proc_.At(10).user = 150;
  proc_.Write(10);
  EXPECT_DOUBLE_EQ(Sample({.root = 10}), 3.5);
}

TEST_P(ProcessTreeTest, OrphansThatComeToTheSubreaperStayInTheJob) {
  proc_.Set({.pid = 5, .comm = "lowtide", .user = 9'000});
  proc_.Set({.pid = 6, .parent = 5, .comm = "watchdog", .user = 500});
  proc_.Set({.pid = 10, .parent = 5, .user = 100});
  proc_.Set({.pid = 11, .parent = 10, .user = 50});
  proc_.Set({.pid = 12, .parent = 11, .user = 30});
  const JobProcesses job{.root = 10, .subreaper = 5, .not_job = {6}};
  EXPECT_DOUBLE_EQ(Sample(job), 1.8);
  // 11 ends, 10 waits for it, 12 comes to lowtide and works on.
  proc_.Reap(11, 5);
  proc_.At(12).user = 130;
  proc_.Write(12);
  EXPECT_DOUBLE_EQ(Sample(job), 2.8);
  EXPECT_THAT(cpu_.Pids(), UnorderedElementsAre(10, 12));
  // 12 ends and lowtide waits for it: 1.3 s that no other process has.
  proc_.Remove(12);
  EXPECT_DOUBLE_EQ(Sample(job, 1.3), 2.8);
  // The root too: 1 s of its own and 0.5 s of the child it waited for.
  proc_.Remove(10);
  EXPECT_DOUBLE_EQ(Sample(job, 2.8), 2.8);
  EXPECT_THAT(cpu_.Pids(), IsEmpty());
}

TEST_P(ProcessTreeTest, ARootThatNeverWasIsAnError) {
  proc_.Set({.pid = 1, .parent = 0});
  const auto missing = cpu_.Sample({.root = 4711}, Seconds(0));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("4711"));
  EXPECT_DOUBLE_EQ(Sample({.root = 4711}, 0.25), 0.25) << "it ended before the first look";
}

TEST_P(ProcessTreeTest, ProcessesThatVanishOrMakeNoSenseAreLeftOut) {
  proc_.Set({.pid = 10, .user = 100});
  proc_.Set({.pid = 11, .parent = 10, .user = 200});
  proc_.Set({.pid = 12, .parent = 10, .user = 300});
  std::filesystem::remove(proc_.Root() / "11" / "stat");
  fakes::WriteText(proc_.Root() / "12" / "stat", "12 (cut");
  fakes::WriteText(proc_.Root() / "not-a-pid", "");
  EXPECT_DOUBLE_EQ(Sample({.root = 10}), 1);
}

TEST_P(ProcessTreeTest, ACycleEnds) {
  proc_.Set({.pid = 10, .parent = 11, .user = 100});
  proc_.Set({.pid = 11, .parent = 10, .user = 200});
  EXPECT_DOUBLE_EQ(Sample({.root = 10}), 3);
}

TEST_P(ProcessTreeTest, ProcessesSumToTheHost) {
  // init's children are three trees; together with init they are all that the host did.
  proc_.Set({.pid = 1, .parent = 0, .comm = "init", .user = 50, .system = 50});
  proc_.Set({.pid = 10, .user = 100, .system = 25, .children_user = 75});
  proc_.Set({.pid = 11, .parent = 10, .user = 300});
  proc_.Set({.pid = 20, .user = 40, .system = 60});
  proc_.Set({.pid = 30, .user = 200});
  proc_.Set({.pid = 31, .parent = 30, .user = 50, .system = 50});
  proc_.SetHost({.user = 800, .system = 200, .idle = 50'000, .io_wait = 700, .steal = 33}, 4);
  const HostCpu host(proc_.Root(), kTicks);
  const auto busy = host.BusySeconds();
  ASSERT_TRUE(busy);
  EXPECT_DOUBLE_EQ(busy->count(), 10);
  double sum = 1;  // init itself
  double shares = *CpuShare(Seconds(1), *busy);
  for (const pid_t root : {10, 20, 30}) {
    ProcessTreeCpu tree(proc_.Root(), kTicks);
    const auto seconds = tree.Sample({.root = root}, Seconds(0));
    ASSERT_TRUE(seconds);
    sum += seconds->count();
    shares += *CpuShare(*seconds, *busy);
  }
  EXPECT_DOUBLE_EQ(sum, busy->count());
  EXPECT_DOUBLE_EQ(shares, 1);
}

TEST_P(ProcessTreeTest, MemoryIsPssAndElseResidentPages) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  proc_.Set({.pid = 10, .resident_pages = 1000, .pss_kib = 500});
  proc_.Set({.pid = 11, .parent = 10, .resident_pages = 300});
  EXPECT_EQ(ResidentBytes(proc_.Root(), std::vector<pid_t>{10, 11, 99}), 500U * 1024 + 300U * page);
  EXPECT_EQ(ResidentBytes(proc_.Root(), {}), 0U);
}

TEST(ProcessTreeThreadsTest, ChildrenOfEveryThreadAreFound) {
  FakeProc proc;
  proc.Set({.pid = 10, .user = 100, .threads = 2});
  proc.Set({.pid = 77, .parent = 999, .user = 25});
  fakes::WriteText(proc.Root() / "10" / "task" / "14" / "children", "77 ");
  ProcessTreeCpu cpu(proc.Root(), kTicks);
  const auto seconds = cpu.Sample({.root = 10}, Seconds(0));
  ASSERT_TRUE(seconds);
  EXPECT_DOUBLE_EQ(seconds->count(), 1.25);
}

TEST(ProcessTreeRealTest, AgreesWithWhatTheKernelTellsAtTheEnd) {
  // A shell with a child works for a while; at the end wait4 tells the truth.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c",
            "(i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done); kill -STOP $$", nullptr);
    ::_exit(127);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  const long ticks = ::sysconf(_SC_CLK_TCK);
  ProcessTreeCpu cpu("/proc", ticks);
  const auto live = cpu.Sample({.root = child}, Seconds(0));
  ::kill(child, SIGCONT);
  struct rusage usage{};
  ASSERT_EQ(::wait4(child, &status, 0, &usage), child);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  const double truth = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  ASSERT_TRUE(live) << live.error().message;
  EXPECT_GT(truth, 0);
  // Four numbers of whole ticks in each of two processes, cut off.
  EXPECT_NEAR(live->count(), truth, 8.0 / static_cast<double>(ticks));
  const auto ended = cpu.Sample({.root = child}, Seconds(truth));
  ASSERT_TRUE(ended);
  EXPECT_GE(ended->count(), truth);
}

}  // namespace
}  // namespace lowtide
