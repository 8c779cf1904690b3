// Samples every device of a run on one thread and hands the energy on, interval by interval.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "device/energy_accumulator.h"
#include "device/power_device.h"

namespace lowtide {

struct MeterOptions {
  Seconds period{0.1};  // 10 Hz: the least at which integrated power is worth having
  AccumulatorOptions accumulator;
};

// The state of one device in a run so far.
struct MeterReading {
  Joules energy;
  bool has_energy = false;
  Seconds gaps{0};
  int resets = 0;
  std::string_view method;  // EnergyAccumulator::Method
  std::optional<double> disagreement_pct;
  std::optional<Error> trouble;  // the error of the latest read, while it lasts
};

// An interval of one device (index into the devices given).
struct DeviceInterval {
  std::size_t device = 0;
  EnergyInterval interval;
};

// A device went away, came back, or its counter was found wanting.
struct DeviceNotice {
  std::size_t device = 0;
  std::string message;
};

// Thread-safe. A driver call that hangs never hangs the caller: see Sample and Stop.
class Meter {
 public:
  // Devices must outlive the meter.
  Meter(Clock& clock, std::vector<PowerDevice*> devices, MeterOptions options);
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  // Starts the sampling thread and takes the first reading of every device. False as for Sample.
  bool Start(Seconds patience = Seconds(5));

  // Has every device read now, so that an interval ends here. False when they did not answer within
  // `patience` (real time); their energy then lands in a later interval. Until they have, further
  // calls do not wait.
  bool Sample(Seconds patience = Seconds(0.5));

  // What has come in since the last call, oldest first.
  struct Drained {
    std::vector<DeviceInterval> intervals;
    std::vector<DeviceNotice> notices;
  };
  Drained Drain();

  // Takes a last reading and ends the thread. False when a driver call hangs: the thread is then
  // abandoned and the process must leave by _exit.
  bool Stop(Seconds patience = Seconds(2));

  std::vector<MeterReading> Readings() const;
  const std::vector<PowerDevice*>& Devices() const { return devices_; }

 private:
  struct Shared;  // outlives an abandoned thread

  static void ReadAll(Shared& shared, bool all);
  static void Loop(const std::shared_ptr<Shared>& shared, const std::stop_token& stop);

  std::vector<PowerDevice*> devices_;
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
  std::stop_source stop_;
};

}  // namespace lowtide
