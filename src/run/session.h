// One run: starts the command, measures it, steers it, keeps the books, and leaves everything as it
// was found. Owns the poll loop; the meter has the only other thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "run/run_parts.h"
#include "store/records.h"

namespace lowtide {

// What is worth telling while a run goes on. Called on the session's thread.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void OnEpochEnd(const EpochRecord& epoch, std::optional<std::int64_t> total_epochs) = 0;
  virtual void OnDecision(const DecisionRecord& decision) = 0;
  virtual void OnEvent(const EventRecord& event) = 0;
};

struct RunOutcome {
  std::string run_id;
  int exit_code = 1;
  // The command could not be started: 127 or 126 is in exit_code, and the record says why.
  std::optional<Error> start_error;
  // Everything about the run, read back from the store; when there is no store, as kept in memory.
  RunData data;
  // A call of a driver or of the store hangs: leave with _exit, destructors would wait for it.
  bool must_exit_hard = false;
};

// Runs the command to its end. Never fails as a whole: what cannot be done is an event of the run.
RunOutcome RunCommand(RunConfig config, RunParts parts, RunObserver& observer);

}  // namespace lowtide
