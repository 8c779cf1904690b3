#include "device/proc/proc_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace lowtide {
namespace {

// 2^53 ticks are 2.8 million years of CPU time; sums of a few such numbers cannot overflow.
constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 53U;

constexpr std::string_view kBlanks = " \t\r\n";

template <class T>
std::optional<T> ParseInteger(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> ParseCount(std::string_view text) {
  const auto value = ParseInteger<std::uint64_t>(text);
  return value && *value <= kMaxCount ? value : std::nullopt;
}

std::optional<pid_t> ParsePid(std::string_view text) {
  const auto pid = ParseInteger<pid_t>(text);
  return pid && *pid >= 0 ? pid : std::nullopt;
}

// Takes the next word off `text`; empty at its end.
std::string_view NextWord(std::string_view& text) {
  const auto from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) {
    text = {};
    return {};
  }
  const auto to = std::min(text.find_first_of(kBlanks, from), text.size());
  const auto word = text.substr(from, to - from);
  text.remove_prefix(to);
  return word;
}

std::string_view NextLine(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view Trim(std::string_view text) {
  const auto from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

std::unexpected<Error> Malformed(std::string_view file, std::string_view what) {
  return Fail(Code::kDataLoss, fmt::format("{}: {}", file, what));
}

}  // namespace

Result<ProcPidStat> ParseProcPidStat(std::string_view text) {
  constexpr std::string_view kFile = "/proc/PID/stat";
  // The name stands in parentheses and may contain some: the last one closes it.
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return Malformed(kFile, "no process name in parentheses");
  }
  ProcPidStat stat;
  const auto pid = ParsePid(Trim(text.substr(0, open)));
  if (!pid) return Malformed(kFile, "no process id before the name");
  stat.pid = *pid;
  stat.comm = text.substr(open + 1, close - open - 1);
  std::string_view rest = text.substr(close + 1);
  const auto state = NextWord(rest);
  if (state.size() != 1) return Malformed(kFile, "field 3, the state, is not one letter");
  stat.state = state[0];
  const auto parent = ParsePid(NextWord(rest));
  if (!parent) return Malformed(kFile, "field 4, the parent, is no process id");
  stat.parent = *parent;
  constexpr int kFirstTime = 14;
  for (int field = 5; field < kFirstTime; ++field) NextWord(rest);
  const std::array<std::uint64_t*, 4> times{&stat.user_ticks, &stat.system_ticks,
                                            &stat.children_user_ticks, &stat.children_system_ticks};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto word = NextWord(rest);
    const auto value = ParseCount(word);
    if (!value) {
      return Malformed(kFile, fmt::format("field {}, a time, is '{}'", kFirstTime + i, word));
    }
    *times[i] = *value;
  }
  constexpr int kThreads = 20;
  for (int field = kFirstTime + 4; field < kThreads; ++field) NextWord(rest);
  if (const auto threads = ParseInteger<int>(NextWord(rest)); threads && *threads > 0) {
    stat.threads = *threads;
  }
  return stat;
}

Result<ProcStat> ParseProcStat(std::string_view text) {
  constexpr std::string_view kFile = "/proc/stat";
  ProcStat stat;
  bool has_total = false;
  while (!text.empty()) {
    std::string_view line = NextLine(text);
    const auto name = NextWord(line);
    if (!name.starts_with("cpu")) continue;
    if (name != "cpu") {
      if (ParseCount(name.substr(3))) ++stat.cpus;
      continue;
    }
    if (has_total) return Malformed(kFile, "two lines 'cpu'");
    has_total = true;
    // Kernels of old end after idle, or after softirq; what they do not count is 0.
    constexpr std::size_t kRequired = 4;
    const std::array<std::uint64_t*, 8> fields{&stat.user,     &stat.nice,    &stat.system,
                                               &stat.idle,     &stat.io_wait, &stat.irq,
                                               &stat.soft_irq, &stat.steal};
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto word = NextWord(line);
      if (word.empty() && i >= kRequired) break;
      const auto value = ParseCount(word);
      if (!value)
        return Malformed(kFile, fmt::format("field {} of line 'cpu' is '{}'", i + 2, word));
      *fields[i] = *value;
    }
  }
  if (!has_total) return Malformed(kFile, "no line 'cpu'");
  return stat;
}

Result<CpuInfo> ParseCpuInfo(std::string_view text) {
  CpuInfo info;
  std::vector<std::string_view> packages;
  while (!text.empty()) {
    const std::string_view line = NextLine(text);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto key = Trim(line.substr(0, colon));
    const auto value = Trim(line.substr(colon + 1));
    if (key == "processor") {
      // Some ARM kernels also have a line "Processor"; and a text here is not a number of one.
      if (ParseCount(value)) ++info.threads;
    } else if (key == "model name") {
      if (!info.model && !value.empty()) info.model = value;
    } else if (key == "physical id") {
      if (std::ranges::find(packages, value) == packages.end()) packages.push_back(value);
    } else if (key == "flags" && !info.virtual_machine) {
      std::string_view flags = value;
      for (auto flag = NextWord(flags); !flag.empty(); flag = NextWord(flags)) {
        if (flag == "hypervisor") info.virtual_machine = true;
      }
    }
  }
  if (info.threads == 0) return Malformed("/proc/cpuinfo", "no line 'processor'");
  info.packages = std::max(1, static_cast<int>(packages.size()));
  return info;
}

Result<std::uint64_t> ParseStatmResidentPages(std::string_view text) {
  NextWord(text);
  const auto word = NextWord(text);
  const auto pages = ParseCount(word);
  if (!pages) {
    return Malformed("/proc/PID/statm", fmt::format("field 2, resident pages, is '{}'", word));
  }
  return *pages;
}

Result<std::uint64_t> ParseSmapsRollupPss(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = NextLine(text);
    if (NextWord(line) != "Pss:") continue;
    const auto kibibytes = ParseCount(NextWord(line));
    if (!kibibytes || Trim(line) != "kB") break;
    return *kibibytes * 1024;
  }
  return Malformed("/proc/PID/smaps_rollup", "no line 'Pss: N kB'");
}

std::vector<pid_t> ParseChildren(std::string_view text) {
  std::vector<pid_t> children;
  for (auto word = NextWord(text); !word.empty(); word = NextWord(text)) {
    if (const auto pid = ParsePid(word); pid && *pid > 0) children.push_back(*pid);
  }
  return children;
}

}  // namespace lowtide
