#include "device/energy_accumulator.h"

#include <fmt/format.h>

#include <utility>

namespace lowtide {

std::optional<Joules> EnergyAccumulator::IntegratedSince(const Reading& reading) const {
  if (power_paused_ || !reading.power) return std::nullopt;
  const Seconds dt = ToSeconds(reading.at - last_at_);
  if (dt > options_.max_power_gap) return std::nullopt;
  if (last_power_) return (*last_power_ + *reading.power) * 0.5 * dt;
  if (power_left_out_) return *reading.power * dt;
  return std::nullopt;
}

std::optional<Joules> EnergyAccumulator::CountedSince(const Reading& reading) {
  if (!reading.energy || !last_counter_ || counter_paused_) return std::nullopt;
  const Joules moved = *reading.energy - *last_counter_;
  if (reading.discontinuity || moved < Joules(0)) {
    ++resets_;
    return std::nullopt;
  }
  return moved;
}

bool EnergyAccumulator::Compares(MonoTime at) const {
  if (counter_ != CounterState::kTrusted) return true;
  const auto since = at - started_at_;
  return since % ToNanoseconds(options_.compare_every) <= ToNanoseconds(options_.compare_time);
}

bool EnergyAccumulator::WantsPower(MonoTime now) const {
  return !started_ || still_time_ > Seconds(0) || Compares(now);
}

void EnergyAccumulator::Judge(const Reading& reading, std::optional<Joules> counted,
                              std::optional<Joules> integrated) {
  if (!counted) return;
  const Seconds dt = ToSeconds(reading.at - last_at_);
  if (!integrated && dt > options_.max_power_gap) return;
  if (*counted > Joules(0)) {
    still_integrated_ = Joules(0);
    still_time_ = still_unseen_ = Seconds(0);
  } else {
    still_time_ += dt;
    if (integrated) {
      still_integrated_ += *integrated;
    } else {
      still_unseen_ += dt;
    }
    // Power that was not asked for while the counter seemed to move: as much as is drawn now.
    if (reading.power && still_unseen_ > Seconds(0)) {
      still_integrated_ += *reading.power * std::exchange(still_unseen_, Seconds(0));
    }
  }
  if (!integrated) return;
  // Readings that were taken only because the counter stood still would favour power.
  if (Compares(last_at_) && Compares(reading.at)) {
    both_counter_ += *counted;
    both_integrated_ += *integrated;
    both_time_ += dt;
  }
  if (counter_ != CounterState::kValidating && counter_ != CounterState::kTrusted) return;
  if (still_time_ >= options_.frozen_time && still_integrated_ >= options_.frozen_energy) {
    counter_ = CounterState::kFrozen;
    return;
  }
  if (counter_ != CounterState::kValidating || both_time_ < options_.validation_time ||
      both_integrated_ < options_.validation_energy) {
    return;
  }
  const double ratio = both_counter_ / both_integrated_;
  counter_ = ratio >= 1 / options_.max_ratio && ratio <= options_.max_ratio
                 ? CounterState::kTrusted
                 : CounterState::kDisagrees;
}

std::optional<EnergyInterval> EnergyAccumulator::Add(const Reading& reading) {
  const auto remember = [&] {
    last_at_ = reading.at;
    last_power_ = reading.power;
    power_left_out_ = saw_power_ && !reading.power;
    if (reading.energy) last_counter_ = reading.energy;
    power_paused_ = false;
    counter_paused_ = false;
  };
  saw_power_ = saw_power_ || reading.power.has_value();
  if (reading.energy && counter_ == CounterState::kAbsent) {
    // With nothing to check it against, a counter is taken at its word.
    counter_ = saw_power_ ? CounterState::kValidating : CounterState::kTrusted;
  }
  if (!started_) {
    started_ = true;
    started_at_ = reading.at;
    remember();
    return std::nullopt;
  }
  if (reading.at <= last_at_) return std::nullopt;

  const Seconds dt = ToSeconds(reading.at - last_at_);
  const auto integrated = IntegratedSince(reading);
  const auto counted = CountedSince(reading);
  const CounterState before = counter_;
  Judge(reading, counted, integrated);

  EnergyInterval interval{last_at_, reading.at, Joules(0), true};
  const bool use_counter = before == CounterState::kTrusted && counter_ == CounterState::kTrusted;
  if (before == CounterState::kTrusted && counter_ == CounterState::kFrozen) {
    // While it stood still it was still believed: make up for it once.
    interval.energy = still_integrated_;
    from_power_ += interval.energy;
  } else if (use_counter && counted) {
    interval.energy = *counted;
    from_counter_ += *counted;
  } else if (integrated) {
    interval.energy = *integrated;
    from_power_ += *integrated;
  } else if (counted && before != CounterState::kFrozen && before != CounterState::kDisagrees) {
    interval.energy = *counted;
    from_counter_ += *counted;
  } else {
    interval.known = false;
  }
  remember();
  if (!interval.known) {
    gaps_ += dt;
    return interval;
  }
  ++known_intervals_;
  total_ += interval.energy;
  return interval;
}

void EnergyAccumulator::MarkPause(Pause pause) {
  power_paused_ = true;
  if (pause == Pause::kSuspended) counter_paused_ = true;
}

void EnergyAccumulator::Finish(MonoTime now) {
  if (!started_ || now <= last_at_) return;
  gaps_ += ToSeconds(now - last_at_);
  last_at_ = now;
}

std::optional<double> EnergyAccumulator::DisagreementPct() const {
  if (both_time_ < Seconds(1) || both_integrated_ <= Joules(0)) return std::nullopt;
  return 100 * (both_counter_ / both_integrated_ - 1);
}

std::string_view EnergyAccumulator::Method() const {
  switch (counter_) {
    case CounterState::kFrozen: return "integrated power (the energy counter stood still)";
    case CounterState::kDisagrees:
      return "integrated power (the energy counter disagrees by more than a factor of two)";
    case CounterState::kAbsent: return "integrated power";
    case CounterState::kValidating:
      return from_counter_ > Joules(0) ? "energy counter and integrated power"
                                       : "integrated power (run too short to validate the counter)";
    case CounterState::kTrusted:
      return from_power_ > Joules(0) ? "energy counter (validated against integrated power)"
                                     : "energy counter";
  }
  return "energy counter";
}

}  // namespace lowtide
