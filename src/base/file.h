// Small files, read and written whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lowtide {

inline constexpr std::size_t kMaxFileBytes = 256U << 20U;

// Errors: kNotFound, kPermissionDenied, kResourceExhausted above `max_bytes`, else kUnavailable
// (with the system's text, e.g. a transient EIO of sysfs).
Result<std::string> ReadFile(const std::filesystem::path& path,
                             std::size_t max_bytes = kMaxFileBytes);

// Writes a temporary file beside `path`, syncs it, renames it over `path` and syncs the folder:
// after a power loss there is either the old content or the new one. Mode 0600.
Status WriteFileDurably(const std::filesystem::path& path, std::string_view content);

// Writes a file that the user asked for by name, with the mode that the umask says. A link is
// followed and what is no regular file (/dev/stdout, a fifo) is written to, never replaced; a
// regular file is replaced whole, as above.
Status WriteUserFile(const std::filesystem::path& path, std::string_view content);

// Whether WriteUserFile can be expected to succeed; changes nothing.
Status CheckUserFile(const std::filesystem::path& path);

// Makes `path` and its parents (0700). Fine if it is there already.
Status MakeDirectories(const std::filesystem::path& path);

// "<what>: <text of errno>" with the code that errno stands for.
std::unexpected<Error> FailErrno(int error_number, std::string_view what);

}  // namespace lowtide
