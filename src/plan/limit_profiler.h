// Just-in-time profiling of power limits during training, after Zeus's GlobalPowerLimitOptimizer
// (You et al., NSDI 2023): from the highest limit down, some steps to warm up, then a window of
// steps whose energy and time are measured.
//
// Other than Zeus's, an unfinished window survives the end of an epoch: steps, energy and working
// time go on accumulating in the next one, so epochs of any length give a curve. The limit stays in
// place meanwhile.
//
// And what a busy machine does to a window is not taken for the limit's doing. A limit whose
// throughput would end the profile is measured once more before it does: one disturbed window would
// hide every limit below it. A limit that turns out slower than a lower one is measured once more
// at the end; where it is the highest, the job was slow at its start (caches, compilation, a data
// loader). Of two windows at one limit the faster counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "plan/cost.h"
#include "plan/power_curve.h"
#include "plan/power_window.h"

namespace lowtide {

enum class ProfileMode : std::uint8_t {
  kAuto,   // when the job's curve is not known yet
  kForce,  // even where it is known
  kOff,    // never
};
// "auto", "force", "off".
Result<ProfileMode> ParseProfileMode(std::string_view text);

struct ProfilerOptions {
  // Zeus's defaults, in steps. Waiting is for the data loader, at the start of the first epoch and
  // of every further one that is long enough (the one before had at least 4 x wait_steps).
  int wait_steps = 1;      // at least 0
  int warmup_steps = 10;   // after a change of limit; at least 0
  int profile_steps = 40;  // in a window; at least 1
  Watts limit_step{25};    // at least 1 W
  // A window lasts at least this long, with more steps if need be; 0 is off. A GPU's energy counter
  // advances every 20 to 100 ms, so that 4 s bound its error by about 2.5 %.
  Seconds min_window{0};
  // Profiling ends after the first limit whose throughput is twice below this share of the highest
  // limit's; 0 is off. In all 121 jobs of Zeus's published A40 and V100 power traces the limit of
  // least energy, and every limit above it, keeps at least 0.66 of the throughput.
  double min_throughput_share = 0.6;
};

// What the caller is to do now.
struct ProfilerAction {
  enum class Kind : std::uint8_t {
    kNothing,
    kSetLimit,  // set all GPUs to `limit`
    kDone,      // no more windows: decide from Curve(). Given once.
  };
  Kind kind = Kind::kNothing;
  Watts limit;
};

// Not thread-safe. Times are the job's own (monotonic); `energy` is the running total of all GPUs
// of the job, nothing when it cannot be told at that moment.
class LimitProfiler {
 public:
  // Limits are `max`, `max - step`, ... and `min`, of one GPU. For the selector max-slowdown,
  // profiling also ends below 1/factor of the highest limit's throughput.
  static Result<LimitProfiler> Make(const ProfilerOptions& options, Watts min, Watts max, int gpus,
                                    const Selector& selector = {});

  // A step belongs to an epoch and ends at OnStep; the first begins at OnEpochBegin. What passes
  // between the last step and the next OnEpochBegin (evaluation, checkpoints) is not counted. A job
  // that marks no epochs needs OnStep alone. `count` steps may be reported at once.
  ProfilerAction OnEpochBegin(MonoTime now, std::optional<Joules> energy);
  ProfilerAction OnStep(MonoTime now, std::optional<Joules> energy, int count = 1);
  ProfilerAction OnEpochEnd();
  // Ends profiling early: the training ended, a limit was refused, a GPU was lost.
  ProfilerAction Stop(std::string_view why);

  bool Done() const { return state_ == State::kDone; }
  // What was measured of the limits finished so far, highest first, as it was measured.
  std::vector<PowerPoint> Points() const;
  const std::vector<Watts>& Limits() const { return limits_; }
  // How it goes, or why it ended: "measuring 225 W: 12 of 40 steps", "measured 9 limits".
  std::string Progress() const;
  // What went wrong on the way, in order.
  const std::vector<std::string>& Notes() const { return notes_; }
  // The limits finished so far as a curve, made monotone (MonotonePoints); kUnavailable when even
  // the highest limit was not measured (no cost can be computed without it).
  Result<PowerCurve> Curve(std::string device, std::string job) const;
  // Whether a curve of the job tells all that this profile could: it has every limit; or it goes
  // down to the lowest limit or to a throughput that is of no use, and has at least two limits that
  // are. Where already the second limit is of no use, something else may well have slowed the job
  // down: no curve to go by for ever.
  bool Suffices(const PowerCurve& curve) const;

 private:
  enum class State : std::uint8_t { kWaiting, kWarmup, kMeasuring, kDone };
  struct Boundary {
    MonoTime at;
    Joules energy;
  };
  struct Measured {
    PowerWindow window;    // the faster one
    bool settled = false;  // not to be measured again
  };

  LimitProfiler(const ProfilerOptions& options, std::vector<Watts> limits, int gpus,
                double least_share);
  void MoveBoundary(MonoTime now, std::optional<Joules> energy);

  ProfilerAction SetLimit();
  ProfilerAction Measure(MonoTime now, std::optional<Joules> energy);
  ProfilerAction Close();
  ProfilerAction Retry(std::string_view why);
  ProfilerAction CloseAgain();
  ProfilerAction GoOnOrEnd();
  ProfilerAction NextLimit();
  // Ends once no limit that was slower than a lower one is left to be measured again.
  ProfilerAction End();
  ProfilerAction Finish();
  double ShareOf(const Measured& measured) const;
  Watts CurrentLimit() const { return again_ ? measured_[*again_].window.limit : limits_[index_]; }

  ProfilerOptions options_;
  std::vector<Watts> limits_;
  int gpus_ = 1;
  double least_share_ = 0;

  State state_ = State::kWaiting;
  std::size_t index_ = 0;             // into limits_
  int attempts_ = 0;                  // at the current limit
  std::optional<std::size_t> again_;  // the one of measured_ that is being measured once more
  bool ending_ = false;               // no new limits
  std::int64_t warmup_left_ = 0;
  std::int64_t skip_left_ = 0;  // unmeasured steps at the start of this epoch
  std::int64_t epoch_steps_ = 0;
  std::optional<std::int64_t> last_epoch_steps_;
  // The latest moment between two steps of this epoch whose energy is known, and the steps since.
  std::optional<Boundary> last_;
  std::int64_t steps_since_last_ = 0;
  PowerWindow window_;
  std::vector<Measured> measured_;
  std::vector<std::string> notes_;
  std::string ended_;
};

}  // namespace lowtide
