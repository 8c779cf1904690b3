// Diagnostics on standard error. The library logs through this seam only; it never prints results.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace lowtide {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError, kOff };
enum class LogFormat : std::uint8_t { kText, kJson };

// "debug", "info", "warning", "error", "off".
Result<LogLevel> ParseLogLevel(std::string_view name);

// Call once, before threads start. Default: warnings and errors, as text.
void ConfigureLog(LogLevel level, LogFormat format);

// Thread-safe; one line each (control characters are replaced): "lowtide: warning: <message>", or a
// JSON object with ts, level, msg.
void Log(LogLevel level, std::string_view message);
inline void LogDebug(std::string_view message) { Log(LogLevel::kDebug, message); }
inline void LogInfo(std::string_view message) { Log(LogLevel::kInfo, message); }
inline void LogWarning(std::string_view message) { Log(LogLevel::kWarning, message); }
inline void LogError(std::string_view message) { Log(LogLevel::kError, message); }

// Writes to standard error what is no log line (reports, tables). Never fails: nobody is told where
// standard error is closed, full or broken. kDrop: where the reader has stopped reading (a terminal
// after Ctrl-S), what is left is given up after a moment; nothing that is said holds up a job.
enum class WhenBlocked : std::uint8_t { kWait, kDrop };
void WriteToStandardError(std::string_view text, WhenBlocked when_blocked = WhenBlocked::kWait);

}  // namespace lowtide
