#include <fmt/core.h>

#include "device/nvml/nvml_library.h"

namespace lowtide {

using nvml::Return;

std::string NvmlReturnName(Return r) {
  switch (r) {
    case Return::kSuccess: return "SUCCESS";
    case Return::kUninitialized: return "UNINITIALIZED";
    case Return::kInvalidArgument: return "INVALID_ARGUMENT";
    case Return::kNotSupported: return "NOT_SUPPORTED";
    case Return::kNoPermission: return "NO_PERMISSION";
    case Return::kAlreadyInitialized: return "ALREADY_INITIALIZED";
    case Return::kNotFound: return "NOT_FOUND";
    case Return::kInsufficientSize: return "INSUFFICIENT_SIZE";
    case Return::kInsufficientPower: return "INSUFFICIENT_POWER";
    case Return::kDriverNotLoaded: return "DRIVER_NOT_LOADED";
    case Return::kTimeout: return "TIMEOUT";
    case Return::kIrqIssue: return "IRQ_ISSUE";
    case Return::kLibraryNotFound: return "LIBRARY_NOT_FOUND";
    case Return::kFunctionNotFound: return "FUNCTION_NOT_FOUND";
    case Return::kCorruptedInforom: return "CORRUPTED_INFOROM";
    case Return::kGpuIsLost: return "GPU_IS_LOST";
    case Return::kResetRequired: return "RESET_REQUIRED";
    case Return::kOperatingSystem: return "OPERATING_SYSTEM";
    case Return::kLibRmVersionMismatch: return "LIB_RM_VERSION_MISMATCH";
    case Return::kInUse: return "IN_USE";
    case Return::kMemory: return "MEMORY";
    case Return::kNoData: return "NO_DATA";
    case Return::kVgpuEccNotSupported: return "VGPU_ECC_NOT_SUPPORTED";
    case Return::kInsufficientResources: return "INSUFFICIENT_RESOURCES";
    case Return::kFreqNotSupported: return "FREQ_NOT_SUPPORTED";
    case Return::kArgumentVersionMismatch: return "ARGUMENT_VERSION_MISMATCH";
    case Return::kDeprecated: return "DEPRECATED";
    case Return::kNotReady: return "NOT_READY";
    case Return::kGpuNotFound: return "GPU_NOT_FOUND";
    case Return::kInvalidState: return "INVALID_STATE";
    case Return::kUnknown: return "UNKNOWN";
  }
  return fmt::format("code {}", static_cast<int>(r));
}

Code NvmlCode(Return r) {
  switch (r) {
    case Return::kInvalidArgument:
    case Return::kInsufficientSize: return Code::kInvalidArgument;
    case Return::kNotSupported:
    case Return::kFunctionNotFound:
    case Return::kVgpuEccNotSupported:
    case Return::kFreqNotSupported:
    case Return::kArgumentVersionMismatch:
    case Return::kDeprecated: return Code::kUnimplemented;
    case Return::kNoPermission: return Code::kPermissionDenied;
    case Return::kNotFound:
    case Return::kGpuNotFound: return Code::kNotFound;
    case Return::kMemory:
    case Return::kInsufficientResources: return Code::kResourceExhausted;
    case Return::kNoData:
    case Return::kCorruptedInforom: return Code::kDataLoss;
    case Return::kUninitialized:
    case Return::kInsufficientPower:
    case Return::kDriverNotLoaded:
    case Return::kTimeout:
    case Return::kIrqIssue:
    case Return::kLibraryNotFound:
    case Return::kGpuIsLost:
    case Return::kResetRequired:
    case Return::kOperatingSystem:
    case Return::kLibRmVersionMismatch:
    case Return::kInUse:
    case Return::kNotReady:
    case Return::kInvalidState:
    case Return::kUnknown: return Code::kUnavailable;
    case Return::kSuccess:
    case Return::kAlreadyInitialized: return Code::kInternal;
  }
  return Code::kUnavailable;
}

std::string_view NvmlRemedy(Return r) {
  switch (r) {
    case Return::kDriverNotLoaded:
      return "load the kernel module (modprobe nvidia), or give the container access to the GPUs";
    case Return::kLibRmVersionMismatch:
      return "the driver was updated while loaded: reload the nvidia kernel modules or reboot";
    case Return::kNoPermission:
      return "allow this user to open /dev/nvidiactl and /dev/nvidia*, or the container its GPUs";
    case Return::kGpuIsLost:
      return "the GPU fell off the bus: see the kernel log for its Xid error; it needs a reset or "
             "a "
             "reboot";
    case Return::kResetRequired: return "reset it when idle: nvidia-smi --gpu-reset -i <index>";
    case Return::kInsufficientPower: return "connect the GPU's external power cables";
    case Return::kIrqIssue: return "see the kernel log for an interrupt problem of the GPU";
    case Return::kNotSupported:
      return "this GPU does not offer it; nothing can be done but to use another driver version";
    case Return::kFunctionNotFound: return "update the NVIDIA driver";
    case Return::kUnknown:
    case Return::kTimeout:
    case Return::kOperatingSystem:
      return "see the kernel log for an Xid error; a driver reload may help";
    default: return "";
  }
}

}  // namespace lowtide
