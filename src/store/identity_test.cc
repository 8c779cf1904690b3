#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "base/file.h"
#include "store/process_stat.h"
#include "store/store.h"

namespace lowtide {
namespace {

TEST(RunId, SortsByTimeAndNeverRepeats) {
  const std::string early = NewRunId(FromUnixMillis(1'469'918'176'385));
  EXPECT_EQ(early.size(), 26U);
  // The example of the ULID specification: 1469918176385 ms is "01ARYZ6S41".
  EXPECT_EQ(early.substr(0, 10), "01ARYZ6S41");
  EXPECT_LT(early, NewRunId(FromUnixMillis(1'469'918'176'386)));
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(NewRunId(FromUnixMillis(5)));
  EXPECT_EQ(ids.size(), 1000U);
  for (const auto& id : ids) {
    EXPECT_EQ(id.find_first_not_of("0123456789ABCDEFGHJKMNPQRSTVWXYZ"), std::string::npos) << id;
  }
}

TEST(ProcessStat, ReadsPastAnyCommandName) {
  const std::string tail =
      " 1 2 3 0 -1 4194560 1 0 0 0 4 5 0 0 20 0 1 0 987654321 1 2 18446744073709551615\n";
  const auto plain = ParseProcessStat("12 (cat) S" + tail);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->state, 'S');
  EXPECT_EQ(plain->start_ticks, 987654321);
  const auto odd = ParseProcessStat("12 (a) b (c) Z 1) R" + tail);
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->state, 'R');
  EXPECT_EQ(odd->start_ticks, 987654321);
}

TEST(ProcessStat, RefusesOtherForms) {
  for (const char* text : {"", "12 (cat", "12 (cat)", "12 (cat) ", "12 (cat) S", "12 (cat) S 1 2",
                           "1 (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x 1",
                           "1 (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 "
                           "99999999999999999999999 1"}) {
    EXPECT_FALSE(ParseProcessStat(text)) << text;
  }
}

TEST(ProcessIdentity, TellsTheLivingFromTheDead) {
  const auto self = ThisProcess();
  ASSERT_TRUE(self) << self.error().message;
  EXPECT_EQ(self->pid, ::getpid());
  EXPECT_GT(self->start_ticks, 0);
  EXPECT_EQ(self->boot_id.size(), 36U);
  EXPECT_TRUE(IsAlive(*self));
  ProcessIdentity other = *self;
  other.start_ticks += 1;
  EXPECT_FALSE(IsAlive(other));
  other = *self;
  other.boot_id = "x";
  EXPECT_FALSE(IsAlive(other));
  EXPECT_FALSE(IsAlive({}));
}

TEST(ProcessIdentity, AKilledChildIsDeadEvenBeforeItIsReaped) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe_ends[1]);
    char byte = 0;
    (void)!::read(pipe_ends[0], &byte, 1);
    ::_exit(0);
  }
  const auto stat = ParseProcessStat(*ReadFile("/proc/" + std::to_string(child) + "/stat"));
  ASSERT_TRUE(stat);
  const ProcessIdentity identity{child, stat->start_ticks, ThisProcess()->boot_id};
  EXPECT_TRUE(IsAlive(identity));
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(IsAlive(identity));
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(IsAlive(identity));
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

}  // namespace
}  // namespace lowtide
