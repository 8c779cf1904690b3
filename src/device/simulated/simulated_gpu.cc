#include "device/simulated/simulated_gpu.h"

#include <fmt/format.h>

#include <algorithm>

namespace lowtide {

SimulatedGpu::SimulatedGpu(Clock& clock, SimulatedGpuOptions options)
    : clock_(clock),
      options_(std::move(options)),
      limit_(options_.curve.Highest().limit),
      updated_(clock.Monotonic()) {
  info_.kind = DeviceKind::kGpu;
  info_.name = "simulated " + options_.model;
  info_.uuid = "SIM-" + options_.model;
  info_.backend = "simulated";
  info_.provenance = Provenance::kSimulated;
  info_.note = "power curve " + options_.curve.job;
}

Watts SimulatedGpu::DrawLocked() const {
  if (load_ == Load::kIdle) return options_.idle;
  return Interpolate(options_.curve, limit_).draw / static_cast<double>(options_.curve.gpus);
}

void SimulatedGpu::AdvanceLocked(MonoTime now) {
  if (now <= updated_) return;
  energy_ += DrawLocked() * ToSeconds(now - updated_);
  updated_ = now;
}

Result<Reading> SimulatedGpu::Read(MonoTime now) {
  const std::scoped_lock lock(mutex_);
  AdvanceLocked(now);
  Reading reading;
  reading.at = now;
  // The counter alone: power would only be the same model a second time.
  reading.energy = energy_;
  return reading;
}

Result<PowerLimits> SimulatedGpu::Limits() {
  const auto& points = options_.curve.points;
  return PowerLimits{points.back().limit, points.front().limit, points.front().limit};
}

Result<Watts> SimulatedGpu::Limit() {
  const std::scoped_lock lock(mutex_);
  return limit_;
}

Status SimulatedGpu::SetLimit(Watts limit) {
  const auto& points = options_.curve.points;
  if (limit < points.back().limit || limit > points.front().limit) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: power limit {:.0f} W; allowed are {:.0f} to {:.0f} W", info_.name,
                            limit.v, points.back().limit.v, points.front().limit.v));
  }
  const std::scoped_lock lock(mutex_);
  AdvanceLocked(clock_.Monotonic());
  limit_ = limit;
  return {};
}

void SimulatedGpu::SetLoad(Load load) {
  const std::scoped_lock lock(mutex_);
  AdvanceLocked(clock_.Monotonic());
  load_ = load;
}

double SimulatedGpu::Slowdown() const {
  const std::scoped_lock lock(mutex_);
  const double now = Interpolate(options_.curve, limit_).throughput_per_s;
  // Measured curves are not quite monotone; a lower limit never speeds the real step up here.
  return std::max(1.0, options_.curve.Highest().throughput_per_s / now);
}

}  // namespace lowtide
