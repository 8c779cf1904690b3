// Writes a run into the store as it happens, on a thread of its own: a store that is slow, full or
// locked by another process holds up neither the run nor the marks of its job. What a store refuses
// for the moment is written once it answers again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/time.h"
#include "store/store.h"

namespace lowtide {

struct RecorderOptions {
  Seconds retry{1.0};  // between two attempts at a store that does not take anything
  // How long the end of a run waits for the store.
  Seconds patience_at_end{10.0};
};

// Its methods are called on one thread and return at once, except End.
class Recorder {
 public:
  // `store` may be null: everything is kept in memory only.
  explicit Recorder(Store* store, RecorderOptions options = {});
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void Begin(const RunRecord& run);
  void Commit(RunUpdate update);
  void SaveCurve(const CurveKey& key, std::vector<CurvePointRecord> points, TimePoint now);
  void Compact(TimePoint now);

  // Writes what is left and ends the thread. False when a call of the store hangs: the thread is
  // then abandoned, and the process must leave by _exit.
  bool End(const RunEnd& end);

  // The run as the store has it; the copy in memory when the store does not have all of it.
  RunData Load();

  // What went wrong (or well again) with the store since the last call.
  std::vector<EventRecord> TakeEvents();

 private:
  struct Shared;  // outlives an abandoned thread

  static void Write(const std::shared_ptr<Shared>& shared);
  void Remember(const RunUpdate& update);

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
  bool complete_ = false;  // all of it is in the store
  RunData copy_;
};

}  // namespace lowtide
