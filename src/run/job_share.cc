#include "run/cpu_share.h"

namespace lowtide {

std::optional<double> CpuShare::Take() {
  const auto busy = host_.BusySeconds();
  const auto job = job_.CpuSeconds(clock_.Monotonic());
  if (!busy || !job) return std::nullopt;
  const bool first = !last_busy_;
  const Seconds busy_since = *busy - last_busy_.value_or(*busy);
  const Seconds job_since = *job - last_job_.value_or(*job);
  // An interval too short for the kernel's clock ticks to tell joins the next one.
  if (!first && busy_since <= Seconds(0)) return std::nullopt;
  last_busy_ = *busy;
  last_job_ = *job;
  if (first) return std::nullopt;
  return lowtide::CpuShare_(job_since, busy_since);
}

}  // namespace lowtide
