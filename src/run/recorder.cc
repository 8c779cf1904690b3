#include "run/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/clock.h"
#include "base/thread_name.h"

namespace lowtide {
namespace {

// Seconds kept in memory for a report without a store: half an hour of them on 8 devices.
constexpr std::size_t kMaxSamplesInMemory = 8UL * 1800;
// What waits for a store: hours of it. Beyond, the oldest seconds are given up.
constexpr std::size_t kMaxSamplesWaiting = 100000;

template <class Record, class Key>
void Upsert(std::vector<Record>& records, const Record& record, Key key) {
  // Nearly always the last one again, or a new one after it.
  if (records.empty() || records.back().*key < record.*key) {
    records.push_back(record);
    return;
  }
  const auto it = std::ranges::find(records.rbegin(), records.rend(), record.*key, key);
  if (it == records.rend()) {
    records.push_back(record);
  } else {
    *it = record;
  }
}

template <class Record>
void MoveTo(std::vector<Record>& target, std::vector<Record>& source) {
  target.insert(target.end(), std::make_move_iterator(source.begin()),
                std::make_move_iterator(source.end()));
  source.clear();
}

// `later` on top of `update`.
void Merge(RunUpdate& update, RunUpdate later) {
  for (const auto& c : later.components) Upsert(update.components, c, &ComponentRecord::index);
  for (const auto& e : later.epochs) Upsert(update.epochs, e, &EpochRecord::index);
  for (const auto& i : later.intensity) Upsert(update.intensity, i, &IntensityRecord::from);
  MoveTo(update.samples, later.samples);
  MoveTo(update.decisions, later.decisions);
  MoveTo(update.events, later.events);
  if (!later.curve.empty()) update.curve = std::move(later.curve);
  if (later.totals) update.totals = later.totals;
  if (update.samples.size() > kMaxSamplesWaiting) {
    const auto surplus = update.samples.size() - kMaxSamplesWaiting;
    update.samples.erase(update.samples.begin(),
                         update.samples.begin() + static_cast<std::ptrdiff_t>(surplus));
  }
}

// Whether it may work a moment later: another process writes, the disk is full, a server is away.
bool MayPass(const Error& error) {
  return error.code == Code::kDeadlineExceeded || error.code == Code::kResourceExhausted ||
         error.code == Code::kUnavailable;
}

struct CurveToSave {
  CurveKey key;
  std::vector<CurvePointRecord> points;
  TimePoint at;
};

// In the order in which it is written.
struct Work {
  std::optional<RunRecord> begin;
  std::optional<RunUpdate> update;
  std::optional<CurveToSave> curve;
  std::optional<TimePoint> compact;
  std::optional<RunEnd> end;
  std::optional<Error> compact_problem;

  bool Empty() const { return !begin && !update && !curve && !compact && !end; }
};

// Writes what it can; what is left of `work` could not be written.
Status WriteTo(Store& store, const std::string& run_id, Work& work) {
  const auto take = [](auto& item, Status status) {
    if (status) item.reset();
    return status;
  };
  if (work.begin) LOWTIDE_TRY_STATUS(take(work.begin, store.BeginRun(*work.begin)));
  if (work.update) LOWTIDE_TRY_STATUS(take(work.update, store.Update(run_id, *work.update)));
  if (work.curve) {
    LOWTIDE_TRY_STATUS(
        take(work.curve, store.SaveCurve(work.curve->key, work.curve->points, work.curve->at)));
  }
  if (work.end) LOWTIDE_TRY_STATUS(take(work.end, store.EndRun(run_id, *work.end)));
  // Not worth another attempt before the next one is due.
  if (const auto at = std::exchange(work.compact, std::nullopt)) {
    if (auto compacted = store.Compact(*at); !compacted) {
      work.compact_problem = std::move(compacted).error();
    }
  }
  return {};
}

}  // namespace

struct Recorder::Shared {
  Shared(Store* s, RecorderOptions o) : store(s), options(o) {}

  Store* store;
  RecorderOptions options;
  std::string run_id;  // set before the first work

  std::mutex mutex;  // guards what follows; held for moments only
  std::condition_variable changed;
  Work work;
  bool writing = false;
  bool waiting = false;  // the store does not take anything for the moment
  bool failed = false;   // for good
  bool stop = false;
  bool ended = false;
  std::vector<EventRecord> events;

  void Tell(std::string kind, std::string message) {
    events.push_back({RealClock().Now(), std::move(kind), std::move(message)});
  }

  // With the lock held: takes back what could not be written.
  void Note(Work rest, const Status& status) {
    if (rest.compact_problem) {
      Tell("warning", "the store could not be compacted: " + rest.compact_problem->message);
    }
    if (status) {
      if (std::exchange(waiting, false)) Tell("info", "the store takes the run again");
      return;
    }
    if (!MayPass(status.error())) {
      failed = true;
      work = {};
      Tell("warning", "the run is not kept in the store: " + status.error().message);
      return;
    }
    if (!std::exchange(waiting, true)) {
      Tell("warning",
           "the run is not kept in the store for the moment, and is written once it "
           "answers: " +
               status.error().message);
    }
    if (rest.begin) work.begin = std::move(rest.begin);
    if (rest.update) {
      if (work.update) Merge(*rest.update, *std::move(work.update));
      work.update = std::move(rest.update);
    }
    if (rest.curve && !work.curve) work.curve = std::move(rest.curve);
    if (rest.compact && !work.compact) work.compact = rest.compact;
    if (rest.end) work.end = rest.end;
  }
};

Recorder::Recorder(Store* store, RecorderOptions options)
    : shared_(std::make_shared<Shared>(store, options)) {
  if (store == nullptr) {
    shared_->failed = true;
    return;
  }
  thread_ = std::thread([shared = shared_] { Write(shared); });
}

Recorder::~Recorder() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->stop = true;
  }
  shared_->changed.notify_all();
  thread_.join();
}

void Recorder::Write(const std::shared_ptr<Shared>& shared) {
  NameThisThread("lowtide-store");
  std::unique_lock lock(shared->mutex);
  while (true) {
    shared->changed.wait(lock, [&] { return shared->stop || !shared->work.Empty(); });
    if (shared->stop) break;
    Work work = std::exchange(shared->work, {});
    shared->writing = true;
    lock.unlock();
    const Status status = WriteTo(*shared->store, shared->run_id, work);
    lock.lock();
    shared->writing = false;
    shared->Note(std::move(work), status);
    shared->changed.notify_all();
    if (shared->waiting) {
      shared->changed.wait_for(lock, shared->options.retry, [&] { return shared->stop; });
    }
    if (shared->failed) break;
  }
  shared->ended = true;
  shared->changed.notify_all();
}

void Recorder::Begin(const RunRecord& run) {
  copy_.record = run;
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->failed) return;
    shared_->run_id = run.run_id;
    shared_->work.begin = run;
  }
  shared_->changed.notify_all();
}

void Recorder::Remember(const RunUpdate& update) {
  for (const auto& c : update.components) Upsert(copy_.components, c, &ComponentRecord::index);
  for (const auto& e : update.epochs) Upsert(copy_.epochs, e, &EpochRecord::index);
  for (const auto& i : update.intensity) Upsert(copy_.intensity, i, &IntensityRecord::from);
  copy_.decisions.insert(copy_.decisions.end(), update.decisions.begin(), update.decisions.end());
  copy_.events.insert(copy_.events.end(), update.events.begin(), update.events.end());
  if (!update.curve.empty()) copy_.curve = update.curve;
  if (update.totals) copy_.totals = *update.totals;
  if (copy_.samples.size() < kMaxSamplesInMemory) {
    copy_.samples.insert(copy_.samples.end(), update.samples.begin(), update.samples.end());
  }
}

void Recorder::Commit(RunUpdate update) {
  Remember(update);
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->failed) return;
    if (shared_->work.update) {
      Merge(*shared_->work.update, std::move(update));
    } else {
      shared_->work.update = std::move(update);
    }
  }
  shared_->changed.notify_all();
}

void Recorder::SaveCurve(const CurveKey& key, std::vector<CurvePointRecord> points, TimePoint now) {
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->failed) return;
    shared_->work.curve = CurveToSave{key, std::move(points), now};
  }
  shared_->changed.notify_all();
}

void Recorder::Compact(TimePoint now) {
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->failed) return;
    shared_->work.compact = now;
  }
  shared_->changed.notify_all();
}

bool Recorder::End(const RunEnd& end) {
  copy_.end = end;
  copy_.state = RunState::kFinished;
  if (!thread_.joinable()) return true;
  std::unique_lock lock(shared_->mutex);
  if (!shared_->failed) shared_->work.end = end;
  shared_->changed.notify_all();
  const auto done = [&] { return shared_->failed || (shared_->work.Empty() && !shared_->writing); };
  shared_->changed.wait_for(lock, shared_->options.patience_at_end, done);
  complete_ = !shared_->failed && shared_->work.Empty() && !shared_->writing;
  if (!complete_ && !shared_->failed) {
    shared_->Tell("warning",
                  fmt::format("the end of the run is not kept in the store, which has not answered "
                              "for {}",
                              FormatDuration(shared_->options.patience_at_end)));
  }
  shared_->stop = true;
  shared_->changed.notify_all();
  // A call that is under way ends by the store's own deadline, unless the disk hangs.
  if (!shared_->changed.wait_for(lock, shared_->options.patience_at_end,
                                 [&] { return shared_->ended; })) {
    lock.unlock();
    thread_.detach();
    return false;
  }
  lock.unlock();
  thread_.join();
  return true;
}

RunData Recorder::Load() {
  if (complete_) {
    auto data = shared_->store->LoadRun(copy_.record.run_id);
    if (data) return *std::move(data);
    copy_.events.push_back({RealClock().Now(), "warning",
                            "the run cannot be read from the store: " + data.error().message});
  }
  std::ranges::sort(copy_.samples, {},
                    [](const SampleRecord& s) { return std::pair(s.component, s.unix_s); });
  return copy_;
}

std::vector<EventRecord> Recorder::TakeEvents() {
  const std::scoped_lock lock(shared_->mutex);
  return std::exchange(shared_->events, {});
}

}  // namespace lowtide
