#include "run/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <iterator>

namespace lowtide {
namespace {

constexpr Seconds kLateReading{0.25};

TimePoint ToUtc(MonoTime t, Ledger::Moment now) {
  return now.utc - std::chrono::round<std::chrono::milliseconds>(now.mono - t);
}

}  // namespace

Ledger::Ledger(std::vector<ComponentRecord> components, std::vector<bool> whole_host,
               GridClock grid, IntensityFeed& feed, LedgerOptions options)
    : components_(std::move(components)),
      whole_host_(std::move(whole_host)),
      pending_host_(components_.size()),
      pending_host_time_(components_.size(), Seconds(0)),
      share_gaps_(components_.size(), Seconds(0)),
      grid_(grid),
      feed_(feed),
      options_(options) {
  for (const ComponentRecord& c : components_) provenance_.push_back(c.status);
}

void Ledger::AddInterval(const DeviceInterval& device_interval, Moment now) {
  const std::size_t i = device_interval.device;
  const EnergyInterval& interval = device_interval.interval;
  if (!interval.known) return;
  if (whole_host_[i]) {
    ComponentRecord& component = components_[i];
    component.host_energy = component.host_energy.value_or(Joules(0)) + interval.energy;
    if (options_.host_energy == HostEnergy::kJobShare) {
      pending_host_[i] += interval.energy;
      pending_host_time_[i] += ToSeconds(interval.to - interval.from);
      return;
    }
  }
  Book(i, interval.energy, ToUtc(interval.from, now), ToUtc(interval.to, now));
}

void Ledger::ApplyHostShare(double share, Moment now) {
  for (std::size_t i = 0; i < components_.size(); ++i) {
    if (pending_host_time_[i] <= Seconds(0)) continue;
    const Joules energy = std::exchange(pending_host_[i], Joules(0));
    const Seconds time = std::exchange(pending_host_time_[i], Seconds(0));
    Book(i, energy * share, now.utc - ToMilliseconds(time), now.utc);
  }
}

void Ledger::CloseHostShare() {
  for (std::size_t i = 0; i < components_.size(); ++i) {
    pending_host_[i] = Joules(0);
    share_gaps_[i] += std::exchange(pending_host_time_[i], Seconds(0));
  }
}

void Ledger::Book(std::size_t component, Joules energy, TimePoint from, TimePoint to) {
  ComponentRecord& record = components_[component];
  record.energy = record.energy.value_or(Joules(0)) + energy;

  // By its middle: an interval that ends with a second belongs to that second.
  const TimePoint middle = from + (to - from) / 2;
  const std::int64_t second =
      std::chrono::floor<std::chrono::seconds>(middle).time_since_epoch().count();
  const bool is_gpu = record.kind == "gpu";
  const auto sample = std::ranges::find_if(samples_, [&](const SampleRecord& s) {
    return s.component == record.index && s.unix_s == second;
  });
  SampleRecord& target =
      sample != samples_.end()
          ? *sample
          : samples_.emplace_back(SampleRecord{record.index, second, 1, 0, std::nullopt});
  target.energy_j += energy.v;
  if (is_gpu && limit_) target.limit_w = limit_->v;

  if (!record.counted) return;
  totals_.energy += energy;
  totals_.energy_known = true;
  if (is_gpu) {
    gpu_energy_ += energy;
    gpu_known_ = true;
  }
  // Nothing was used before the run began: the two clocks are read one after the other, and what
  // lies between shifts a first interval by a moment, to where no intensity was asked for.
  const auto intensity =
      feed_.Over(std::max(grid_.ToGrid(from), grid_.grid_start), grid_.ToGrid(to));
  const Joules known = intensity.mean ? energy * intensity.coverage : Joules(0);
  const Joules unknown = energy - known;
  totals_.energy_without_intensity += unknown;
  if (intensity.estimated) totals_.energy_with_estimated_intensity += known;
  if (epoch_) {
    epoch_->energy += energy;
    epoch_->energy_without_intensity += unknown;
  }
  if (!intensity.mean) return;
  const Grams carbon = known * *intensity.mean * options_.pue;
  totals_.carbon = totals_.carbon.value_or(Grams(0)) + carbon;
  if (epoch_) epoch_->carbon = epoch_->carbon.value_or(Grams(0)) + carbon;
}

void Ledger::SetReadings(const std::vector<MeterReading>& readings) {
  for (std::size_t i = 0; i < components_.size() && i < readings.size(); ++i) {
    const MeterReading& reading = readings[i];
    ComponentRecord& component = components_[i];
    component.gaps = reading.gaps + share_gaps_[i];
    component.disagreement_pct = reading.disagreement_pct;
    // The model of a modelled device is its method; only a measurement is named by the accumulator.
    if (provenance_[i] == Provenance::kMeasured && reading.has_energy) {
      component.method = fmt::format("{} {}", component.backend, reading.method);
    }
    component.status = reading.has_energy ? provenance_[i] : Provenance::kMissing;
    if (!reading.has_energy && reading.trouble) component.note = reading.trouble->message;
  }
}

int Ledger::BeginEpoch(int index, Moment now) {
  if (epoch_) EndEpoch(now);
  if (highest_epoch_ && index + epoch_shift_ <= *highest_epoch_) {
    epoch_shift_ = *highest_epoch_ + 1 - index;
  }
  highest_epoch_ = index + epoch_shift_;
  epoch_started_ = now.mono;
  epoch_ = EpochRecord{};
  epoch_->index = static_cast<int>(std::min<std::int64_t>(*highest_epoch_, INT_MAX));
  epoch_->started_at = now.utc;
  return epoch_->index;
}

void Ledger::EndEpoch(Moment now) {
  if (!epoch_) return;
  epoch_->ended_at = now.utc;
  epoch_->duration = ToSeconds(now.mono - epoch_started_);
  epoch_->power_limit = limit_;
  last_epoch_ = epoch_;
  ended_.push_back(*std::exchange(epoch_, std::nullopt));
}

void Ledger::AddSteps(std::int64_t count) {
  if (epoch_) epoch_->steps += count;
}

void Ledger::AddMetrics(const std::map<std::string, double>& metrics) {
  // Metrics that come just after an epoch's end (a validation pass) still belong to it.
  EpochRecord* target = epoch_ ? &*epoch_ : nullptr;
  if (target == nullptr && !ended_.empty()) target = &ended_.back();
  if (target == nullptr && last_epoch_) {
    ended_.push_back(*last_epoch_);
    target = &ended_.back();
  }
  if (target == nullptr) return;
  for (const auto& [name, value] : metrics) target->metrics[name] = value;
  if (!epoch_) last_epoch_ = *target;
}

void Ledger::TakeUpdate(Moment now, Rows rows, RunUpdate& update) {
  update.components = components_;
  update.samples = std::exchange(samples_, {});
  if (rows == Rows::kWholeSeconds) {
    // The last readings of a second may come in a little after it.
    const std::int64_t running =
        std::chrono::floor<std::chrono::seconds>(now.utc - ToMilliseconds(kLateReading))
            .time_since_epoch()
            .count();
    const auto runs_still = [&](const SampleRecord& s) { return s.unix_s >= running; };
    std::ranges::copy_if(update.samples, std::back_inserter(samples_), runs_still);
    std::erase_if(update.samples, runs_still);
  }
  update.epochs = std::exchange(ended_, {});
  if (epoch_) {
    epoch_->duration = ToSeconds(now.mono - epoch_started_);
    epoch_->power_limit = limit_;
    update.epochs.push_back(*epoch_);
  }
  update.intensity = feed_.TakeUsed();
  update.totals = totals_;
}

}  // namespace lowtide
