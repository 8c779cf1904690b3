// Finds the package and DRAM zones of a powercap folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/power_device.h"

namespace lowtide {

// One zone folder as sysfs shows it.
struct RaplZone {
  std::filesystem::path folder;  // /sys/class/powercap/intel-rapl:0
  std::string control_type;      // "intel-rapl", "intel-rapl-mmio"
  std::string label;             // "package-0", "package-0-die-1", "dram-0": of a person's reading
  DeviceKind kind = DeviceKind::kCpuPackage;
  std::string parent;                     // label of a DRAM zone's package
  std::optional<std::uint64_t> range_uj;  // nothing: unreadable
  bool disabled = false;                  // `enabled` reads 0
};

struct RaplScan {
  std::vector<RaplZone> zones;  // MSR before MMIO, then by the folder's numbers
  std::vector<DeviceProblem> problems;
};

// Every zone named package-* or dram below `root`, flat as the kernel's class folder is, or nested
// in its control type's folder as containers mount it. psys, core, uncore and unknown names are
// left out: psys and core overlap the package.
RaplScan ScanPowercap(const std::filesystem::path& root);

// What to do about a counter that may not be read, and about zones that are not there.
extern const std::string_view kRaplPermissionRemedy;
extern const std::string_view kRaplAbsentRemedy;

}  // namespace lowtide
