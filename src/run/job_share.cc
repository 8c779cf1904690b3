#include "run/job_share.h"

namespace lowtide {

void JobShare::Start() {
  if (const auto busy = host_.BusySeconds()) last_busy_ = *busy;
}

std::optional<double> JobShare::Take() {
  const auto busy = host_.BusySeconds();
  const auto job = job_.CpuSeconds(clock_.Monotonic());
  if (!busy || !job || !last_busy_) return std::nullopt;
  const auto share = CpuShare(*job - last_job_, *busy - *last_busy_);
  if (!share) return std::nullopt;
  last_job_ = *job;
  last_busy_ = *busy;
  return share;
}

}  // namespace lowtide
