// Sets up what steers the GPUs of a run (its limits, its power curve, its policy), and puts all
// back.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/patient_device.h"
#include "run/controller.h"
#include "run/limit_guard.h"
#include "run/run_parts.h"

namespace lowtide {

// Not thread-safe.
class Steering {
 public:
  using Moment = Controller::Moment;
  // An event of the run: its kind and its message.
  using Tell = std::function<void(std::string kind, std::string message)>;

  // `config` and `parts` must outlive this. `probe`: see Controller.
  Steering(const RunConfig& config, const RunParts& parts, Tell tell,
           Controller::EnergyProbe probe);

  // Before the command starts. Whatever cannot be steered is told, and left alone.
  void Start(const std::string& run_id, const GridClock& grid, Moment now);

  void SetBatchSize(std::int64_t batch_size) { curve_key_.batch_size = batch_size; }
  void OnEpochBegin(Moment now);
  void OnEpochEnd(Moment now, Seconds duration);
  void OnStep(Moment now, int count);
  // Call about every second.
  void Step(Moment now);
  // The command has ended: every limit goes back to what it was.
  void Finish();

  // The limit in force; nothing when no limit is known.
  std::optional<Watts> Limit() const;
  std::vector<DecisionRecord> TakeDecisions();
  // The curve that the run goes by, when it is another one than at the last call.
  std::vector<CurvePointRecord> TakeCurve() { return std::exchange(curve_records_, {}); }
  // A curve measured in this run that is worth keeping under CurveKeyNow(), once; empty: none.
  std::vector<CurvePointRecord> TakeMeasuredCurve();
  const CurveKey& CurveKeyNow() const { return curve_key_; }
  // A driver call hangs: the process must leave by _exit.
  bool Hangs() const;

 private:
  // The GPUs that may be steered; tells why not.
  std::vector<PowerDevice*> Acquire(const std::string& run_id);
  std::optional<PowerCurve> StoredCurve();
  Policy ResolvedPolicy(TimePoint grid_start);
  // What the controller has to say, and the stored curve where it goes by that.
  void Collect();

  const RunConfig& config_;
  const RunParts& parts_;
  Tell tell_;
  Controller::EnergyProbe probe_;
  std::vector<std::unique_ptr<PatientDevice>> controls_;
  std::unique_ptr<LimitGuard> guard_;
  std::optional<Controller> controller_;
  CurveKey curve_key_;
  bool found_curve_ = false;  // in the store, just now
  std::vector<CurvePointRecord> curve_records_;
};

}  // namespace lowtide
