// Errors as values. A function that can fail for a reason outside the program returns Result<T>;
// exceptions come only from third-party calls and are caught in the same .cc file.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace lowtide {

enum class Code : std::uint8_t {
  kInvalidArgument,    // the caller's input is wrong: exit 2
  kNotFound,           // a named thing does not exist: exit 3
  kPermissionDenied,   // not allowed: exit 4
  kUnavailable,        // cannot be had now (driver missing, device lost): exit 3
  kDeadlineExceeded,   // a bounded wait ran out: exit 3
  kResourceExhausted,  // a bound was hit: exit 1
  kDataLoss,           // data are corrupt or an interval is unknown: exit 3
  kUnimplemented,      // the device or format does not offer it: exit 3
  kInfeasible,         // constraints cannot be met: exit 5
  kInternal,           // a fault of ours or of the system: exit 1
};

// Stable lower-case name, e.g. "permission_denied".
const char* CodeName(Code code);

// `message` says what failed, on which object, with which value, and what is allowed.
struct [[nodiscard]] Error {
  Code code = Code::kInternal;
  std::string message;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

inline std::unexpected<Error> Fail(Code code, std::string message) {
  return std::unexpected<Error>(Error{code, std::move(message)});
}

// Puts "<context>: " before the message, keeping the code.
std::unexpected<Error> Annotate(Error error, const std::string& context);

// The process exit code that `code` stands for (see the CLI reference).
int ExitCodeFor(Code code);

}  // namespace lowtide

#define LOWTIDE_CONCAT_INNER(a, b) a##b
#define LOWTIDE_CONCAT(a, b) LOWTIDE_CONCAT_INNER(a, b)

// LOWTIDE_TRY(auto x, F()) binds x to F()'s value or returns its error. It expands to several
// statements, so it needs braces under `if`.
#define LOWTIDE_TRY(decl, expr) LOWTIDE_TRY_IMPL(LOWTIDE_CONCAT(try_result_, __LINE__), decl, expr)
#define LOWTIDE_TRY_IMPL(tmp, decl, expr)                   \
  auto tmp = (expr);                                        \
  if (!tmp) return std::unexpected(std::move(tmp).error()); \
  decl = *std::move(tmp)

// LOWTIDE_TRY_STATUS(F()) returns F()'s error, if any.
#define LOWTIDE_TRY_STATUS(expr)                             \
  do {                                                       \
    if (auto try_status = (expr); !try_status) {             \
      return std::unexpected(std::move(try_status).error()); \
    }                                                        \
  } while (false)
