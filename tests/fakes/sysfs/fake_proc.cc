#include "fakes/sysfs/fake_proc.h"

#include <fmt/format.h>

#include <algorithm>

namespace lowtide::fakes {

namespace fs = std::filesystem;

void FakeProc::Set(const FakeProcess& process) {
  processes_[process.pid] = process;
  Write(process.pid);
}

void FakeProc::Write(pid_t pid) {
  const FakeProcess& p = processes_.at(pid);
  const fs::path folder = Root() / std::to_string(pid);
  WriteText(folder / "stat",
            fmt::format("{} ({}) {} {} {} {} 0 -1 4194560 120 0 0 0 {} {} {} {} 20 0 {} 0 8000 "
                        "1000000 {} 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n",
                        p.pid, p.comm, p.state, p.parent, p.parent, p.parent, p.user, p.system,
                        p.children_user, p.children_system, p.threads, p.resident_pages));
  WriteText(folder / "statm",
            fmt::format("{} {} 10 5 0 20 0\n", p.resident_pages * 2, p.resident_pages));
  if (p.pss_kib > 0) {
    WriteText(folder / "smaps_rollup",
              fmt::format("00400000-7fff0000 ---p 00000000 00:00 0    [rollup]\nRss:    {} kB\n"
                          "Pss:    {} kB\nPss_Anon:    1 kB\n",
                          p.pss_kib * 2, p.pss_kib));
  }
  WriteChildren(pid);
  WriteChildren(p.parent);
}

void FakeProc::WriteChildren(pid_t parent) {
  if (children_files_ == ChildrenFiles::kAbsent || !processes_.contains(parent)) return;
  std::string text;
  for (const auto& [pid, process] : processes_) {
    if (process.parent == parent) text += fmt::format("{} ", pid);
  }
  const std::string name = std::to_string(parent);
  WriteText(Root() / name / "task" / name / "children", text);
}

void FakeProc::Remove(pid_t pid) {
  const pid_t parent = processes_.at(pid).parent;
  processes_.erase(pid);
  fs::remove_all(Root() / std::to_string(pid));
  WriteChildren(parent);
}

void FakeProc::Reap(pid_t pid, pid_t new_parent) {
  const FakeProcess ended = processes_.at(pid);
  if (const auto parent = processes_.find(ended.parent); parent != processes_.end()) {
    parent->second.children_user += ended.user + ended.children_user;
    parent->second.children_system += ended.system + ended.children_system;
    Write(parent->first);
  }
  std::vector<pid_t> orphans;
  for (auto& [other, process] : processes_) {
    if (process.parent != pid) continue;
    process.parent = new_parent;
    orphans.push_back(other);
  }
  Remove(pid);
  for (const pid_t orphan : orphans) Write(orphan);
}

void FakeProc::SetHost(const FakeHostTicks& t, int cpus) {
  std::string text =
      fmt::format("cpu  {} {} {} {} {} {} {} {} {} {}\n", t.user, t.nice, t.system, t.idle,
                  t.io_wait, t.irq, t.soft_irq, t.steal, t.guest, t.guest_nice);
  for (int i = 0; i < cpus; ++i) text += fmt::format("cpu{} 1 0 1 1 0 0 0 0 0 0\n", i);
  text += "intr 12345 0 0\nctxt 999\nbtime 1700000000\nprocesses 4242\nprocs_running 1\n";
  WriteText(Root() / "stat", text);
}

void FakeProc::SetCpuInfo(std::string_view text) { WriteText(Root() / "cpuinfo", text); }

std::string X86CpuInfo(std::string_view model, int threads, int packages, std::string_view flags) {
  std::string text;
  for (int i = 0; i < threads; ++i) {
    text += fmt::format(
        "processor\t: {}\nvendor_id\t: GenuineIntel\nmodel name\t: {}\nphysical id\t: {}\n"
        "siblings\t: {}\nflags\t\t: {}\n\n",
        i, model, i * packages / threads, threads / packages, flags);
  }
  return text;
}

}  // namespace lowtide::fakes
