#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <optional>

#include "base/file.h"
#include "store/process_stat.h"
#include "store/store.h"

namespace lowtide {
namespace {

std::string Trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

Result<ProcessStat> StatOf(std::int64_t pid) {
  const std::string path = fmt::format("/proc/{}/stat", pid);
  LOWTIDE_TRY(const std::string text, ReadFile(path, 65536));
  const auto stat = ParseProcessStat(text);
  if (!stat) return Fail(Code::kUnavailable, fmt::format("{} has an unknown form", path));
  return *stat;
}

Result<std::string> BootId() {
  LOWTIDE_TRY(std::string id, ReadFile("/proc/sys/kernel/random/boot_id", 4096));
  return Trimmed(std::move(id));
}

}  // namespace

std::optional<ProcessStat> ParseProcessStat(std::string_view text) {
  // "pid (comm) state ...": the command may hold spaces and parentheses, so look for the last one.
  const auto end = text.rfind(')');
  if (end == std::string_view::npos || end + 2 >= text.size()) return std::nullopt;
  std::string_view rest = text.substr(end + 2);
  ProcessStat out;
  out.state = rest.front();
  for (int field = 3; !rest.empty(); ++field) {
    const auto space = rest.find_first_of(" \n");
    const auto value = rest.substr(0, space);
    if (field == 22) {
      std::int64_t ticks = 0;
      if (value.empty()) return std::nullopt;
      for (const char c : value) {
        if (c < '0' || c > '9' || ticks > (INT64_MAX - 9) / 10) return std::nullopt;
        ticks = ticks * 10 + (c - '0');
      }
      out.start_ticks = ticks;
      return out;
    }
    if (space == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(space + 1);
  }
  return std::nullopt;
}

Result<ProcessIdentity> ThisProcess() {
  ProcessIdentity out;
  out.pid = ::getpid();
  LOWTIDE_TRY(const ProcessStat stat, StatOf(out.pid));
  out.start_ticks = stat.start_ticks;
  LOWTIDE_TRY(out.boot_id, BootId());
  return out;
}

bool IsAlive(const ProcessIdentity& process) {
  if (process.pid <= 0) return false;
  if (const auto boot = BootId(); boot && *boot != process.boot_id) return false;
  const auto stat = StatOf(process.pid);
  // A zombie writes nothing any more.
  return stat && stat->start_ticks == process.start_ticks && stat->state != 'Z' &&
         stat->state != 'X';
}

}  // namespace lowtide
