// Which marks count, and in which order they may come: the stateful half of the protocol
// (docs/reference/marks.md, "Which marks count" and "Order").
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/result.h"
#include "run/marks.h"
#include "run/marks_socket.h"

namespace lowtide {

enum class MarkVerdict : std::uint8_t {
  kCount,   // belongs to the accounting
  kIgnore,  // answer {"ok":true}, account nothing: another local rank's, or already known
};

class MarkRules {
 public:
  // Judges the mark and, when it counts, remembers its effect. kInvalidArgument: out of order; the
  // message is the reply's error.
  //
  // An epoch_begin while another epoch is running counts: the caller closes that epoch first (see
  // RunningEpoch before the call). A second epoch_begin of the running epoch is ignored.
  Result<MarkVerdict> Judge(ConnectionId connection, const Mark& mark);

  // The connection is gone. The running epoch goes on: `lowtide mark` connects once per mark.
  void Forget(ConnectionId connection) { local_ranks_.erase(connection); }

  std::optional<std::int64_t> RunningEpoch() const { return running_; }

 private:
  Result<MarkVerdict> JudgeEpochEnd(const EpochEndMark& end);

  std::map<ConnectionId, std::int64_t> local_ranks_;  // only those that said one
  std::optional<std::int64_t> running_;
  bool any_epoch_ = false;
};

}  // namespace lowtide
