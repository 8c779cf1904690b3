#include "device/proc/job_usage.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace lowtide {
namespace {

constexpr Seconds kFirstMemoryAge{1};

}  // namespace

JobUsage::JobUsage(JobUsageOptions options)
    : options_(std::move(options)),
      cpu_(options_.proc,
           options_.ticks_per_second > 0 ? options_.ticks_per_second : ::sysconf(_SC_CLK_TCK)) {}

void JobUsage::Start(JobProcesses job) {
  const std::scoped_lock lock(mutex_);
  job_ = std::move(job);
}

void JobUsage::AddReaped(Seconds cpu) {
  const std::scoped_lock lock(mutex_);
  reaped_ += cpu;
  cpu_at_.reset();
}

Result<Seconds> JobUsage::CpuSeconds(MonoTime now) {
  const std::scoped_lock lock(mutex_);
  return CpuSecondsLocked(now);
}

Result<Seconds> JobUsage::CpuSecondsLocked(MonoTime now) {
  if (!job_) return Seconds(0);
  if (cpu_at_ && now - *cpu_at_ < ToNanoseconds(options_.cpu_age)) return cpu_seconds_;
  LOWTIDE_TRY(cpu_seconds_, cpu_.Sample(*job_, reaped_));
  cpu_at_ = now;
  return cpu_seconds_;
}

Result<std::uint64_t> JobUsage::MemoryBytes(MonoTime now) {
  const std::scoped_lock lock(mutex_);
  if (!job_) return std::uint64_t{0};
  LOWTIDE_TRY_STATUS(CpuSecondsLocked(now));
  if (cpu_.Pids().empty()) {
    memory_bytes_ = 0;
    return memory_bytes_;
  }
  if (memory_at_ && now - *memory_at_ < ToNanoseconds(memory_age_)) return memory_bytes_;
  memory_age_ = memory_at_ ? std::min(2 * memory_age_, options_.memory_age)
                           : std::min(kFirstMemoryAge, options_.memory_age);
  memory_at_ = now;
  memory_bytes_ = ResidentBytes(options_.proc, cpu_.Pids());
  return memory_bytes_;
}

}  // namespace lowtide
