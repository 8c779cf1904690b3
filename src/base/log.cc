#include "base/log.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <string>

#include "base/clock.h"
#include "base/json.h"

namespace lowtide {
namespace {

// How long a line waits for a reader of standard error.
constexpr int kPatienceMs = 100;

constexpr std::array<std::string_view, 5> kNames = {"debug", "info", "warning", "error", "off"};

std::atomic<LogLevel> g_level{LogLevel::kWarning};
std::atomic<LogFormat> g_format{LogFormat::kText};

std::string_view Name(LogLevel level) { return kNames[static_cast<std::size_t>(level)]; }

}  // namespace

Result<LogLevel> ParseLogLevel(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<LogLevel>(i);
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("log level '{}'; allowed are debug, info, warning, error, off", name));
}

void ConfigureLog(LogLevel level, LogFormat format) {
  g_level = level;
  g_format = format;
}

void Log(LogLevel level, std::string_view message) {
  if (level < g_level.load() || level == LogLevel::kOff) return;
  std::string line;
  if (g_format.load() == LogFormat::kJson) {
    line = DumpJson(Json{{"ts", FormatTime(RealClock().Now())},
                         {"level", std::string(Name(level))},
                         {"msg", std::string(message)}}) +
           "\n";
  } else {
    line = fmt::format("lowtide: {}: {}", Name(level), message);
    // A message may quote outside bytes: no second line, no terminal control.
    for (char& c : line) {
      if (c == '\n' || c == '\t') c = ' ';
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    }
    line += '\n';
  }
  WriteToStandardError(line, WhenBlocked::kDrop);
}

void WriteToStandardError(std::string_view text, WhenBlocked when_blocked) {
  const int patience_ms = when_blocked == WhenBlocked::kDrop ? kPatienceMs : -1;
  while (!text.empty()) {
    pollfd fd{STDERR_FILENO, POLLOUT, 0};
    const int ready = ::poll(&fd, 1, patience_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return;
    // One write keeps a line whole beside the child's own output, and one of at most PIPE_BUF bytes
    // does not block after the poll.
    const ssize_t n =
        ::write(STDERR_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace lowtide
