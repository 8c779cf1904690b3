#include "run/recorder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>

namespace lowtide {
namespace {

// A store that answers as it is told to, and remembers what it took.
class FakeStore final : public Store {
 public:
  std::atomic<bool> locked{false};
  std::atomic<bool> damaged{false};
  std::atomic<int> attempts{0};
  RunData data;  // read once the recorder has ended

  Status Answer() {
    ++attempts;
    if (damaged) return Fail(Code::kDataLoss, "damaged");
    if (locked) return Fail(Code::kDeadlineExceeded, "database is locked");
    return {};
  }
  Status BeginRun(const RunRecord& run) override {
    LOWTIDE_TRY_STATUS(Answer());
    data.record = run;
    return {};
  }
  Status Update(std::string_view, const RunUpdate& update) override {
    LOWTIDE_TRY_STATUS(Answer());
    for (const auto& s : update.samples) data.samples.push_back(s);
    for (const auto& e : update.epochs) data.epochs.push_back(e);
    for (const auto& d : update.decisions) data.decisions.push_back(d);
    if (update.totals) data.totals = *update.totals;
    return {};
  }
  Status EndRun(std::string_view, const RunEnd& end) override {
    LOWTIDE_TRY_STATUS(Answer());
    data.end = end;
    return {};
  }
  Result<std::vector<RunData>> ListRuns(std::string_view, std::size_t) override { return {}; }
  Result<RunData> LoadRun(std::string_view) override { return data; }
  Status SaveCurve(const CurveKey&, const std::vector<CurvePointRecord>&, TimePoint) override {
    return Answer();
  }
  Result<std::vector<CurvePointRecord>> LoadCurve(const CurveKey&) override { return {}; }
  Result<std::vector<std::string>> DeleteRuns(std::span<const std::string>) override { return {}; }
  Result<std::vector<StoredCurve>> ListCurves(std::string_view) override { return {}; }
  Status DeleteCurve(const CurveKey&) override { return Answer(); }
  Status Compact(TimePoint) override { return Answer(); }
};

constexpr RecorderOptions kQuick{Seconds(0.01), Seconds(0.3)};

RunRecord ARun() {
  RunRecord run;
  run.run_id = "01A";
  return run;
}

RunUpdate Second(std::int64_t second) {
  RunUpdate update;
  update.samples.push_back({0, second, 1, 10.0, std::nullopt});
  update.epochs.emplace_back().index = 0;
  update.totals = TotalsRecord{};
  update.totals->duration = Seconds(static_cast<double>(second));
  return update;
}

void WaitForAttempts(const FakeStore& store, int attempts) {
  while (store.attempts < attempts) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(RecorderTest, WritesWhatIsCommittedAndReadsItBack) {
  FakeStore store;
  Recorder recorder(&store, kQuick);
  recorder.Begin(ARun());
  for (int i = 0; i < 5; ++i) recorder.Commit(Second(i));
  EXPECT_TRUE(recorder.End({TimePoint{}, 7}));
  EXPECT_EQ(recorder.Load().end->exit_code, 7);
  EXPECT_EQ(store.data.record.run_id, "01A");
  EXPECT_EQ(store.data.samples.size(), 5U);
  EXPECT_TRUE(recorder.TakeEvents().empty());
}

TEST(RecorderTest, AStoreThatIsLockedForAWhileLosesNothing) {
  FakeStore store;
  store.locked = true;
  Recorder recorder(&store, kQuick);
  recorder.Begin(ARun());
  for (int i = 0; i < 20; ++i) recorder.Commit(Second(i));
  WaitForAttempts(store, 3);
  store.locked = false;
  EXPECT_TRUE(recorder.End({TimePoint{}, 0}));
  ASSERT_EQ(store.data.samples.size(), 20U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(store.data.samples[static_cast<std::size_t>(i)].unix_s, i);
  EXPECT_EQ(store.data.totals.duration, Seconds(19));
  ASSERT_TRUE(store.data.end);
  const auto events = recorder.TakeEvents();
  ASSERT_EQ(events.size(), 2U);  // told once, however many attempts there were
  EXPECT_NE(events[0].message.find("locked"), std::string::npos);
  EXPECT_EQ(events[1].kind, "info");
}

TEST(RecorderTest, AStoreThatStaysLockedIsSaidAndTheReportStillHasTheRun) {
  FakeStore store;
  store.locked = true;
  Recorder recorder(&store, kQuick);
  recorder.Begin(ARun());
  recorder.Commit(Second(1));
  EXPECT_TRUE(recorder.End({TimePoint{}, 3}));
  const RunData data = recorder.Load();
  EXPECT_EQ(data.end->exit_code, 3);
  EXPECT_EQ(data.samples.size(), 1U);
  const auto events = recorder.TakeEvents();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_NE(events[1].message.find("the end of the run is not kept"), std::string::npos);
}

TEST(RecorderTest, ADamagedStoreIsSaidOnceAndNotAskedAgain) {
  FakeStore store;
  store.damaged = true;
  Recorder recorder(&store, kQuick);
  recorder.Begin(ARun());
  WaitForAttempts(store, 1);
  recorder.Commit(Second(1));
  EXPECT_TRUE(recorder.End({TimePoint{}, 0}));
  EXPECT_EQ(store.attempts, 1);
  EXPECT_EQ(recorder.TakeEvents().size(), 1U);
  EXPECT_EQ(recorder.Load().samples.size(), 1U);
}

TEST(RecorderTest, WithoutAStoreTheRunIsKeptInMemory) {
  Recorder recorder(nullptr);
  recorder.Begin(ARun());
  recorder.Commit(Second(1));
  EXPECT_TRUE(recorder.End({TimePoint{}, 4}));
  EXPECT_EQ(recorder.Load().end->exit_code, 4);
}

TEST(RecorderTest, AMillionEpochsCostNoMoreEach) {
  Recorder recorder(nullptr);
  recorder.Begin(ARun());
  RunUpdate update;
  for (int i = 0; i < 1000000; ++i) update.epochs.emplace_back().index = i;
  const auto begun = std::chrono::steady_clock::now();
  recorder.Commit(std::move(update));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
  EXPECT_EQ(recorder.Load().epochs.size(), 1000000U);
}

}  // namespace
}  // namespace lowtide
