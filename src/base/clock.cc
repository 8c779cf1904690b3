#include "base/clock.h"

#include <time.h>

namespace lowtide {
namespace {

std::chrono::nanoseconds ReadClock(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return std::chrono::seconds(ts.tv_sec) + std::chrono::nanoseconds(ts.tv_nsec);
}

}  // namespace

TimePoint RealClock::Now() const {
  return TimePoint(std::chrono::floor<std::chrono::milliseconds>(ReadClock(CLOCK_REALTIME)));
}

MonoTime RealClock::Monotonic() const { return MonoTime(ReadClock(CLOCK_MONOTONIC)); }

std::chrono::nanoseconds RealClock::SuspendedTime() const {
  // The two clocks are read one after the other: a thread that loses the CPU in between would see a
  // suspend that never was, so the reading of the narrowest window counts.
  std::chrono::nanoseconds narrowest = std::chrono::nanoseconds::max();
  std::chrono::nanoseconds suspended{0};
  for (int attempt = 0; attempt < 4 && narrowest > std::chrono::microseconds(50); ++attempt) {
    const auto before = ReadClock(CLOCK_MONOTONIC);
    const auto boot = ReadClock(CLOCK_BOOTTIME);
    const auto window = ReadClock(CLOCK_MONOTONIC) - before;
    if (window < narrowest) {
      narrowest = window;
      suspended = boot - before;
    }
  }
  return suspended;
}

bool RealClock::SleepUntil(MonoTime deadline, std::stop_token stop) {
  // By hand rather than with condition_variable_any, which allocates at each call.
  std::mutex mutex;
  std::condition_variable stopped;
  const std::stop_callback wakes(stop, [&] {
    const std::scoped_lock lock(mutex);
    stopped.notify_all();
  });
  // libstdc++'s steady_clock is CLOCK_MONOTONIC, as Monotonic() is.
  const auto until = std::chrono::steady_clock::time_point(deadline.time_since_epoch());
  std::unique_lock lock(mutex);
  stopped.wait_until(lock, until, [&] { return stop.stop_requested(); });
  return !stop.stop_requested();
}

TimePoint SimulatedClock::Now() const {
  const std::scoped_lock lock(mutex_);
  return now_;
}

MonoTime SimulatedClock::Monotonic() const {
  const std::scoped_lock lock(mutex_);
  return MonoTime(mono_);
}

std::chrono::nanoseconds SimulatedClock::SuspendedTime() const {
  const std::scoped_lock lock(mutex_);
  return suspended_;
}

bool SimulatedClock::SleepUntil(MonoTime deadline, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  return changed_.wait(lock, stop, [&] { return mono_ >= deadline.time_since_epoch(); });
}

void SimulatedClock::Advance(Seconds d) {
  const std::scoped_lock lock(mutex_);
  mono_ += ToNanoseconds(d);
  now_ += ToMilliseconds(d);
  changed_.notify_all();
}

void SimulatedClock::StepUtc(Seconds d) {
  const std::scoped_lock lock(mutex_);
  now_ += ToMilliseconds(d);
}

void SimulatedClock::Suspend(Seconds d) {
  const std::scoped_lock lock(mutex_);
  now_ += ToMilliseconds(d);
  suspended_ += ToNanoseconds(d);
}

}  // namespace lowtide
