#include "run/recorder.h"

#include <algorithm>

namespace lowtide {
namespace {

// Seconds kept in memory for a report without a store: half an hour of them.
constexpr std::size_t kMaxSamplesInMemory = 8 * 1800;

template <class Record, class Key>
void Upsert(std::vector<Record>& records, const Record& record, Key key) {
  const auto it = std::ranges::find(records, record.*key, key);
  if (it == records.end()) {
    records.push_back(record);
  } else {
    *it = record;
  }
}

}  // namespace

void Recorder::Note(const Status& status) {
  if (status || failed_) return;
  failed_ = true;
  new_failure_ = "the run is not kept in the store: " + status.error().message;
}

void Recorder::Begin(const RunRecord& run) {
  copy_.record = run;
  if (store_ == nullptr) {
    failed_ = true;
    return;
  }
  Note(store_->BeginRun(run));
}

void Recorder::Commit(RunUpdate update) {
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
  if (!failed_) Note(store_->Update(copy_.record.run_id, update));
}

void Recorder::End(const RunEnd& end) {
  copy_.end = end;
  copy_.state = RunState::kFinished;
  if (!failed_) Note(store_->EndRun(copy_.record.run_id, end));
}

RunData Recorder::Load() {
  if (!failed_) {
    auto data = store_->LoadRun(copy_.record.run_id);
    if (data) return *std::move(data);
    Note(std::unexpected(data.error()));
  }
  std::ranges::stable_sort(copy_.samples, {}, &SampleRecord::component);
  return copy_;
}

}  // namespace lowtide
