// What the job uses of the host, for the models of CPU and DRAM and for its share of RAPL's energy.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "device/proc/process_tree.h"

namespace lowtide {

struct JobUsageOptions {
  std::filesystem::path proc = "/proc";
  // 0: ask the system, sysconf(_SC_CLK_TCK).
  long ticks_per_second = 0;
  // Values younger than this are given again, so that several devices and a fast poll cost one
  // look.
  Seconds cpu_age{0.5};
  // Memory is looked at 1, 2, 4, ... s after the start (training grows at first), then this often.
  Seconds memory_age{30};
};

// Thread-safe: the run tells of the job's processes, the meter's thread asks.
class JobUsage {
 public:
  explicit JobUsage(JobUsageOptions options = {});

  // The job has started.
  void Start(JobProcesses job);
  // A process of the job was waited for by us and had used this much (ru_utime + ru_stime of
  // wait4). Call it after each wait, the root's included.
  void AddReaped(Seconds cpu);

  // CPU seconds since the job's start; never falls. 0 before Start.
  Result<Seconds> CpuSeconds(MonoTime now);

  // Memory in bytes, 0 before Start and once the job has ended.
  Result<std::uint64_t> MemoryBytes(MonoTime now);

 private:
  Result<Seconds> CpuSecondsLocked(MonoTime now);

  std::mutex mutex_;
  JobUsageOptions options_;
  ProcessTreeCpu cpu_;
  std::optional<JobProcesses> job_;
  Seconds reaped_{0};
  std::optional<MonoTime> cpu_at_;
  Seconds cpu_seconds_{0};
  std::optional<MonoTime> memory_at_;
  Seconds memory_age_{1};
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace lowtide
