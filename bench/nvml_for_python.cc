// libnvidia-ml.so.1 for other programs: the fake NVML library, which is linked in, and beside it
// the functions that codecarbon asks for and Lowtide does not.
#include "device/nvml/nvml_abi.h"

using lowtide::nvml::Device;
using lowtide::nvml::Return;

#define NVML_EXPORT extern "C" __attribute__((visibility("default")))

NVML_EXPORT Return nvmlInit_v2();

NVML_EXPORT Return nvmlInitWithFlags(unsigned int /*flags*/) { return nvmlInit_v2(); }

NVML_EXPORT Return nvmlDeviceGetTemperature(Device /*device*/, int /*sensor*/, unsigned int* out) {
  *out = 60;
  return Return::kSuccess;
}

struct Utilization {
  unsigned int gpu, memory;
};

NVML_EXPORT Return nvmlDeviceGetUtilizationRates(Device /*device*/, Utilization* out) {
  *out = {90, 40};
  return Return::kSuccess;
}

struct Memory {
  unsigned long long total, free, used;
};

NVML_EXPORT Return nvmlDeviceGetMemoryInfo(Device /*device*/, Memory* out) {
  *out = {48ULL << 30U, 24ULL << 30U, 24ULL << 30U};
  return Return::kSuccess;
}

NVML_EXPORT Return nvmlDeviceGetComputeMode(Device /*device*/, int* out) {
  *out = 0;
  return Return::kSuccess;
}

NVML_EXPORT Return nvmlDeviceGetGraphicsRunningProcesses_v3(Device /*device*/, unsigned int* count,
                                                            void* /*out*/) {
  *count = 0;
  return Return::kSuccess;
}
