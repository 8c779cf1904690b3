#include "device/proc/host_cpu.h"

#include <algorithm>

#include "base/file.h"

namespace lowtide {

Result<ProcStat> HostCpu::ReadStat() const {
  const auto path = proc_ / "stat";
  LOWTIDE_TRY(const std::string text, ReadFile(path));
  auto stat = ParseProcStat(text);
  if (!stat) return Annotate(std::move(stat).error(), path.string());
  return stat;
}

Result<Seconds> HostCpu::BusySeconds() const {
  LOWTIDE_TRY(const ProcStat stat, ReadStat());
  return Seconds(static_cast<double>(stat.BusyTicks()) / static_cast<double>(ticks_per_second_));
}

Result<int> HostCpu::Cpus() const {
  LOWTIDE_TRY(const ProcStat stat, ReadStat());
  return stat.cpus;
}

Result<CpuInfo> ReadCpuInfo(const std::filesystem::path& proc) {
  const auto path = proc / "cpuinfo";
  LOWTIDE_TRY(const std::string text, ReadFile(path));
  auto info = ParseCpuInfo(text);
  if (!info) return Annotate(std::move(info).error(), path.string());
  return info;
}

std::optional<double> CpuShare(Seconds job, Seconds host_busy) {
  if (host_busy <= Seconds(0)) return std::nullopt;
  return std::clamp(job / host_busy, 0.0, 1.0);
}

}  // namespace lowtide
