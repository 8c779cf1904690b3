// Chooses which of the zones to count, so that nothing is counted twice.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"
#include "device/power_device.h"
#include "device/rapl/rapl_discovery.h"
#include "device/rapl/rapl_reader.h"

namespace lowtide {

// What is done with a zone that may not be read.
enum class OnUnreadable : std::uint8_t {
  kOmit,  // a problem only, so that a model can take its place
  kWait,  // also a device, which answers kPermissionDenied until reading is allowed
};

struct RaplChoiceOptions {
  OnUnreadable on_unreadable = OnUnreadable::kOmit;
  RaplOpener open;
  std::function<void(Seconds)> wait;  // between the readings of a watched counter
};

struct ChosenRaplZone {
  RaplZone zone;
  std::string uuid;  // "rapl:package-0"
  std::string note;
  std::unique_ptr<RaplReader> reader;  // null: not readable yet
};

struct RaplChoice {
  std::vector<ChosenRaplZone> zones;
  std::vector<DeviceProblem> problems;
};

// Drops what would be counted twice or would read as 0 without being so:
//  - of MSR and MMIO zones with one label the first that can be read stays;
//  - packages whose counters rise by equal amounts are one counter (dies of some AMD processors):
//  the
//    first stays, the others go with their DRAM;
//  - a counter that stands still at 0, or whose zone is disabled, is a problem that says so. A
//  disabled
//    zone whose counter moves is kept: `enabled` governs the power limit, and firmware that locks
//    the limit leaves it 0.
// Counters are watched for 12 ms (again if mirrors are found) only where there is such doubt:
// several packages, a disabled zone, or a counter at 0.
RaplChoice ChooseRaplZones(RaplScan scan, const RaplChoiceOptions& options);

}  // namespace lowtide
