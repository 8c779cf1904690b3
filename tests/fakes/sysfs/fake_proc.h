// A /proc tree: processes with CPU time and memory, the host's CPU time, the processor.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fakes/sysfs/temp_folder.h"

namespace lowtide::fakes {

// All times in clock ticks.
struct FakeProcess {
  pid_t pid = 0;
  pid_t parent = 1;
  std::string comm = "python";
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  std::uint64_t children_user = 0;
  std::uint64_t children_system = 0;
  char state = 'S';
  int threads = 1;
  std::uint64_t resident_pages = 0;
  std::uint64_t pss_kib = 0;  // 0: no smaps_rollup
};

struct FakeHostTicks {
  std::uint64_t user = 0, nice = 0, system = 0, idle = 0, io_wait = 0, irq = 0, soft_irq = 0,
                steal = 0, guest = 0, guest_nice = 0;
};

// Whether the kernel tells each task's children (CONFIG_PROC_CHILDREN).
enum class ChildrenFiles : std::uint8_t { kPresent, kAbsent };

class FakeProc {
 public:
  explicit FakeProc(ChildrenFiles children = ChildrenFiles::kPresent) : children_files_(children) {}

  const std::filesystem::path& Root() const { return folder_.Path(); }

  // Adds the process or changes it.
  void Set(const FakeProcess& process);
  FakeProcess& At(pid_t pid) { return processes_.at(pid); }
  void Write(pid_t pid);  // after changes through At
  // The process has ended and nobody counts its time.
  void Remove(pid_t pid);
  // The process has ended; its parent has waited for it and counts its time. Its children go to
  // `new_parent`.
  void Reap(pid_t pid, pid_t new_parent = 1);

  void SetHost(const FakeHostTicks& ticks, int cpus);
  void SetCpuInfo(std::string_view text);

 private:
  void WriteChildren(pid_t parent);

  TempFolder folder_;
  ChildrenFiles children_files_;
  std::map<pid_t, FakeProcess> processes_;
};

// An x86 /proc/cpuinfo: `threads` processors spread evenly over `packages`.
std::string X86CpuInfo(std::string_view model, int threads, int packages,
                       std::string_view flags = "fpu vme sse2");

}  // namespace lowtide::fakes
