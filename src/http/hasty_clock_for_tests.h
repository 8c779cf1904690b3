// For tests of what waits.
#pragma once

#include <atomic>
#include <chrono>
#include <stop_token>

#include "base/clock.h"

namespace lowtide {

// Sleeping takes no time and moves it on.
class HastyClock final : public Clock {
 public:
  TimePoint Now() const override {
    return TimePoint(std::chrono::milliseconds(1'700'000'000'000) + Elapsed());
  }
  MonoTime Monotonic() const override { return MonoTime(at_.load()); }
  std::chrono::nanoseconds SuspendedTime() const override { return {}; }
  bool SleepUntil(MonoTime deadline, std::stop_token stop) override {
    if (stop.stop_requested()) return false;
    at_ = deadline.time_since_epoch();
    return true;
  }
  void Advance(Seconds s) { at_ = at_.load() + ToNanoseconds(s); }
  double Elapsed_s() const { return ToSeconds(at_.load()).count(); }

 private:
  std::chrono::milliseconds Elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(at_.load());
  }
  std::atomic<std::chrono::nanoseconds> at_{std::chrono::nanoseconds(0)};
};

}  // namespace lowtide
