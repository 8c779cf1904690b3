// Turns one device's readings into energy per interval, and says by which method.
//
// Where a device has both an energy counter and a power sensor, power is integrated (trapezoid)
// beside the counter. The first seconds are counted from integrated power while the counter is
// validated against it; then the counter takes over, and power is wanted only now and then, to
// compare the two, and while the counter stands still. A counter that stands still while power is
// drawn, or is off by more than a factor of two, is not trusted again in this run.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"
#include "base/units.h"
#include "device/power_device.h"

namespace lowtide {

struct AccumulatorOptions {
  // Power is held or interpolated over at most this long; a longer silence is a gap.
  Seconds max_power_gap{1.0};
  // The counter is validated over at least this long...
  Seconds validation_time{2.0};
  // ...and this much energy, so that its step (about 100 ms of draw on NVIDIA) does not matter.
  Joules validation_energy{50};
  // Accepted ratio of counter to integrated power is [1/r, r]: boards are known to disagree by
  // tens of percent, broken counters by far more.
  double max_ratio = 2.0;
  // A counter without movement for this long while at least `frozen_energy` was drawn is frozen.
  Seconds frozen_time{2.0};
  Joules frozen_energy{10};
  // A trusted counter is compared with integrated power in the first `compare_time` of every
  // `compare_every`.
  Seconds compare_time{2.0};
  Seconds compare_every{20.0};
};

// Energy of [from, to). `known` is false for a gap: the energy of that stretch was not seen.
struct EnergyInterval {
  MonoTime from;
  MonoTime to;
  Joules energy;
  bool known = true;
};

class EnergyAccumulator {
 public:
  enum class CounterState : std::uint8_t { kAbsent, kValidating, kTrusted, kFrozen, kDisagrees };

  explicit EnergyAccumulator(AccumulatorOptions options = {}) : options_(options) {}

  // The interval since the last good reading; nothing for the first one.
  std::optional<EnergyInterval> Add(const Reading& reading);

  // Whether the reading at `now` should have power too. Without it nothing is lost but the check of
  // the counter.
  bool WantsPower(MonoTime now) const;

  // The machine was suspended, or the sampler stalled: what lies between the last reading and the
  // next one is a gap for power, and for the counter too if `suspended`.
  enum class Pause : std::uint8_t { kStalled, kSuspended };
  void MarkPause(Pause pause);

  // Closes the books at `now`: what no reading has covered since the last good one is a gap.
  void Finish(MonoTime now);

  Joules Total() const { return total_; }
  Seconds Gaps() const { return gaps_; }
  int Resets() const { return resets_; }
  bool HasEnergy() const { return known_intervals_ > 0; }
  CounterState Counter() const { return counter_; }
  // 100 x (counter / integrated power - 1) over the time both were seen; nothing before 1 s of it.
  std::optional<double> DisagreementPct() const;
  // "energy counter", "integrated power", "energy counter (first 2 s from integrated power)", ...
  std::string_view Method() const;
  std::optional<Watts> LastPower() const { return last_power_; }

 private:
  std::optional<Joules> IntegratedSince(const Reading& reading) const;
  std::optional<Joules> CountedSince(const Reading& reading);
  // Whether the two are compared at this moment.
  bool Compares(MonoTime at) const;
  void Judge(const Reading& reading, std::optional<Joules> counted,
             std::optional<Joules> integrated);

  AccumulatorOptions options_;
  bool started_ = false;
  MonoTime started_at_;
  bool power_paused_ = false;
  bool counter_paused_ = false;
  MonoTime last_at_;
  std::optional<Watts> last_power_;
  bool power_left_out_ = false;  // by the last reading, because nobody asked
  std::optional<Joules> last_counter_;
  CounterState counter_ = CounterState::kAbsent;
  bool saw_power_ = false;

  Joules total_;
  Joules from_counter_;
  Joules from_power_;
  Seconds gaps_{0};
  int resets_ = 0;
  int known_intervals_ = 0;

  // Over the time both were seen.
  Joules both_counter_;
  Joules both_integrated_;
  Seconds both_time_{0};
  // Since the counter last moved; `still_unseen_` is the part of it without power readings.
  Joules still_integrated_;
  Seconds still_time_{0};
  Seconds still_unseen_{0};
};

}  // namespace lowtide
