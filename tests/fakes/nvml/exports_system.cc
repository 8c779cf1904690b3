// NVML's functions on the system, on handles and on names. With FAKE_NVML_OLD only what a library
// of about 2012 has: no _v2 names, no energy counter, no field values, no MIG.
#include <cstdint>
#include <cstring>

#include "device/nvml/nvml_library.h"
#include "library.h"

using lowtide::fake_nvml::CopyText;
using lowtide::fake_nvml::DeviceCall;
using lowtide::fake_nvml::FunctionByName;
using lowtide::fake_nvml::Library;
using lowtide::fake_nvml::World;
using lowtide::nvml::Device;
using lowtide::nvml::PciInfo;
using lowtide::nvml::Return;

namespace {

Return Count(unsigned int* out) {
  auto& library = Library::Get();
  if (library.Ready() != Return::kSuccess) return Return::kUninitialized;
  if (out == nullptr) return Return::kInvalidArgument;
  const World& world = *library.GetWorld();
  if (world.Spec().count_error != Return::kSuccess) return world.Spec().count_error;
  *out = static_cast<unsigned int>(world.Spec().gpus.size());
  return Return::kSuccess;
}

Return GiveHandle(unsigned int gpu, std::optional<std::size_t> mig, const char* function,
                  Device* out) {
  auto& library = Library::Get();
  const Return r =
      library.GetWorld()->Call(gpu, FunctionByName(function).value_or(0), library.InitNs());
  if (r == Return::kSuccess) *out = library.MakeHandle(gpu, mig);
  return r;
}

Return HandleByIndex(unsigned int index, Device* out) {
  auto& library = Library::Get();
  if (library.Ready() != Return::kSuccess) return Return::kUninitialized;
  if (out == nullptr || index >= library.GetWorld()->GpuCount()) return Return::kInvalidArgument;
  return GiveHandle(index, std::nullopt, "nvmlDeviceGetHandleByIndex", out);
}

}  // namespace

FAKE_NVML_EXPORT Return nvmlInit() { return Library::Get().Init(); }
FAKE_NVML_EXPORT Return nvmlShutdown() { return Library::Get().Shutdown(); }

FAKE_NVML_EXPORT const char* nvmlErrorString(Return r) {
  switch (r) {
    case Return::kSuccess: return "The operation was successful";
    case Return::kUninitialized: return "Uninitialized";
    case Return::kInvalidArgument: return "Invalid Argument";
    case Return::kNotSupported: return "Not Supported";
    case Return::kNoPermission: return "Insufficient Permissions";
    case Return::kNotFound: return "Not Found";
    case Return::kInsufficientSize: return "Insufficient Size";
    case Return::kDriverNotLoaded: return "Driver Not Loaded";
    case Return::kTimeout: return "Timeout";
    case Return::kGpuIsLost: return "GPU is lost";
    case Return::kResetRequired: return "GPU requires reset";
    case Return::kLibRmVersionMismatch: return "Driver/library version mismatch";
    case Return::kUnknown: return "Unknown Error";
    default: return "Another error";
  }
}

FAKE_NVML_EXPORT Return nvmlSystemGetDriverVersion(char* out, unsigned int length) {
  if (Library::Get().Ready() != Return::kSuccess) return Return::kUninitialized;
  return CopyText(Library::Get().GetWorld()->Spec().driver_version, out, length);
}

FAKE_NVML_EXPORT Return nvmlDeviceGetCount(unsigned int* out) { return Count(out); }

FAKE_NVML_EXPORT Return nvmlDeviceGetHandleByIndex(unsigned int index, Device* out) {
  return HandleByIndex(index, out);
}

FAKE_NVML_EXPORT Return nvmlDeviceGetName(Device device, char* out, unsigned int length) {
  const DeviceCall call(device, "nvmlDeviceGetName", DeviceCall::Mig::kAllowed);
  return call.state != Return::kSuccess ? call.state : CopyText(call.spec->name, out, length);
}

FAKE_NVML_EXPORT Return nvmlDeviceGetUUID(Device device, char* out, unsigned int length) {
  const DeviceCall call(device, "nvmlDeviceGetUUID", DeviceCall::Mig::kAllowed);
  if (call.state != Return::kSuccess) return call.state;
  const auto& mig = call.handle->mig;
  return CopyText(mig ? call.spec->mig[*mig].uuid : call.spec->uuid, out, length);
}

FAKE_NVML_EXPORT Return nvmlDeviceGetIndex(Device device, unsigned int* out) {
  const DeviceCall call(device, "nvmlDeviceGetIndex");
  if (call.state != Return::kSuccess) return call.state;
  if (out == nullptr) return Return::kInvalidArgument;
  *out = call.handle->gpu;
  return Return::kSuccess;
}

// The older structure: its first 16 bytes are the id with a domain of four digits.
FAKE_NVML_EXPORT Return nvmlDeviceGetPciInfo(Device device, PciInfo* out) {
  const DeviceCall call(device, "nvmlDeviceGetPciInfo");
  if (call.state != Return::kSuccess) return call.state;
  if (out == nullptr) return Return::kInvalidArgument;
  const auto& id = call.spec->pci_bus_id;
  const auto shorter = id.size() > 12 ? id.substr(id.size() - 12) : id;
  return CopyText(shorter, out->bus_id_legacy, sizeof(out->bus_id_legacy));
}

#ifndef FAKE_NVML_OLD

FAKE_NVML_EXPORT Return nvmlInit_v2() { return Library::Get().Init(); }
FAKE_NVML_EXPORT Return nvmlDeviceGetCount_v2(unsigned int* out) { return Count(out); }
FAKE_NVML_EXPORT Return nvmlDeviceGetHandleByIndex_v2(unsigned int index, Device* out) {
  return HandleByIndex(index, out);
}

FAKE_NVML_EXPORT Return nvmlDeviceGetHandleByUUID(const char* uuid, Device* out) {
  auto& library = Library::Get();
  if (library.Ready() != Return::kSuccess) return Return::kUninitialized;
  if (uuid == nullptr || out == nullptr) return Return::kInvalidArgument;
  const auto& gpus = library.GetWorld()->Spec().gpus;
  for (unsigned int g = 0; g < gpus.size(); ++g) {
    if (gpus[g].uuid == uuid) return GiveHandle(g, std::nullopt, "nvmlDeviceGetHandleByUUID", out);
    for (std::size_t m = 0; m < gpus[g].mig.size(); ++m) {
      if (gpus[g].mig_enabled && gpus[g].mig[m].uuid == uuid) {
        return GiveHandle(g, m, "nvmlDeviceGetHandleByUUID", out);
      }
    }
  }
  return Return::kNotFound;
}

FAKE_NVML_EXPORT Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* out) {
  if (const Return r = nvmlDeviceGetPciInfo(device, out); r != Return::kSuccess) return r;
  const auto& id = DeviceCall(device, "nvmlDeviceGetPciInfo").spec->pci_bus_id;
  return CopyText(id, out->bus_id, sizeof(out->bus_id));
}

FAKE_NVML_EXPORT Return nvmlDeviceGetMigMode(Device device, unsigned int* current,
                                             unsigned int* pending) {
  const DeviceCall call(device, "nvmlDeviceGetMigMode");
  if (call.state != Return::kSuccess) return call.state;
  if (current == nullptr || pending == nullptr) return Return::kInvalidArgument;
  if (!call.spec->mig_capable) return Return::kNotSupported;
  *current = *pending = call.spec->mig_enabled ? 1 : 0;
  return Return::kSuccess;
}

FAKE_NVML_EXPORT Return nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned int* out) {
  const DeviceCall call(device, "nvmlDeviceGetMaxMigDeviceCount");
  if (call.state != Return::kSuccess) return call.state;
  if (out == nullptr) return Return::kInvalidArgument;
  *out = call.spec->mig_capable ? 7 : 0;
  return Return::kSuccess;
}

// Instances take every second place, as real ones leave places free.
FAKE_NVML_EXPORT Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned int index,
                                                            Device* out) {
  const DeviceCall call(device, "nvmlDeviceGetMigDeviceHandleByIndex");
  if (call.state != Return::kSuccess) return call.state;
  if (out == nullptr || index >= 7) return Return::kInvalidArgument;
  if (!call.spec->mig_enabled) return Return::kNotSupported;
  const std::size_t place = call.spec->mig.size() <= 3 ? 2 : 1;
  if (index % place != 0 || index / place >= call.spec->mig.size()) return Return::kNotFound;
  *out = Library::Get().MakeHandle(call.handle->gpu, index / place);
  return Return::kSuccess;
}

namespace {

Return MigId(Device device, unsigned int* out,
             unsigned int lowtide::fake_nvml::MigInstance::* member) {
  const DeviceCall call(device, "nvmlDeviceGetUUID", DeviceCall::Mig::kAllowed);
  if (call.state != Return::kSuccess) return call.state;
  if (out == nullptr) return Return::kInvalidArgument;
  if (!call.handle->mig) return Return::kNotSupported;
  *out = call.spec->mig[*call.handle->mig].*member;
  return Return::kSuccess;
}

}  // namespace

FAKE_NVML_EXPORT Return nvmlDeviceGetGpuInstanceId(Device device, unsigned int* out) {
  return MigId(device, out, &lowtide::fake_nvml::MigInstance::gpu_instance);
}
FAKE_NVML_EXPORT Return nvmlDeviceGetComputeInstanceId(Device device, unsigned int* out) {
  return MigId(device, out, &lowtide::fake_nvml::MigInstance::compute_instance);
}

#endif  // FAKE_NVML_OLD
