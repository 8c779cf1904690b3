// Time is injected: every component that waits or stamps takes a Clock&.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "base/time.h"

namespace lowtide {

class Clock {
 public:
  virtual ~Clock() = default;

  virtual TimePoint Now() const = 0;
  // Does not advance while the machine is suspended.
  virtual MonoTime Monotonic() const = 0;
  // Total time the machine has spent suspended since boot, to about a millisecond; its growth
  // reveals a suspend.
  virtual std::chrono::nanoseconds SuspendedTime() const = 0;
  // Returns true at `deadline`, false when stopped earlier.
  virtual bool SleepUntil(MonoTime deadline, std::stop_token stop) = 0;
};

// Thread-safe.
class RealClock final : public Clock {
 public:
  TimePoint Now() const override;
  MonoTime Monotonic() const override;
  std::chrono::nanoseconds SuspendedTime() const override;
  bool SleepUntil(MonoTime deadline, std::stop_token stop) override;
};

// A clock that moves only when told to. Thread-safe: sleepers wake when Advance passes them.
class SimulatedClock final : public Clock {
 public:
  explicit SimulatedClock(TimePoint start) : now_(start) {}

  TimePoint Now() const override;
  MonoTime Monotonic() const override;
  std::chrono::nanoseconds SuspendedTime() const override;
  bool SleepUntil(MonoTime deadline, std::stop_token stop) override;

  void Advance(Seconds d);
  // UTC moves, monotonic time does not: an NTP step.
  void StepUtc(Seconds d);
  // UTC moves and the suspended time grows; monotonic time does not.
  void Suspend(Seconds d);

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  TimePoint now_;
  std::chrono::nanoseconds mono_{0};
  std::chrono::nanoseconds suspended_{0};
};

}  // namespace lowtide
