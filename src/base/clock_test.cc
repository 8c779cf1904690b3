#include "base/clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

namespace lowtide {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr TimePoint kStart = FromUnixMillis(1'700'000'000'000);

TEST(SimulatedClock, MovesOnlyWhenTold) {
  SimulatedClock clock(kStart);
  EXPECT_EQ(clock.Now(), kStart);
  const MonoTime mono = clock.Monotonic();
  clock.Advance(Seconds(1.5));
  EXPECT_EQ(clock.Now(), kStart + milliseconds(1500));
  EXPECT_EQ(clock.Monotonic(), mono + milliseconds(1500));
}

TEST(SimulatedClock, AStepOfUtcLeavesMonotonicTimeAlone) {
  SimulatedClock clock(kStart);
  const MonoTime mono = clock.Monotonic();
  clock.StepUtc(Seconds(-3600));
  EXPECT_EQ(clock.Now(), kStart - hours(1));
  EXPECT_EQ(clock.Monotonic(), mono);
  EXPECT_EQ(clock.SuspendedTime(), hours(0));
}

TEST(SimulatedClock, ASuspendShowsInUtcAndInSuspendedTime) {
  SimulatedClock clock(kStart);
  const MonoTime mono = clock.Monotonic();
  clock.Suspend(Seconds(600));
  EXPECT_EQ(clock.Now(), kStart + minutes(10));
  EXPECT_EQ(clock.Monotonic(), mono);
  EXPECT_EQ(clock.SuspendedTime(), minutes(10));
}

TEST(SimulatedClock, ReturnsAtOnceForAPastDeadline) {
  SimulatedClock clock(kStart);
  EXPECT_TRUE(clock.SleepUntil(clock.Monotonic(), {}));
}

TEST(SimulatedClock, WakesEverySleeperThatAdvancePasses) {
  SimulatedClock clock(kStart);
  const MonoTime start = clock.Monotonic();
  std::atomic<int> woken = 0;
  {
    std::vector<std::jthread> sleepers;
    for (int i = 1; i <= 4; ++i) {
      sleepers.emplace_back([&, i](const std::stop_token& stop) {
        if (clock.SleepUntil(start + hours(i), stop)) ++woken;
      });
    }
    clock.Advance(Seconds(3 * 3600));
    sleepers[0].join();
    sleepers[1].join();
    sleepers[2].join();
    EXPECT_EQ(woken, 3);
  }  // the fourth is stopped
  EXPECT_EQ(woken, 3);
}

TEST(SimulatedClock, StopEndsASleep) {
  SimulatedClock clock(kStart);
  std::stop_source source;
  std::latch asleep(1);
  std::atomic<bool> reached = true;
  std::jthread sleeper([&] {
    asleep.count_down();
    reached = clock.SleepUntil(clock.Monotonic() + hours(1), source.get_token());
  });
  asleep.wait();
  source.request_stop();
  sleeper.join();
  EXPECT_FALSE(reached);
}

TEST(RealClock, RunsForward) {
  const RealClock clock;
  const MonoTime mono = clock.Monotonic();
  EXPECT_LE(mono, clock.Monotonic());
  EXPECT_GT(clock.Now(), FromUnixMillis(1'700'000'000'000));
  EXPECT_GE(clock.SuspendedTime(), -milliseconds(5));
}

TEST(RealClock, SleepsUntilTheDeadline) {
  RealClock clock;
  const MonoTime deadline = clock.Monotonic() + milliseconds(15);
  EXPECT_TRUE(clock.SleepUntil(deadline, {}));
  EXPECT_GE(clock.Monotonic(), deadline);
}

TEST(RealClock, StopEndsASleepOfADay) {
  RealClock clock;
  std::atomic<bool> reached = true;
  {
    const std::jthread sleeper([&](const std::stop_token& stop) {
      reached = clock.SleepUntil(clock.Monotonic() + hours(24), stop);
    });
  }
  EXPECT_FALSE(reached);
}

}  // namespace
}  // namespace lowtide
