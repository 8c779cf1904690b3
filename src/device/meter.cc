#include "device/meter.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/thread_name.h"

namespace lowtide {

struct Meter::Shared {
  struct Slot {
    PowerDevice* device = nullptr;
    EnergyAccumulator accumulator;
    std::optional<MonoTime> last_read;
    std::optional<Error> trouble;
    bool counter_trouble_told = false;
  };

  Shared(Clock& c, MeterOptions o) : clock(c), options(o) {}

  Clock& clock;
  MeterOptions options;

  // The sampling thread's own.
  std::vector<Slot> slots;
  std::optional<MonoTime> last_tick;
  std::chrono::nanoseconds last_suspended{0};

  std::mutex mutex;  // guards what follows; held for moments only
  std::condition_variable changed;
  std::stop_source wake;  // cuts the thread's sleep short
  std::uint64_t requested = 0;
  std::uint64_t completed = 0;
  std::uint64_t overdue = 0;  // the last request that was not answered in time
  bool ended = false;
  Drained inbox;
  std::vector<MeterReading> readings;
};

Meter::Meter(Clock& clock, std::vector<PowerDevice*> devices, MeterOptions options)
    : devices_(std::move(devices)), shared_(std::make_shared<Shared>(clock, options)) {
  for (PowerDevice* const device : devices_) {
    shared_->slots.push_back({device, EnergyAccumulator(options.accumulator), {}, {}, false});
  }
  shared_->readings.resize(devices_.size());
}

Meter::~Meter() {
  if (thread_.joinable()) Stop();
}

void Meter::ReadAll(Shared& shared, bool all) {
  const MonoTime now = shared.clock.Monotonic();
  const auto suspended = shared.clock.SuspendedTime();
  std::optional<EnergyAccumulator::Pause> pause;
  if (shared.last_tick) {
    if (suspended - shared.last_suspended > std::chrono::milliseconds(100)) {
      pause = EnergyAccumulator::Pause::kSuspended;
    } else if (ToSeconds(now - *shared.last_tick) > shared.options.accumulator.max_power_gap) {
      pause = EnergyAccumulator::Pause::kStalled;
    }
  }
  shared.last_tick = now;
  shared.last_suspended = suspended;

  for (std::size_t i = 0; i < shared.slots.size(); ++i) {
    Shared::Slot& slot = shared.slots[i];
    if (pause) slot.accumulator.MarkPause(*pause);
    const auto wait = slot.device->Info().min_poll_period;
    if (!all && slot.last_read && now - *slot.last_read < wait) continue;
    slot.last_read = now;

    const bool power = slot.accumulator.WantsPower(now);
    auto reading = power ? slot.device->Read(now) : slot.device->ReadEnergy(now);
    if (!power && reading && reading->discontinuity) {
      // The counter does not cover this interval; power does.
      if (const auto again = slot.device->Read(now)) reading->power = again->power;
    }
    std::optional<EnergyInterval> interval;
    std::optional<std::string> notice;
    if (reading) {
      if (slot.trouble) notice = "answers again";
      slot.trouble.reset();
      const int resets = slot.accumulator.Resets();
      interval = slot.accumulator.Add(*reading);
      if (slot.accumulator.Resets() > resets) notice = "its energy counter started anew";
      const auto state = slot.accumulator.Counter();
      const bool bad = state == EnergyAccumulator::CounterState::kFrozen ||
                       state == EnergyAccumulator::CounterState::kDisagrees;
      if (bad && !slot.counter_trouble_told) {
        slot.counter_trouble_told = true;
        notice = slot.accumulator.Method();
      }
    } else {
      if (!slot.trouble) notice = reading.error().message;
      slot.trouble = std::move(reading).error();
    }

    const std::scoped_lock lock(shared.mutex);
    if (interval) shared.inbox.intervals.push_back({i, *interval});
    if (notice) shared.inbox.notices.push_back({i, *std::move(notice)});
    const EnergyAccumulator& a = slot.accumulator;
    shared.readings[i] = {a.Total(),  a.HasEnergy(),       a.Gaps(),    a.Resets(),
                          a.Method(), a.DisagreementPct(), slot.trouble};
  }
}

void Meter::Loop(const std::shared_ptr<Shared>& shared, const std::stop_token& stop) {
  NameThisThread("lowtide-meter");
  // Absolute deadlines: a late tick does not shift the ones after it.
  const auto period = ToNanoseconds(shared->options.period);
  MonoTime next = shared->clock.Monotonic() + period;
  std::stop_token wake = shared->wake.get_token();
  while (!stop.stop_requested()) {
    std::uint64_t asked = 0;
    const bool ticked = shared->clock.SleepUntil(next, wake);
    {
      const std::scoped_lock lock(shared->mutex);
      asked = shared->requested;
      if (!ticked) {
        shared->wake = {};  // a new one for the next sleep
        wake = shared->wake.get_token();
      }
      if (!ticked && asked == shared->completed) continue;  // woken to end
    }
    ReadAll(*shared, !ticked);
    {
      const std::scoped_lock lock(shared->mutex);
      if (!ticked) shared->completed = asked;
    }
    shared->changed.notify_all();
    if (!ticked) continue;
    const MonoTime now = shared->clock.Monotonic();
    next += period;
    if (next <= now) next += ((now - next) / period + 1) * period;  // skip what was missed
  }
  {
    const std::scoped_lock lock(shared->mutex);
    shared->ended = true;
  }
  shared->changed.notify_all();
}

bool Meter::Start(Seconds patience) {
  thread_ = std::thread([shared = shared_, stop = stop_.get_token()] { Loop(shared, stop); });
  return Sample(patience);
}

bool Meter::Sample(Seconds patience) {
  std::unique_lock lock(shared_->mutex);
  const std::uint64_t mine = ++shared_->requested;
  shared_->wake.request_stop();
  // A driver that hangs is waited for once.
  if (shared_->completed < shared_->overdue && !shared_->ended) return false;
  const bool answered = shared_->changed.wait_for(
      lock, patience, [&] { return shared_->completed >= mine || shared_->ended; });
  if (!answered) shared_->overdue = mine;
  return answered;
}

Meter::Drained Meter::Drain() {
  const std::scoped_lock lock(shared_->mutex);
  return std::exchange(shared_->inbox, {});
}

bool Meter::Stop(Seconds patience) {
  if (!thread_.joinable()) return true;
  Sample(patience);
  stop_.request_stop();
  {
    std::unique_lock lock(shared_->mutex);
    shared_->wake.request_stop();
    if (!shared_->changed.wait_for(lock, patience, [&] { return shared_->ended; })) {
      lock.unlock();
      thread_.detach();
      return false;
    }
  }
  thread_.join();
  const MonoTime now = shared_->clock.Monotonic();
  const std::scoped_lock lock(shared_->mutex);
  for (std::size_t i = 0; i < shared_->slots.size(); ++i) {
    shared_->slots[i].accumulator.Finish(now);
    shared_->readings[i].gaps = shared_->slots[i].accumulator.Gaps();
  }
  return true;
}

std::vector<MeterReading> Meter::Readings() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->readings;
}

}  // namespace lowtide
