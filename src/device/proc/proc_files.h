// Parsers of the files of /proc that tell of CPU time, memory and the processor. See proc(5).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lowtide {

// From /proc/PID/stat; times in clock ticks (sysconf(_SC_CLK_TCK) per second).
struct ProcPidStat {
  pid_t pid = 0;
  std::string comm;  // any bytes, blanks and parentheses among them
  char state = 0;
  pid_t parent = 0;
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  // Of children that have ended and were waited for, and of theirs.
  std::uint64_t children_user_ticks = 0;
  std::uint64_t children_system_ticks = 0;
  int threads = 0;  // 0: not said

  std::uint64_t TotalTicks() const {
    return user_ticks + system_ticks + children_user_ticks + children_system_ticks;
  }
};
Result<ProcPidStat> ParseProcPidStat(std::string_view text);

// The line "cpu" of /proc/stat, in ticks since boot, all processors together.
struct ProcStat {
  std::uint64_t user = 0;  // contains guest time
  std::uint64_t nice = 0;  // contains guest_nice time
  std::uint64_t system = 0;
  std::uint64_t idle = 0;
  std::uint64_t io_wait = 0;
  std::uint64_t irq = 0;
  std::uint64_t soft_irq = 0;
  std::uint64_t steal = 0;
  int cpus = 0;  // lines "cpu0", "cpu1", ...: processors that are online

  // Work done here: idle and iowait are rest, and stolen time is another machine's work. Guest time
  // is in user and nice already.
  std::uint64_t BusyTicks() const { return user + nice + system + irq + soft_irq; }
};
Result<ProcStat> ParseProcStat(std::string_view text);

// From /proc/cpuinfo.
struct CpuInfo {
  std::optional<std::string> model;  // "model name"; ARM kernels give none
  int threads = 0;                   // logical processors
  int packages = 1;                  // distinct "physical id"s; 1 where there are none
  bool virtual_machine = false;  // flag "hypervisor": threads and packages are what it was given
};
Result<CpuInfo> ParseCpuInfo(std::string_view text);

// Resident pages of /proc/PID/statm (its second number).
Result<std::uint64_t> ParseStatmResidentPages(std::string_view text);

// "Pss:" of /proc/PID/smaps_rollup, in bytes: pages shared by n processes count 1/n in each.
Result<std::uint64_t> ParseSmapsRollupPss(std::string_view text);

// /proc/PID/task/TID/children: process ids between blanks. What is no process id is left out.
std::vector<pid_t> ParseChildren(std::string_view text);

}  // namespace lowtide
