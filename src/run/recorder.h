// Writes a run into the store as it happens. A store that fails never stops the run: the failure is
// told once and the run goes on, kept in memory as far as the final report needs it.
#pragma once

#include <optional>
#include <string>

#include "store/store.h"

namespace lowtide {

// Not thread-safe.
class Recorder {
 public:
  // `store` may be null.
  explicit Recorder(Store* store) : store_(store) {}

  void Begin(const RunRecord& run);
  void Commit(RunUpdate update);
  void End(const RunEnd& end);

  // The run as the store has it; the copy in memory when the store failed on the way.
  RunData Load();
  // The first failure, once.
  std::optional<std::string> TakeFailure() { return std::exchange(new_failure_, std::nullopt); }

 private:
  void Note(const Status& status);

  Store* store_;
  bool failed_ = false;
  std::optional<std::string> new_failure_;
  RunData copy_;
};

}  // namespace lowtide
