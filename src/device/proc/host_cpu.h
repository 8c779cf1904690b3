// CPU time and processor of the whole host.
#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"
#include "base/units.h"
#include "device/proc/proc_files.h"

namespace lowtide {

class HostCpu {
 public:
  // `ticks_per_second` is that of the host: sysconf(_SC_CLK_TCK).
  HostCpu(std::filesystem::path proc, long ticks_per_second)
      : proc_(std::move(proc)), ticks_per_second_(ticks_per_second) {}

  // Seconds of work since boot, all processors together: user, nice, system, irq and softirq time
  // of /proc/stat. Idle, iowait and steal are not work of this host.
  Result<Seconds> BusySeconds() const;

  // Processors online.
  Result<int> Cpus() const;

 private:
  Result<ProcStat> ReadStat() const;

  std::filesystem::path proc_;
  long ticks_per_second_;
};

// Errors: as ReadFile, and kDataLoss when <proc>/cpuinfo has no processor.
Result<CpuInfo> ReadCpuInfo(const std::filesystem::path& proc);

// The job's part, in [0, 1], of what the host's processors did in one interval; nothing when they
// did nothing. The two times are read one after the other and count whole ticks, so that the
// quotient can pass 1 by a little; intervals of seconds make this negligible.
std::optional<double> CpuShare(Seconds job, Seconds host_busy);

}  // namespace lowtide
