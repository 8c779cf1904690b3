#include "run/steering.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "grid/max_intensity.h"
#include "run/watchdog.h"

namespace lowtide {
namespace {

// Setting a limit takes milliseconds. Less than the two seconds after which a job's client gives
// up.
constexpr Seconds kControlPatience{1.5};

std::vector<CurvePointRecord> ToRecords(const PowerCurve& curve) {
  std::vector<CurvePointRecord> out;
  out.reserve(curve.points.size());
  for (const PowerPoint& p : curve.points) {
    out.push_back({p.limit.v, p.throughput_per_s, p.draw.v});
  }
  return out;
}

}  // namespace

Steering::Steering(const RunConfig& config, const RunParts& parts, Tell tell,
                   Controller::EnergyProbe probe)
    : config_(config), parts_(parts), tell_(std::move(tell)), probe_(std::move(probe)) {
  curve_key_.job_name = config.name;
  curve_key_.batch_size = config.batch_size.value_or(0);
}

std::vector<PowerDevice*> Steering::Acquire(const std::string& run_id) {
  const bool steers = config_.policy.kind != PolicyKind::kNone;
  bool refused_shared = false;
  std::vector<PowerDevice*> steered;
  for (const auto& device : parts_.devices) {
    if (device->Info().kind != DeviceKind::kGpu) continue;
    if (device->Info().shared && config_.shared_gpus == RunConfig::Sharing::kRefuse) {
      refused_shared = true;
      continue;
    }
    controls_.push_back(std::make_unique<PatientDevice>(*device, kControlPatience));
    steered.push_back(controls_.back().get());
  }
  if (steered.empty() && !steers) return {};
  if (refused_shared && steers) {
    tell_("warning",
          "power limits are left alone: a GPU is shared with others (MIG or other processes); "
          "--force-shared sets them all the same");
    return {};
  }
  if (steered.empty()) {
    tell_("warning", fmt::format("policy {} has no GPU to steer: energy is measured, no limit is "
                                 "set",
                                 config_.policy_text));
    return {};
  }
  auto start_watchdog = [program = config_.program](const std::filesystem::path& journal) {
    return StartWatchdog(program, journal);
  };
  auto guard =
      LimitGuard::Acquire(steered, {config_.limits_folder, run_id, std::move(start_watchdog)});
  if (guard) {
    guard_ = *std::move(guard);
  } else if (steers) {
    tell_("warning", "power limits are left alone: " + guard.error().message);
  }
  return steered;
}

std::optional<PowerCurve> Steering::StoredCurve() {
  if (parts_.store == nullptr) return std::nullopt;
  const auto points = parts_.store->LoadCurve(curve_key_);
  if (!points || points->empty()) return std::nullopt;
  std::vector<PowerPoint> curve;
  for (const CurvePointRecord& p : *points) {
    curve.push_back({Watts(p.limit_w), p.throughput_per_s, Watts(p.draw_w)});
  }
  auto made = MakePowerCurve(curve_key_.gpu_model, config_.name, curve_key_.gpus, std::move(curve));
  if (!made) return std::nullopt;
  found_curve_ = true;
  tell_("info", fmt::format("power curve of an earlier run of '{}' on {} (batch size {})",
                            config_.name, curve_key_.gpu_model,
                            curve_key_.batch_size == 0 ? "not said"
                                                       : std::to_string(curve_key_.batch_size)));
  return *std::move(made);
}

// With MaxCarbonIntensity as the highest intensity of the days before the start, where that is
// asked for.
Policy Steering::ResolvedPolicy(TimePoint grid_start) {
  Policy policy = config_.policy;
  if (policy.kind != PolicyKind::kChase || !config_.max_intensity_window ||
      parts_.source == nullptr) {
    return policy;
  }
  const auto highest = MaximumOver(*parts_.source, grid_start, *config_.max_intensity_window);
  if (!highest || highest->value <= GramsPerKwh(0)) {
    tell_("warning",
          fmt::format("the highest carbon intensity of the last {} is not known; {:.0f} g/kWh is "
                      "used instead{}",
                      FormatDuration(*config_.max_intensity_window), policy.weights.max_intensity.v,
                      highest ? "" : ": " + highest.error().message));
    return policy;
  }
  policy.weights.max_intensity = highest->value;
  tell_("info",
        fmt::format("MaxCarbonIntensity is {:.1f} g/kWh, the highest of the last {} ({:.0f} "
                    "% of it known)",
                    highest->value.v, FormatDuration(*config_.max_intensity_window),
                    100 * highest->coverage));
  return policy;
}

void Steering::Start(const std::string& run_id, const GridClock& grid, Moment now) {
  const std::vector<PowerDevice*> steered = Acquire(run_id);
  if (controls_.empty() && config_.policy.kind == PolicyKind::kNone) return;

  ControllerOptions options;
  options.grid = grid;
  options.policy = ResolvedPolicy(grid.grid_start);
  options.period = config_.period;
  options.profiler = config_.profiler;
  options.job = config_.name;
  options.gpus = std::max<int>(1, static_cast<int>(steered.size()));
  curve_key_.gpus = options.gpus;
  if (!steered.empty()) {
    const DeviceInfo& info = steered.front()->Info();
    options.device_model = curve_key_.gpu_model = info.name;
    curve_key_.driver = info.driver;
    options.find_curve = [this] { return StoredCurve(); };
  }
  options.profile = config_.profile;
  options.curve = config_.curve;
  if (options.curve) curve_records_ = ToRecords(*options.curve);
  controller_.emplace(std::move(options), guard_.get(), parts_.source, parts_.forecaster, probe_);
  controller_->Start(now);
  Collect();
}

void Steering::Collect() {
  if (std::exchange(found_curve_, false) && controller_->Curve()) {
    curve_records_ = ToRecords(*controller_->Curve());
  }
  for (std::string& remark : controller_->TakeRemarks()) tell_("info", std::move(remark));
  for (std::string& notice : controller_->TakeNotices()) tell_("warning", std::move(notice));
}

void Steering::OnEpochBegin(Moment now) {
  if (!controller_) return;
  controller_->OnEpochBegin(now);
  Collect();
}

void Steering::OnEpochEnd(Moment now, Seconds duration) {
  if (!controller_) return;
  controller_->OnEpochEnd(now, duration);
  Collect();
}

void Steering::OnStep(Moment now, int count) {
  if (!controller_) return;
  controller_->OnStep(now, count);
  Collect();
}

void Steering::Step(Moment now) {
  if (guard_) {
    if (auto message = guard_->KeepWatched()) tell_("warning", *std::move(message));
  }
  if (!controller_) return;
  controller_->Step(now);
  Collect();
}

void Steering::Finish() {
  if (controller_) {
    controller_->Finish();
    Collect();
  }
  if (!guard_) return;
  for (const RestoreOutcome& restored : guard_->Restore()) {
    tell_(restored.status ? "info" : "warning", restored.message);
  }
}

std::optional<Watts> Steering::Limit() const {
  if (!guard_) return std::nullopt;
  return guard_->Current();
}

std::vector<DecisionRecord> Steering::TakeDecisions() {
  if (!controller_) return {};
  return controller_->TakeDecisions();
}

std::vector<CurvePointRecord> Steering::TakeMeasuredCurve() {
  if (!controller_) return {};
  const auto measured = controller_->TakeMeasuredCurve();
  if (!measured) return {};
  curve_records_ = ToRecords(measured->curve);
  return measured->complete ? curve_records_ : std::vector<CurvePointRecord>{};
}

bool Steering::Hangs() const {
  return std::ranges::any_of(controls_, [](const auto& c) { return c->Hangs(); });
}

}  // namespace lowtide
