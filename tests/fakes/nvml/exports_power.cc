// NVML's functions on power, energy and processes.
#include "library.h"

using lowtide::fake_nvml::DeviceCall;
using lowtide::fake_nvml::GpuSpec;
using lowtide::nvml::Device;
using lowtide::nvml::FieldValue;
using lowtide::nvml::Return;
using lowtide::nvml::ValueType;

namespace {

// The checks that most getters share: handle, pointer, and whether this GPU offers the thing.
template <class T, class Get>
Return Answer(Device device, const char* function, bool GpuSpec::* offered, T* out, Get get) {
  const DeviceCall call(device, function);
  if (call.state != Return::kSuccess) return call.state;
  if (out == nullptr) return Return::kInvalidArgument;
  if (!(call.spec->*offered)) return Return::kNotSupported;
  *out = get(call);
  return Return::kSuccess;
}

}  // namespace

FAKE_NVML_EXPORT Return nvmlDeviceGetPowerUsage(Device device, unsigned int* out) {
  return Answer(device, "nvmlDeviceGetPowerUsage", &GpuSpec::power_reading, out,
                [](const DeviceCall& c) { return c.world->UsageMw(c.handle->gpu); });
}

FAKE_NVML_EXPORT Return nvmlDeviceGetPowerManagementLimit(Device device, unsigned int* out) {
  return Answer(device, "nvmlDeviceGetPowerManagementLimit", &GpuSpec::power_limits, out,
                [](const DeviceCall& c) { return c.world->LimitMw(c.handle->gpu); });
}

FAKE_NVML_EXPORT Return nvmlDeviceGetPowerManagementDefaultLimit(Device device, unsigned int* out) {
  return Answer(device, "nvmlDeviceGetPowerManagementDefaultLimit", &GpuSpec::power_limits, out,
                [](const DeviceCall& c) { return c.spec->default_limit_mw; });
}

FAKE_NVML_EXPORT Return nvmlDeviceGetPowerManagementLimitConstraints(Device device,
                                                                     unsigned int* min,
                                                                     unsigned int* max) {
  const DeviceCall call(device, "nvmlDeviceGetPowerManagementLimitConstraints");
  if (call.state != Return::kSuccess) return call.state;
  if (min == nullptr || max == nullptr) return Return::kInvalidArgument;
  if (!call.spec->power_limits) return Return::kNotSupported;
  *min = call.spec->min_limit_mw;
  *max = call.spec->max_limit_mw;
  return Return::kSuccess;
}

FAKE_NVML_EXPORT Return nvmlDeviceSetPowerManagementLimit(Device device, unsigned int mw) {
  const DeviceCall call(device, "nvmlDeviceSetPowerManagementLimit");
  if (call.state != Return::kSuccess) return call.state;
  if (!call.spec->power_limits) return Return::kNotSupported;
  if (!call.spec->may_set_limits) return Return::kNoPermission;
  if (mw < call.spec->min_limit_mw || mw > call.spec->max_limit_mw) {
    return Return::kInvalidArgument;
  }
  if (!call.spec->ignores_limits) call.world->SetLimitMw(call.handle->gpu, mw);
  return Return::kSuccess;
}

// Answers the query of the number only: with room for entries it would have to invent processes.
FAKE_NVML_EXPORT Return nvmlDeviceGetComputeRunningProcesses(Device device, unsigned int* count,
                                                             void* infos) {
  const DeviceCall call(device, "nvmlDeviceGetComputeRunningProcesses");
  if (call.state != Return::kSuccess) return call.state;
  if (count == nullptr || (*count != 0 && infos == nullptr)) return Return::kInvalidArgument;
  const unsigned int there = call.spec->compute_processes;
  if (*count != 0 && there != 0) return Return::kNotSupported;
  *count = there;
  return there == 0 ? Return::kSuccess : Return::kInsufficientSize;
}

#ifndef FAKE_NVML_OLD

FAKE_NVML_EXPORT Return nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned int* out) {
  return Answer(device, "nvmlDeviceGetEnforcedPowerLimit", &GpuSpec::power_limits, out,
                [](const DeviceCall& c) { return c.world->LimitMw(c.handle->gpu); });
}

FAKE_NVML_EXPORT Return nvmlDeviceGetTotalEnergyConsumption(Device device,
                                                            unsigned long long* out) {
  return Answer(device, "nvmlDeviceGetTotalEnergyConsumption", &GpuSpec::energy_counter, out,
                [](const DeviceCall& c) { return c.world->CounterMj(c.handle->gpu); });
}

FAKE_NVML_EXPORT Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned int* count,
                                                                void* infos) {
  return nvmlDeviceGetComputeRunningProcesses(device, count, infos);
}

// Knows one field, instant power; each other one fails alone, as NVML's do.
FAKE_NVML_EXPORT Return nvmlDeviceGetFieldValues(Device device, int count, FieldValue* values) {
  const DeviceCall call(device, "nvmlDeviceGetFieldValues");
  if (call.state != Return::kSuccess) return call.state;
  if (values == nullptr || count <= 0) return Return::kInvalidArgument;
  for (int i = 0; i < count; ++i) {
    FieldValue& field = values[i];
    if (field.field_id != lowtide::nvml::kFieldPowerInstant) {
      field.result = Return::kInvalidArgument;
    } else if (!call.spec->instant_power || field.scope_id != lowtide::nvml::kPowerScopeGpu) {
      field.result = Return::kNotSupported;
    } else {
      field.result = Return::kSuccess;
      field.value_type = ValueType::kUnsignedInt;
      field.value.ull = 0;
      field.value.ui = call.world->InstantMw(call.handle->gpu);
      field.timestamp_us = call.world->NowNs() / 1000;
      field.latency_us = 0;
    }
  }
  return Return::kSuccess;
}

#endif  // FAKE_NVML_OLD
