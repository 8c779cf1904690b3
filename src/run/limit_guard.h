// The power limits of a run's GPUs: taken once, always given back.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "device/power_device.h"
#include "run/limit_journal.h"

namespace lowtide {

// What a controller may do to power limits. One limit for all GPUs of a run.
class LimitControl {
 public:
  virtual ~LimitControl() = default;
  // What every device allows: the highest of the minima, the lowest of the maxima.
  virtual PowerLimits Range() const = 0;
  // The limit in force: what was set last, else what was found (the lowest of the devices').
  virtual Watts Current() const = 0;
  // All or none: when one device refuses, the others go back to what they had.
  virtual Status Set(Watts limit) = 0;
};

struct LimitGuardOptions {
  std::filesystem::path folder;  // of journals
  std::string run_id;
  // Starts the process that restores from the journal when this one dies; returns the descriptor
  // whose closing tells it. Not called for devices that die with this process (simulated ones).
  std::function<Result<UniqueFd>(const std::filesystem::path& journal)> start_watchdog;
};

// Not thread-safe. Destruction restores.
class LimitGuard final : public LimitControl {
 public:
  // Reads the limits and changes nothing. kUnimplemented (a device has no limit to set),
  // kPermissionDenied (another run steers one of them; the message names it), kUnavailable.
  static Result<std::unique_ptr<LimitGuard>> Acquire(const std::vector<PowerDevice*>& devices,
                                                     LimitGuardOptions options);
  ~LimitGuard() override;

  PowerLimits Range() const override { return range_; }
  Watts Current() const override { return current_; }
  Status Set(Watts limit) override;

  // Starts the watchdog anew when it has died before its time (the kernel's memory killer takes it
  // as easily as any other); the message tells of it. Nothing when all is well. Takes microseconds.
  std::optional<std::string> KeepWatched();

  // Puts every limit back to what was found. Idempotent.
  std::vector<RestoreOutcome> Restore();

 private:
  struct Held {
    PowerDevice* device;
    Watts original;
    Watts now;
    // What a device that refused, perhaps halfway, may have been left with instead of `now`.
    std::optional<Watts> unsure;
  };

  LimitGuard(std::vector<Held> held, PowerLimits range, LimitGuardOptions options);
  Status Prepare();
  Status WriteApplied(Watts next) const;
  static std::optional<RestoreOutcome> RestoreOne(Held& held);

  std::vector<Held> held_;
  PowerLimits range_;
  Watts current_;
  LimitGuardOptions options_;
  bool journaled_ = false;
  bool persistent_ = false;  // some device keeps its limit when this process dies
  UniqueFd watchdog_;
};

}  // namespace lowtide
