// RAPL (running average power limit) through Linux powercap: the energy counters of CPU packages
// and their DRAM, as devices.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string_view>

#include "device/power_device.h"
#include "device/rapl/rapl_choice.h"

namespace lowtide {

struct RaplOptions {
  // Where a container sees the host's: often /zeus_sys/class/powercap or /host/sys/class/powercap.
  std::filesystem::path root = "/sys/class/powercap";
  OnUnreadable on_unreadable = OnUnreadable::kOmit;
  // Tests put scripts in place of these two. Empty: OpenSysfsRapl, and a real wait.
  RaplOpener open = nullptr;
  std::function<void(Seconds)> wait = nullptr;
};

// A counter that has not moved for so long is reported as kUnavailable until it moves: a package
// draws power even when idle, so that 0 J would be false.
inline constexpr Seconds kRaplStandstill{10};

// Devices report energy only (power stays empty), see the whole host and have no limit that could
// be set. A read that fails leaves the counter where it was: the next good reading continues it.
// Each device belongs to one reading thread.
class RaplBackend final : public DeviceBackend {
 public:
  explicit RaplBackend(RaplOptions options = {});

  std::string_view Name() const override { return "rapl"; }
  Discovery Discover() override;

 private:
  RaplOptions options_;
};

}  // namespace lowtide
