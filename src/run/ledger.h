// The books of a run: attributes energy to epochs, seconds and intensities as it comes in. Each
// interval is multiplied with the intensity valid then; totals are sums, never total x mean.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/units.h"
#include "device/meter.h"
#include "grid/grid_clock.h"
#include "run/intensity_feed.h"
#include "store/records.h"

namespace lowtide {

// Which energy of a whole-host counter (RAPL) counts in the total.
enum class HostEnergy : std::uint8_t { kJobShare, kWholeHost };

struct LedgerOptions {
  HostEnergy host_energy = HostEnergy::kJobShare;
  double pue = 1.0;
};

// Not thread-safe.
class Ledger {
 public:
  // `feed` must outlive the ledger. Component i is devices[i] of the meter.
  Ledger(std::vector<ComponentRecord> components, std::vector<bool> whole_host, GridClock grid,
         IntensityFeed& feed, LedgerOptions options);

  // A moment on both clocks, to place monotonic intervals in UTC.
  struct Moment {
    MonoTime mono;
    TimePoint utc;
  };

  void AddInterval(const DeviceInterval& interval, Moment now);
  // The job's share of the host's busy CPU time since the last call, in [0, 1]: the host energy
  // since then is shared out by it.
  void ApplyHostShare(double share, Moment now);
  // Host energy that no share has come for is a gap. At the end of the run.
  void CloseHostShare();
  void SetReadings(const std::vector<MeterReading>& readings);
  void SetPowerLimit(std::optional<Watts> limit) { limit_ = limit; }

  // Returns the number under which the epoch is kept. A command that trains several times begins
  // anew at 0: what has been keeps its numbers, and the new epochs count on from the last one.
  int BeginEpoch(int index, Moment now);
  void EndEpoch(Moment now);
  void AddSteps(std::int64_t count);
  void AddMetrics(const std::map<std::string, double>& metrics);
  const EpochRecord* CurrentEpoch() const { return epoch_ ? &*epoch_ : nullptr; }
  // The epoch that ended last, with its energy.
  const EpochRecord* LastEpoch() const { return last_epoch_ ? &*last_epoch_ : nullptr; }

  const TotalsRecord& Totals() const { return totals_; }
  // Energy of counted GPUs so far.
  Joules GpuEnergy() const { return gpu_energy_; }
  // Whether any GPU has given energy.
  bool GpuEnergyKnown() const { return gpu_known_; }

  // Moves everything new into `update`; the running epoch is included as far as it is. A second is
  // a row of its own for each device, so that what is written again and again holds the running
  // second back until it is over; totals and epochs are always complete.
  enum class Rows : std::uint8_t { kWholeSeconds, kAll };
  void TakeUpdate(Moment now, Rows rows, RunUpdate& update);

 private:
  void Book(std::size_t component, Joules energy, TimePoint from, TimePoint to);

  std::vector<ComponentRecord> components_;
  std::vector<bool> whole_host_;
  std::vector<Provenance> provenance_;  // what each component is when it gives energy
  std::vector<Joules> pending_host_;
  std::vector<Seconds> pending_host_time_;
  std::vector<Seconds> share_gaps_;
  GridClock grid_;
  IntensityFeed& feed_;
  LedgerOptions options_;
  std::optional<Watts> limit_;

  MonoTime epoch_started_;
  std::int64_t epoch_shift_ = 0;  // what is added to the numbers that the job gives
  std::optional<std::int64_t> highest_epoch_;
  std::optional<EpochRecord> epoch_;
  std::optional<EpochRecord> last_epoch_;
  std::vector<EpochRecord> ended_;
  std::vector<SampleRecord> samples_;
  TotalsRecord totals_;
  Joules gpu_energy_;
  bool gpu_known_ = false;
};

}  // namespace lowtide
