#include "device/proc/process_tree.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

#include "base/file.h"
#include "device/proc/proc_files.h"

namespace lowtide {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxProcFile = std::size_t{1} << 20U;

std::optional<pid_t> PidName(const fs::path& path) {
  const std::string name = path.filename().string();
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc{} || end != name.data() + name.size() || pid <= 0) return std::nullopt;
  return pid;
}

std::vector<pid_t> ListPids(const fs::path& folder) {
  std::vector<pid_t> pids;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (const auto pid = PidName(it->path())) pids.push_back(*pid);
  }
  return pids;
}

std::optional<ProcPidStat> ReadStat(const fs::path& proc, pid_t pid) {
  const auto text = ReadFile(proc / std::to_string(pid) / "stat", kMaxProcFile);
  if (!text) return std::nullopt;
  auto stat = ParseProcPidStat(*text);
  if (!stat) return std::nullopt;
  return *std::move(stat);
}

// Where the children of a process are found.
class Kinship {
 public:
  explicit Kinship(const fs::path& proc, pid_t known_pid) : proc_(proc) {
    std::error_code ignored;
    const std::string pid = std::to_string(known_pid);
    has_children_files_ = fs::exists(proc_ / pid / "task" / pid / "children", ignored);
    if (has_children_files_) return;
    for (const pid_t process : ListPids(proc_)) {
      if (const auto stat = ReadStat(proc_, process)) children_[stat->parent].push_back(process);
    }
  }

  // Which threads of a process may have children.
  enum class Parent : std::uint8_t { kFirstThread, kAnyThread };

  std::vector<pid_t> ChildrenOf(pid_t pid, Parent who) const {
    if (!has_children_files_) {
      const auto found = children_.find(pid);
      return found == children_.end() ? std::vector<pid_t>() : found->second;
    }
    const fs::path tasks = proc_ / std::to_string(pid) / "task";
    if (who == Parent::kFirstThread) return ChildrenOfTask(tasks, pid);
    std::vector<pid_t> children;
    for (const pid_t task : ListPids(tasks)) {
      const auto some = ChildrenOfTask(tasks, task);
      children.insert(children.end(), some.begin(), some.end());
    }
    return children;
  }

 private:
  static std::vector<pid_t> ChildrenOfTask(const fs::path& tasks, pid_t task) {
    const auto text = ReadFile(tasks / std::to_string(task) / "children", kMaxProcFile);
    return text ? ParseChildren(*text) : std::vector<pid_t>();
  }

  const fs::path& proc_;
  bool has_children_files_ = false;
  std::unordered_map<pid_t, std::vector<pid_t>> children_;
};

}  // namespace

TreeSnapshot WalkProcessTree(const fs::path& proc, const JobProcesses& job) {
  TreeSnapshot snapshot;
  const Kinship kinship(proc, job.subreaper.value_or(job.root));
  std::unordered_set<pid_t> seen(job.not_job.begin(), job.not_job.end());
  if (job.subreaper) seen.insert(*job.subreaper);
  const auto walk = [&](pid_t from) {
    std::vector<pid_t> pending{from};
    while (!pending.empty()) {
      const pid_t pid = pending.back();
      pending.pop_back();
      if (!seen.insert(pid).second) continue;
      const auto stat = ReadStat(proc, pid);
      if (!stat) continue;
      snapshot.pids.push_back(pid);
      snapshot.cpu_ticks += stat->TotalTicks();
      const auto children = kinship.ChildrenOf(
          pid, stat->threads == 1 ? Kinship::Parent::kFirstThread : Kinship::Parent::kAnyThread);
      pending.insert(pending.end(), children.begin(), children.end());
    }
  };
  walk(job.root);
  // Orphans last: a process that is orphaned meanwhile has moved from there to here; the kernel
  // gives it to the first thread.
  if (job.subreaper) {
    const auto orphans = kinship.ChildrenOf(*job.subreaper, Kinship::Parent::kFirstThread);
    for (const pid_t orphan : orphans) walk(orphan);
  }
  return snapshot;
}

std::uint64_t ResidentBytes(const fs::path& proc, std::span<const pid_t> pids) {
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t bytes = 0;
  for (const pid_t pid : pids) {
    const fs::path folder = proc / std::to_string(pid);
    if (const auto rollup = ReadFile(folder / "smaps_rollup", kMaxProcFile)) {
      if (const auto pss = ParseSmapsRollupPss(*rollup)) {
        bytes += *pss;
        continue;
      }
    }
    const auto statm = ReadFile(folder / "statm", kMaxProcFile);
    if (!statm) continue;
    if (const auto pages = ParseStatmResidentPages(*statm)) bytes += *pages * page_bytes;
  }
  return bytes;
}

Result<Seconds> ProcessTreeCpu::Sample(const JobProcesses& job, Seconds reaped) {
  TreeSnapshot snapshot = WalkProcessTree(proc_, job);
  pids_ = std::move(snapshot.pids);
  if (pids_.empty() && !last_ && reaped <= Seconds(0)) {
    return Fail(Code::kNotFound,
                fmt::format("no process {} in {}: it never was, has ended, or is hidden", job.root,
                            proc_.string()));
  }
  const Seconds live(static_cast<double>(snapshot.cpu_ticks) /
                     static_cast<double>(ticks_per_second_));
  last_ = std::max(last_.value_or(Seconds(0)), live + reaped);
  return *last_;
}

}  // namespace lowtide
