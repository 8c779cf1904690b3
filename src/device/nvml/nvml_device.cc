#include "device/nvml/nvml_device.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

namespace lowtide {
namespace {

using nvml::Return;

// No GPU draws more; taken where its own highest limit is not known.
constexpr double kAnyGpuMaxMw = 5.0e6;
// A GPU may exceed its limit for moments; a step beyond this multiple is not energy.
constexpr double kPlausibleOverLimit = 2.0;
// The counter moves in steps (20 to 100 ms): two readings close together may see a whole one.
constexpr double kCounterSlackSeconds = 1.0;
// Drivers may round a limit to whole watts.
constexpr unsigned int kLimitToleranceMw = 1000;

bool IsNotOffered(Return r) {
  return r == Return::kNotSupported || r == Return::kFunctionNotFound || r == Return::kDeprecated ||
         r == Return::kArgumentVersionMismatch;
}

// NVML itself must be started again before any GPU can be read.
bool IsDriverGone(Return r) {
  return r == Return::kUninitialized || r == Return::kDriverNotLoaded ||
         r == Return::kLibRmVersionMismatch;
}

// The whole GPU is gone, so that there is no point in asking for the next value.
bool IsGone(Return r) {
  return r == Return::kGpuIsLost || r == Return::kResetRequired || IsDriverGone(r);
}

// The value in mW; nothing for a blank, a zero (what GPUs without a sensor answer) or a type that
// power does not come in.
std::optional<double> FieldMilliwatts(const nvml::FieldValue& field) {
  double mw = 0;
  switch (field.value_type) {
    case nvml::ValueType::kUnsignedInt:
      if (field.value.ui >= nvml::kBlank32) return std::nullopt;
      mw = field.value.ui;
      break;
    case nvml::ValueType::kSignedInt:
      if (field.value.si >= static_cast<int>(nvml::kBlank32)) return std::nullopt;
      mw = field.value.si;
      break;
    case nvml::ValueType::kUnsignedLong:
    case nvml::ValueType::kUnsignedLongLong:
      if (field.value.ull >= nvml::kBlank64) return std::nullopt;
      mw = static_cast<double>(field.value.ull);
      break;
    case nvml::ValueType::kDouble: mw = field.value.d; break;
    default: return std::nullopt;
  }
  // A blank of 32 bits may come in a wider type.
  if (!(mw > 0) || mw >= static_cast<double>(nvml::kBlank32)) return std::nullopt;
  return mw;
}

}  // namespace

NvmlDevice::NvmlDevice(std::shared_ptr<NvmlSession> session, DeviceInfo info, std::string label)
    : session_(std::move(session)),
      info_(std::move(info)),
      label_(std::move(label)),
      handle_(info_.uuid) {}

Error NvmlDevice::MakeError(Return r, std::string_view doing) const {
  return session_->Library().MakeError(r, fmt::format("{}: {}", label_, doing));
}

NvmlDevice::Observation NvmlDevice::Observe(Want want) {
  if (const auto generation = session_->Generation(); generation != generation_) {
    generation_ = generation;
    energy_ = instant_ = usage_ = Support::kUnknown;
  }
  Observation out;
  out.energy_mj = ReadEnergyMj();
  if (IsGone(out.energy_mj.state)) {
    out.power_mw.state = out.energy_mj.state;
  } else if (want == Want::kAll || !out.energy_mj.value) {
    out.power_mw = ReadPowerMw();
  }
  return out;
}

Return NvmlDevice::Probe() {
  if (auto range = Range()) max_limit_mw_.store(range->max_mw, std::memory_order_relaxed);
  std::scoped_lock lock(read_mutex_);
  const auto seen = Observe(Want::kAll);
  if (seen.energy_mj.value || seen.power_mw.value) return Return::kSuccess;
  const Return fault = seen.Fault();
  return fault == Return::kSuccess ? Return::kNoData : fault;
}

Return NvmlDevice::Observation::Fault() const {
  for (const Return r : {energy_mj.state, power_mw.state}) {
    if (r != Return::kSuccess && !IsNotOffered(r)) return r;
  }
  const bool answers = energy_mj.state == Return::kSuccess || power_mw.state == Return::kSuccess;
  return answers ? Return::kSuccess : energy_mj.state;
}

Result<Reading> NvmlDevice::ReadWhat(Want want, MonoTime now) {
  std::scoped_lock lock(read_mutex_);
  auto seen = Observe(want);
  Return fault = seen.Fault();
  if (IsDriverGone(fault) && session_->RecoveryDue(now)) {
    fault = session_->Reinitialise(generation_);
    if (fault == Return::kSuccess) {
      seen = Observe(want);
      fault = seen.Fault();
    }
  }
  const auto& energy = seen.energy_mj.value;
  const auto& power = seen.power_mw.value;
  if (IsGone(seen.power_mw.state) || (!energy && !power)) return MakeFault(fault, now);

  if (fault_since_) {
    fault_since_.reset();
    session_->NoteHealthy();
  }
  Reading reading;
  reading.at = now;
  if (power) reading.power = Watts(*power / 1000.0);
  if (energy) {
    reading.energy = Joules(static_cast<double>(*energy) / 1000.0);
    reading.discontinuity =
        last_energy_mj_ && (*energy < *last_energy_mj_ || IsImplausible(*energy, now));
    last_energy_mj_ = energy;
    last_energy_at_ = now;
  }
  return reading;
}

NvmlDevice::Value<unsigned long long> NvmlDevice::ReadEnergyMj() {
  Value<unsigned long long> out;
  if (energy_ == Support::kNo) return out;
  unsigned long long mj = 0;
  out.state = session_->TryCall(
      handle_, [&](const NvmlLibrary& lib, nvml::Device d) { return lib.TotalEnergyMj(d, mj); });
  if (out.state == Return::kSuccess) {
    energy_ = Support::kYes;
    if (mj < nvml::kBlank64) out.value = mj;
  } else if (IsNotOffered(out.state) && energy_ == Support::kUnknown) {
    energy_ = Support::kNo;
  }
  return out;
}

NvmlDevice::Value<double> NvmlDevice::ReadInstantMw() {
  Value<double> out;
  if (instant_ == Support::kNo) return out;
  nvml::FieldValue field{};
  field.field_id = nvml::kFieldPowerInstant;
  field.scope_id = nvml::kPowerScopeGpu;
  field.result = Return::kNotSupported;
  out.state = session_->TryCall(handle_, [&](const NvmlLibrary& lib, nvml::Device d) {
    return lib.FieldValues(d, 1, &field);
  });
  if (out.state == Return::kSuccess) out.state = field.result;
  if (out.state == Return::kSuccess) {
    instant_ = Support::kYes;
    out.value = FieldMilliwatts(field);
  } else if (instant_ == Support::kUnknown &&
             (IsNotOffered(out.state) || out.state == Return::kInvalidArgument ||
              out.state == Return::kNotFound)) {
    instant_ = Support::kNo;  // INVALID_ARGUMENT: a driver that does not know the field
    out.state = Return::kNotSupported;
  }
  return out;
}

NvmlDevice::Value<double> NvmlDevice::ReadPowerMw() {
  const auto instant = ReadInstantMw();
  if (instant.value || IsGone(instant.state) || usage_ == Support::kNo) return instant;
  Value<double> out;
  unsigned int mw = 0;
  out.state = session_->TryCall(
      handle_, [&](const NvmlLibrary& lib, nvml::Device d) { return lib.PowerUsageMw(d, mw); });
  if (out.state == Return::kSuccess) {
    usage_ = Support::kYes;
    if (mw > 0 && mw < nvml::kBlank32) out.value = mw;
  } else if (IsNotOffered(out.state)) {
    if (usage_ == Support::kUnknown) usage_ = Support::kNo;
    if (instant_ == Support::kYes) return instant;
  }
  return out;
}

bool NvmlDevice::IsImplausible(unsigned long long energy_mj, MonoTime now) const {
  const double seconds = ToSeconds(now - last_energy_at_).count() + kCounterSlackSeconds;
  const auto known_mw = max_limit_mw_.load(std::memory_order_relaxed);
  const double most_mw = known_mw == 0 ? kAnyGpuMaxMw : known_mw;
  const double step = static_cast<double>(energy_mj - *last_energy_mj_);
  return step > most_mw * kPlausibleOverLimit * seconds;
}

std::unexpected<Error> NvmlDevice::MakeFault(Return state, MonoTime now) {
  if (IsNotOffered(state)) {
    return std::unexpected(
        MakeError(state, "it offers neither an energy counter nor a power reading"));
  }
  if (!fault_since_) fault_since_ = now;
  const bool may_pass = state == Return::kSuccess || NvmlCode(state) == Code::kUnavailable;
  if (may_pass && ToSeconds(now - *fault_since_) >= kFaultPatience && session_->RecoveryDue(now)) {
    session_->Reinitialise(generation_);  // whether it helped is seen at the next reading
  }
  if (state == Return::kSuccess) {
    return Fail(Code::kDataLoss,
                fmt::format("{}: the driver answers with blank values for power and energy, as "
                            "after an Xid error; NVML is started again from time to time",
                            label_));
  }
  return std::unexpected(MakeError(state, "reading energy and power"));
}

Result<NvmlDevice::LimitRange> NvmlDevice::Range() {
  LimitRange range;
  const Return r = session_->Call(handle_, [&](const NvmlLibrary& lib, nvml::Device d) {
    return lib.PowerLimitRangeMw(d, range.min_mw, range.max_mw);
  });
  if (r != Return::kSuccess) return std::unexpected(MakeError(r, "reading its power limit range"));
  if (range.min_mw > range.max_mw || range.max_mw == 0 || range.max_mw >= nvml::kBlank32) {
    return Fail(Code::kDataLoss, fmt::format("{}: the driver gives no usable power limit range "
                                             "({} to {} mW)",
                                             label_, range.min_mw, range.max_mw));
  }
  return range;
}

Result<unsigned int> NvmlDevice::LimitMw(std::string_view doing) {
  unsigned int mw = 0;
  const Return r = session_->Call(
      handle_, [&](const NvmlLibrary& lib, nvml::Device d) { return lib.PowerLimitMw(d, mw); });
  if (r != Return::kSuccess) return std::unexpected(MakeError(r, doing));
  if (mw == 0 || mw >= nvml::kBlank32) {
    return Fail(Code::kDataLoss,
                fmt::format("{}: {}: the driver answers with a blank value", label_, doing));
  }
  return mw;
}

Result<PowerLimits> NvmlDevice::Limits() {
  LOWTIDE_TRY(const auto range, Range());
  unsigned int preset = 0;
  const Return r = session_->Call(handle_, [&](const NvmlLibrary& lib, nvml::Device d) {
    return lib.DefaultPowerLimitMw(d, preset);
  });
  if (r != Return::kSuccess) {
    return std::unexpected(MakeError(r, "reading its default power limit"));
  }
  if (preset == 0 || preset >= nvml::kBlank32) {
    return Fail(Code::kDataLoss, fmt::format("{}: reading its default power limit: the driver "
                                             "answers with a blank value",
                                             label_));
  }
  return PowerLimits{Watts(range.min_mw / 1000.0), Watts(range.max_mw / 1000.0),
                     Watts(preset / 1000.0)};
}

Result<Watts> NvmlDevice::Limit() {
  LOWTIDE_TRY(const auto mw, LimitMw("reading its power limit"));
  return Watts(mw / 1000.0);
}

Status NvmlDevice::SetLimit(Watts limit) {
  LOWTIDE_TRY(const auto range, Range());
  const double wanted = std::round(limit.v * 1000.0);
  if (!(wanted >= range.min_mw && wanted <= range.max_mw)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: a power limit of {:g} W is outside its range of {:g} to {:g} W",
                            label_, limit.v, range.min_mw / 1000.0, range.max_mw / 1000.0));
  }
  const auto wanted_mw = static_cast<unsigned int>(wanted);
  LOWTIDE_TRY(const auto before, LimitMw("reading its power limit before setting it"));
  if (before == wanted_mw) return {};
  const Return r = session_->Call(handle_, [&](const NvmlLibrary& lib, nvml::Device d) {
    return lib.SetPowerLimitMw(d, wanted_mw);
  });
  if (r == Return::kNoPermission) {
    return Fail(Code::kPermissionDenied,
                fmt::format("{}: setting its power limit needs root, CAP_SYS_ADMIN or a running "
                            "lowtide-powerd that this user may talk to",
                            label_));
  }
  if (r != Return::kSuccess) {
    return std::unexpected(
        MakeError(r, fmt::format("setting its power limit to {:g} W", wanted_mw / 1000.0)));
  }
  LOWTIDE_TRY(const auto after, LimitMw("reading back its power limit"));
  const auto off = after > wanted_mw ? after - wanted_mw : wanted_mw - after;
  if (off > kLimitToleranceMw) {
    return Fail(Code::kInternal,
                fmt::format("{}: its power limit was set to {:g} W, but the driver says it is {:g} "
                            "W; something else sets it too, or the driver ignored it",
                            label_, wanted_mw / 1000.0, after / 1000.0));
  }
  return {};
}

}  // namespace lowtide
