// The part of NVML's binary interface that Lowtide calls, declared by us from NVIDIA's public NVML
// API reference (nothing of nvml.h is needed to build). Values and layouts are fixed by that ABI.
#pragma once

#include <cstddef>

namespace lowtide::nvml {

// nvmlReturn_t
enum class Return : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kAlreadyInitialized = 5,
  kNotFound = 6,
  kInsufficientSize = 7,
  kInsufficientPower = 8,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kIrqIssue = 11,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kCorruptedInforom = 14,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kOperatingSystem = 17,
  kLibRmVersionMismatch = 18,
  kInUse = 19,
  kMemory = 20,
  kNoData = 21,
  kVgpuEccNotSupported = 22,
  kInsufficientResources = 23,
  kFreqNotSupported = 24,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
  kNotReady = 27,
  kGpuNotFound = 28,
  kInvalidState = 29,
  kUnknown = 999,
};

// nvmlDevice_t: an opaque pointer.
struct DeviceOpaque;
using Device = DeviceOpaque*;

// nvmlValueType_t
enum class ValueType : int {
  kDouble = 0,
  kUnsignedInt = 1,
  kUnsignedLong = 2,
  kUnsignedLongLong = 3,
  kSignedLongLong = 4,
  kSignedInt = 5,
  kUnsignedShort = 6,
};

// nvmlValue_t
union Value {
  double d;
  int si;
  unsigned int ui;
  unsigned long ul;
  unsigned long long ull;
  signed long long sll;
  unsigned short us;
};

// nvmlFieldValue_t
struct FieldValue {
  unsigned int field_id;
  unsigned int scope_id;
  long long timestamp_us;
  long long latency_us;
  ValueType value_type;
  Return result;
  Value value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value) == 32);

// nvmlPciInfo_t as nvmlDeviceGetPciInfo_v3 fills it. The older functions fill a shorter structure
// whose first 16 bytes are the same.
struct PciInfo {
  char bus_id_legacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pci_device_id;
  unsigned int pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

// NVML_FI_DEV_POWER_INSTANT: draw now in mW (nvmlDeviceGetPowerUsage is a one-second mean from
// Ampere on, GA100 excepted).
inline constexpr unsigned int kFieldPowerInstant = 186;
// NVML_POWER_SCOPE_GPU
inline constexpr unsigned int kPowerScopeGpu = 0;
// NVML_DEVICE_MIG_ENABLE
inline constexpr unsigned int kMigEnabled = 1;

// Buffer lengths that every version accepts.
inline constexpr unsigned int kNameBufferBytes = 96;
inline constexpr unsigned int kUuidBufferBytes = 96;
inline constexpr unsigned int kVersionBufferBytes = 81;

// Values that the driver uses for "no value": everything from these on (DCGM's blanks; NVML's own
// NVML_VALUE_NOT_AVAILABLE, all ones, lies above both).
inline constexpr unsigned int kBlank32 = 0x7ffffff0U;
inline constexpr unsigned long long kBlank64 = 0x7ffffffffffffff0ULL;
inline constexpr double kBlankDouble = 140737488355328.0;

}  // namespace lowtide::nvml
