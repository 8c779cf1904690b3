#include "run/limit_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "base/file.h"
#include "run/test_device.h"
#include "store/store.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LimitGuardTest : public ::testing::Test {
 protected:
  LimitGuardTest() {
    std::string pattern = "/tmp/lowtide_guard_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~LimitGuardTest() override { std::filesystem::remove_all(folder_); }

  LimitGuardOptions Options(const std::string& run_id = "RUN") const {
    return {folder_, run_id, {}};
  }
  std::vector<std::pair<std::filesystem::path, LimitJournal>> Journals() const {
    return ListJournals(folder_);
  }
  // A journal as a killed run leaves it.
  std::filesystem::path Abandon(const std::string& uuid, double original, double applied) const {
    LimitJournal journal;
    journal.run_id = "DEAD";
    journal.owner = {999999999, 1, "another boot"};
    journal.limits.push_back({uuid, Watts(original), {Watts(applied)}});
    const auto path = JournalPath(folder_, "DEAD");
    EXPECT_TRUE(WriteJournal(path, journal));
    return path;
  }

  std::filesystem::path folder_;
  TestDevice a_{"GPU-a"};
  TestDevice b_{"GPU-b"};
};

TEST_F(LimitGuardTest, AcquiringChangesNothing) {
  a_.limit = Watts(260);
  auto guard = LimitGuard::Acquire({&a_}, Options());
  ASSERT_TRUE(guard);
  EXPECT_EQ((*guard)->Current().v, 260);
  EXPECT_THAT(a_.history, IsEmpty());
  EXPECT_THAT(Journals(), IsEmpty());
}

TEST_F(LimitGuardTest, TheLimitFoundComesBackNotTheMaximum) {
  a_.limit = Watts(260);
  {
    auto guard = LimitGuard::Acquire({&a_}, Options());
    ASSERT_TRUE(guard);
    ASSERT_TRUE((*guard)->Set(Watts(200)));
    EXPECT_EQ(a_.limit.v, 200);
  }
  EXPECT_EQ(a_.limit.v, 260);
  EXPECT_THAT(Journals(), IsEmpty());
}

TEST_F(LimitGuardTest, TheOriginalIsOnDiskBeforeTheFirstChange) {
  a_.limit = Watts(260);
  a_.refuse = true;  // the change itself does not happen
  auto guard = LimitGuard::Acquire({&a_}, Options());
  ASSERT_TRUE(guard);
  EXPECT_FALSE((*guard)->Set(Watts(200)));
  const auto journals = Journals();
  ASSERT_THAT(journals, SizeIs(1));
  ASSERT_THAT(journals[0].second.limits, SizeIs(1));
  EXPECT_EQ(journals[0].second.limits[0].original.v, 260);
  EXPECT_TRUE(IsAlive(journals[0].second.owner));
}

TEST_F(LimitGuardTest, AllGpusGetOneLimitOrNone) {
  auto guard = LimitGuard::Acquire({&a_, &b_}, Options());
  ASSERT_TRUE(guard);
  ASSERT_TRUE((*guard)->Set(Watts(250)));
  b_.refuse = true;
  const auto refused = (*guard)->Set(Watts(200));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kPermissionDenied);
  EXPECT_EQ(a_.limit.v, 250);
  EXPECT_EQ(b_.limit.v, 250);
  b_.refuse = false;
}

TEST_F(LimitGuardTest, ADeviceThatFailsAfterTheChangeGetsItsLimitBackToo) {
  a_.limit = Watts(260);
  auto guard = LimitGuard::Acquire({&a_}, Options());
  ASSERT_TRUE(guard);
  a_.lose_answer = true;
  EXPECT_FALSE((*guard)->Set(Watts(200)));
  a_.limit = Watts(200);  // neither could the way back be seen to have worked
  a_.lose_answer = false;
  (*guard)->Restore();
  EXPECT_EQ(a_.limit.v, 260);
  EXPECT_THAT(Journals(), IsEmpty());
}

TEST_F(LimitGuardTest, ALimitThatSomebodyElseSetDuringTheRunIsLeftAlone) {
  a_.limit = Watts(280);
  auto guard = LimitGuard::Acquire({&a_}, Options());
  ASSERT_TRUE(guard);
  ASSERT_TRUE((*guard)->Set(Watts(150)));
  a_.limit = Watts(222);
  const auto outcomes = (*guard)->Restore();
  EXPECT_EQ(a_.limit.v, 222);
  ASSERT_THAT(outcomes, SizeIs(1));
  EXPECT_TRUE(outcomes[0].status);
  EXPECT_THAT(outcomes[0].message, testing::HasSubstr("somebody else"));
  EXPECT_THAT(Journals(), IsEmpty());
}

TEST_F(LimitGuardTest, TheDefaultThatAResetPutThereIsPutRightToo) {
  a_.limit = Watts(280);
  auto guard = LimitGuard::Acquire({&a_}, Options());
  ASSERT_TRUE(guard);
  ASSERT_TRUE((*guard)->Set(Watts(150)));
  a_.limit = a_.limits.preset;
  (*guard)->Restore();
  EXPECT_EQ(a_.limit.v, 280);
}

TEST_F(LimitGuardTest, ALimitThatTheDriverRoundedIsStillOurs) {
  a_.limit = Watts(280);
  auto guard = LimitGuard::Acquire({&a_}, Options());
  ASSERT_TRUE(guard);
  ASSERT_TRUE((*guard)->Set(Watts(212.5)));
  a_.limit = Watts(213.4);
  (*guard)->Restore();
  EXPECT_EQ(a_.limit.v, 280);

  Abandon("GPU-a", 280, 150.2);
  a_.limit = Watts(151);
  PowerDevice* const devices[] = {&a_};
  RestoreAbandoned(folder_, devices);
  EXPECT_EQ(a_.limit.v, 280);
}

TEST_F(LimitGuardTest, RangeIsWhatAllDevicesAllow) {
  a_.limits = {Watts(100), Watts(300), Watts(300)};
  b_.limits = {Watts(150), Watts(250), Watts(250)};
  auto guard = LimitGuard::Acquire({&a_, &b_}, Options());
  ASSERT_TRUE(guard);
  EXPECT_EQ((*guard)->Range().min.v, 150);
  EXPECT_EQ((*guard)->Range().max.v, 250);
  const auto status = (*guard)->Set(Watts(280));
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("150 to 250"));
}

TEST_F(LimitGuardTest, OneRunSteersADeviceAtATime) {
  auto first = LimitGuard::Acquire({&a_}, Options("FIRST"));
  ASSERT_TRUE(first);
  ASSERT_TRUE((*first)->Set(Watts(200)));
  auto second = LimitGuard::Acquire({&a_}, Options("SECOND"));
  ASSERT_TRUE(second);
  const auto status = (*second)->Set(Watts(150));
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("FIRST"));
  EXPECT_EQ(a_.limit.v, 200);
}

TEST_F(LimitGuardTest, TheWatchdogStartsOnceAndIsToldAtTheEnd) {
  int starts = 0;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  auto options = Options();
  options.start_watchdog = [&](const std::filesystem::path& journal) -> Result<UniqueFd> {
    ++starts;
    EXPECT_EQ(journal, JournalPath(folder_, "RUN"));
    return UniqueFd(ends[1]);
  };
  auto guard = LimitGuard::Acquire({&a_}, options);
  ASSERT_TRUE(guard);
  EXPECT_EQ(starts, 0);
  ASSERT_TRUE((*guard)->Set(Watts(200)));
  ASSERT_TRUE((*guard)->Set(Watts(150)));
  EXPECT_EQ(starts, 1);
  (*guard)->Restore();
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "the pipe must be closed";
  ::close(ends[0]);
}

TEST_F(LimitGuardTest, NoWatchdogNoChange) {
  auto options = Options();
  options.start_watchdog = [](const std::filesystem::path&) -> Result<UniqueFd> {
    return Fail(Code::kUnavailable, "cannot start the watchdog");
  };
  auto guard = LimitGuard::Acquire({&a_}, options);
  ASSERT_TRUE(guard);
  EXPECT_FALSE((*guard)->Set(Watts(200)));
  EXPECT_THAT(a_.history, IsEmpty());
}

TEST_F(LimitGuardTest, SimulatedDevicesNeedNeitherJournalNorWatchdog) {
  TestDevice simulated("SIM", Provenance::kSimulated);
  auto options = Options();
  options.start_watchdog = [](const std::filesystem::path&) -> Result<UniqueFd> {
    ADD_FAILURE() << "no watchdog is needed";
    return UniqueFd();
  };
  auto guard = LimitGuard::Acquire({&simulated}, options);
  ASSERT_TRUE(guard);
  ASSERT_TRUE((*guard)->Set(Watts(200)));
  EXPECT_THAT(Journals(), IsEmpty());
}

TEST_F(LimitGuardTest, AnAbandonedLimitIsRestored) {
  Abandon("GPU-a", 260, 150);
  a_.limit = Watts(150);
  EXPECT_TRUE(HasAbandonedLimits(folder_));
  std::vector<PowerDevice*> devices = {&a_};
  const auto outcomes = RestoreAbandoned(folder_, devices);
  ASSERT_THAT(outcomes, SizeIs(1));
  EXPECT_TRUE(outcomes[0].status);
  EXPECT_EQ(a_.limit.v, 260);
  EXPECT_FALSE(HasAbandonedLimits(folder_));
}

TEST_F(LimitGuardTest, ALimitThatSomebodyElseSetSinceIsLeftAlone) {
  Abandon("GPU-a", 260, 150);
  a_.limit = Watts(220);
  std::vector<PowerDevice*> devices = {&a_};
  const auto outcomes = RestoreAbandoned(folder_, devices);
  ASSERT_THAT(outcomes, SizeIs(1));
  EXPECT_THAT(outcomes[0].message, HasSubstr("somebody else"));
  EXPECT_EQ(a_.limit.v, 220);
  EXPECT_FALSE(HasAbandonedLimits(folder_));
}

TEST_F(LimitGuardTest, AfterARebootTheDriversDefaultIsNotSomebodysChoice) {
  Abandon("GPU-a", 260, 150);
  a_.limit = a_.limits.preset;
  std::vector<PowerDevice*> devices = {&a_};
  EXPECT_TRUE(RestoreAbandoned(folder_, devices)[0].status);
  EXPECT_EQ(a_.limit.v, 260);
}

TEST_F(LimitGuardTest, WithoutARebootTheDriversDefaultIs) {
  const auto path = Abandon("GPU-a", 260, 150);
  auto journal = ReadJournal(path);
  ASSERT_TRUE(journal);
  journal->owner.boot_id = ThisProcess()->boot_id;
  ASSERT_TRUE(WriteJournal(path, *journal));
  a_.limit = a_.limits.preset;
  std::vector<PowerDevice*> devices = {&a_};
  EXPECT_TRUE(RestoreAbandoned(folder_, devices)[0].status);
  EXPECT_EQ(a_.limit.v, 300);
}

TEST_F(LimitGuardTest, AJournalStaysUntilItsDeviceIsThereAndObeys) {
  Abandon("GPU-a", 260, 150);
  std::vector<PowerDevice*> none;
  EXPECT_FALSE(RestoreAbandoned(folder_, none)[0].status);
  EXPECT_TRUE(HasAbandonedLimits(folder_));
  a_.limit = Watts(150);
  a_.refuse = true;
  std::vector<PowerDevice*> devices = {&a_};
  EXPECT_FALSE(RestoreAbandoned(folder_, devices)[0].status);
  EXPECT_TRUE(HasAbandonedLimits(folder_));
  a_.refuse = false;
  EXPECT_TRUE(RestoreAbandoned(folder_, devices)[0].status);
  EXPECT_FALSE(HasAbandonedLimits(folder_));
}

TEST_F(LimitGuardTest, ALiveRunsLimitsAreNotAbandoned) {
  auto guard = LimitGuard::Acquire({&a_}, Options());
  ASSERT_TRUE(guard);
  ASSERT_TRUE((*guard)->Set(Watts(200)));
  EXPECT_FALSE(HasAbandonedLimits(folder_));
  std::vector<PowerDevice*> devices = {&a_};
  EXPECT_THAT(RestoreAbandoned(folder_, devices), IsEmpty());
  EXPECT_EQ(a_.limit.v, 200);
}

TEST_F(LimitGuardTest, DamagedJournalsAreNamedAndDoNoHarm) {
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(folder_ / name) << text;
  };
  write("empty.json", "");
  write("list.json", "[1,2]");
  write("half.json", R"({"run_id":"X","pid":1,"start_ticks":1,"boot_id":"b","limits":[{}]})");
  write("huge.json", R"({"run_id":"X","pid":1e300,"start_ticks":1,"boot_id":"b","limits":[]})");
  std::vector<Error> bad;
  EXPECT_THAT(ListJournals(folder_, &bad), IsEmpty());
  EXPECT_THAT(bad, SizeIs(4));
}

TEST_F(LimitGuardTest, TheLockIsExclusiveAndBounded) {
  auto first = JournalLock::Acquire(folder_);
  ASSERT_TRUE(first);
  const auto second = JournalLock::Acquire(folder_, Seconds(0.03));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace lowtide
