// The processes of a job: a root and all its descendants, with the CPU time and memory they use.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace lowtide {

struct JobProcesses {
  pid_t root = 0;
  // The process that orphans of the job come to (PR_SET_CHILD_SUBREAPER), if there is one: its
  // other children belong to the job too, except those listed.
  std::optional<pid_t> subreaper = std::nullopt;
  std::vector<pid_t> not_job = {};
};

// One look at /proc. Processes that end or hide meanwhile are left out.
struct TreeSnapshot {
  std::vector<pid_t> pids;      // parents before their children
  std::uint64_t cpu_ticks = 0;  // of the processes and of the children they have waited for
};

// Finds the tree through /proc/PID/task/TID/children where the kernel has it
// (CONFIG_PROC_CHILDREN), else by the parent of every process of the host.
//
// A process's time is read before its children's: a child that ends in between is missed in this
// snapshot (and is in its parent's count in the next), never counted twice.
TreeSnapshot WalkProcessTree(const std::filesystem::path& proc, const JobProcesses& job);

// Memory of the processes in bytes: proportional set size, in which shared pages count once, and
// resident size where that may not be read. The kernel walks all pages for it: ask rarely.
std::uint64_t ResidentBytes(const std::filesystem::path& proc, std::span<const pid_t> pids);

// CPU time of a job. A few microseconds per thread of the job.
class ProcessTreeCpu {
 public:
  // `ticks_per_second` is that of the host: sysconf(_SC_CLK_TCK).
  ProcessTreeCpu(std::filesystem::path proc, long ticks_per_second)
      : proc_(std::move(proc)), ticks_per_second_(ticks_per_second) {}

  // CPU seconds used by the job so far: those of its live processes, of the children that these
  // have waited for, and `reaped`, the total of the job's processes that the caller itself has
  // waited for (struct rusage of wait4: the root in the end, and orphans). `reaped` must be at
  // least what was waited for before the call.
  //
  // Never falls. What a process has used is missed where its parent ignores SIGCHLD, since no one
  // is told. Errors: kNotFound when the root never was there.
  Result<Seconds> Sample(const JobProcesses& job, Seconds reaped);

  // The processes of the last sample.
  std::span<const pid_t> Pids() const { return pids_; }

 private:
  std::filesystem::path proc_;
  long ticks_per_second_;
  std::vector<pid_t> pids_;
  std::optional<Seconds> last_;
};

}  // namespace lowtide
