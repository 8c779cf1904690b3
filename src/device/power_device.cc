#include "device/power_device.h"

namespace lowtide {

std::string_view DeviceKindName(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kGpu: return "gpu";
    case DeviceKind::kCpuPackage: return "cpu";
    case DeviceKind::kDram: return "dram";
  }
  return "gpu";
}

}  // namespace lowtide
