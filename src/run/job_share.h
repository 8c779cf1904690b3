// The job's share of what the host's processors did: what turns the host's CPU energy into the
// job's.
#pragma once

#include <optional>

#include "base/clock.h"
#include "device/proc/host_cpu.h"
#include "device/proc/job_usage.h"

namespace lowtide {

class JobShare {
 public:
  // All must outlive this.
  JobShare(Clock& clock, JobUsage& job, const HostCpu& host)
      : clock_(clock), job_(job), host_(host) {}

  // Just before the job starts.
  void Start();
  // The share since the last one that was given (the first: since Start), in [0, 1]; nothing when
  // either side cannot be read, or when the kernel's clock ticks do not tell yet: the time then
  // joins the next share's.
  std::optional<double> Take();

 private:
  Clock& clock_;
  JobUsage& job_;
  const HostCpu& host_;
  Seconds last_job_{0};
  std::optional<Seconds> last_busy_;
};

}  // namespace lowtide
