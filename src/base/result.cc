#include "base/result.h"

namespace lowtide {

const char* CodeName(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return "invalid_argument";
    case Code::kNotFound: return "not_found";
    case Code::kPermissionDenied: return "permission_denied";
    case Code::kUnavailable: return "unavailable";
    case Code::kDeadlineExceeded: return "deadline_exceeded";
    case Code::kResourceExhausted: return "resource_exhausted";
    case Code::kDataLoss: return "data_loss";
    case Code::kUnimplemented: return "unimplemented";
    case Code::kInfeasible: return "infeasible";
    case Code::kInternal: return "internal";
  }
  return "internal";
}

std::unexpected<Error> Annotate(Error error, const std::string& context) {
  error.message = context + ": " + error.message;
  return std::unexpected<Error>(std::move(error));
}

int ExitCodeFor(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return 2;
    case Code::kNotFound:
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
    case Code::kDataLoss:
    case Code::kUnimplemented: return 3;
    case Code::kPermissionDenied: return 4;
    case Code::kInfeasible: return 5;
    case Code::kResourceExhausted:
    case Code::kInternal: return 1;
  }
  return 1;
}

}  // namespace lowtide
