// The job's share of what the host's processors did: what turns the host's CPU energy into the
// job's.
#pragma once

#include <optional>

#include "base/clock.h"
#include "device/proc/host_cpu.h"
#include "device/proc/job_usage.h"

namespace lowtide {

class CpuShare {
 public:
  // Both must outlive this.
  CpuShare(Clock& clock, JobUsage& job, const HostCpu& host)
      : clock_(clock), job_(job), host_(host) {}

  // The share since the last call (the first one: since the job's start), in [0, 1]; nothing when
  // one side cannot be read, or when the host did nothing that could be counted meanwhile.
  std::optional<double> Take();

 private:
  Clock& clock_;
  JobUsage& job_;
  const HostCpu& host_;
  std::optional<Seconds> last_job_;
  std::optional<Seconds> last_busy_;
};

}  // namespace lowtide
