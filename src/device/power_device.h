// Something that draws power, and perhaps obeys a power limit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/provenance.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"

namespace lowtide {

enum class DeviceKind : std::uint8_t { kGpu, kCpuPackage, kDram };

// "gpu", "cpu", "dram": the `kind` of a report's component.
std::string_view DeviceKindName(DeviceKind kind);

struct DeviceInfo {
  DeviceKind kind = DeviceKind::kGpu;
  std::string name;     // "NVIDIA A40", "package-0": for people
  std::string uuid;     // stable across runs: "GPU-265c...", "rapl:package-0"
  std::string backend;  // "nvml", "rapl", "cpu_model", "simulated"
  std::string driver;   // version, or empty
  Provenance provenance = Provenance::kMeasured;
  std::string note;  // what a reader of the number must know: "MIG: whole GPU measured"
  // Counters of this device see the whole host, not only the job (RAPL): see Meter.
  bool whole_host = false;
  // Others may run on it too (MIG instance, shared GPU): control is refused unless forced.
  bool shared = false;
  // Reading is not free (a scan of /proc): do not poll more often than this.
  std::chrono::milliseconds min_poll_period{0};
};

// What one poll saw. At least one of the two values is there.
struct Reading {
  MonoTime at;                   // when the values were read
  std::optional<Joules> energy;  // running total, never wraps; only differences mean something
  std::optional<Watts> power;    // draw now
  // The energy since the previous reading is unknown (counter reset, implausible step): `energy`
  // starts anew from here.
  bool discontinuity = false;
};

struct PowerLimits {
  Watts min;
  Watts max;
  Watts preset;  // the driver's default
};

// Not thread-safe unless an implementation says so: a Meter reads on its thread under its own lock,
// control happens on another; implementations must allow Read() beside Limit()/SetLimit().
class PowerDevice {
 public:
  virtual ~PowerDevice() = default;

  virtual const DeviceInfo& Info() const = 0;

  // Errors are states, not ends: kUnavailable (lost, reset; may come back), kPermissionDenied,
  // kUnimplemented (device offers neither energy nor power), kDataLoss.
  virtual Result<Reading> Read(MonoTime now) = 0;
  // The same for half the driver calls: `power` may be left out where `energy` is there.
  virtual Result<Reading> ReadEnergy(MonoTime now) { return Read(now); }

  // kUnimplemented where the device has no settable limit.
  virtual Result<PowerLimits> Limits() = 0;
  virtual Result<Watts> Limit() = 0;
  // kInvalidArgument outside [min, max]; kPermissionDenied without the right to.
  virtual Status SetLimit(Watts limit) = 0;
};

// Why a backend or a device is not there, for `lowtide doctor` and for a report's missing lines.
struct DeviceProblem {
  DeviceKind kind = DeviceKind::kGpu;
  std::string name;    // "NVML", "GPU 3", "/sys/class/powercap/intel-rapl:0"
  Error error;         // what was tried and what it said
  std::string remedy;  // what to do about it; may be empty
};

struct Discovery {
  std::vector<std::unique_ptr<PowerDevice>> devices;
  std::vector<DeviceProblem> problems;
};

class DeviceBackend {
 public:
  virtual ~DeviceBackend() = default;
  virtual std::string_view Name() const = 0;
  // Never fails as a whole: one bad device does not hide the others.
  virtual Discovery Discover() = 0;
};

}  // namespace lowtide
