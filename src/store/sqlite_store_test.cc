#include "store/sqlite_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>

#include "store/store_test_data.h"

namespace lowtide {
namespace {

using testing::HasSubstr;

class StoreTest : public testing::Test {
 protected:
  std::filesystem::path Path() const { return folder_.Path() / "state" / "lowtide.db"; }
  std::unique_ptr<Store> Open() {
    auto store = Store::Open(Path());
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  TemporaryFolder folder_;
};

TEST_F(StoreTest, ReturnsEveryFieldThatWasWritten) {
  {
    auto store = Open();
    ASSERT_TRUE(store->BeginRun(SomeRun("01A")));
    ASSERT_TRUE(store->Update("01A", SomeUpdate()));
    ASSERT_TRUE(store->EndRun("01A", {At("2026-11-30T12:01:00Z"), 7}));
  }
  auto store = Open();
  const auto run = store->LoadRun("01A");
  ASSERT_TRUE(run) << run.error().message;
  const RunRecord expected = SomeRun("01A");
  EXPECT_EQ(run->state, RunState::kFinished);
  EXPECT_EQ(run->record.run_id, "01A");
  EXPECT_EQ(run->record.name, "train.py");
  EXPECT_EQ(run->record.command, expected.command);
  EXPECT_EQ(run->record.working_directory, "/home/u");
  EXPECT_EQ(run->record.host, "node1");
  EXPECT_EQ(run->record.started_at, expected.started_at);
  EXPECT_EQ(run->record.writer.pid, expected.writer.pid);
  EXPECT_EQ(run->record.writer.start_ticks, expected.writer.start_ticks);
  EXPECT_EQ(run->record.writer.boot_id, expected.writer.boot_id);
  EXPECT_EQ(run->record.zone, "DE");
  EXPECT_EQ(run->record.policy, "chase");
  EXPECT_EQ(run->record.settings_json, R"({"eta":0.5})");
  EXPECT_EQ(run->record.grid_start, expected.grid_start);
  EXPECT_EQ(run->record.time_scale, 60);
  ASSERT_TRUE(run->end);
  EXPECT_EQ(run->end->ended_at, At("2026-11-30T12:01:00Z"));
  EXPECT_EQ(run->end->exit_code, 7);

  EXPECT_EQ(run->totals.duration, Seconds(2.5));
  EXPECT_EQ(run->totals.energy, Joules(1234.5));
  EXPECT_TRUE(run->totals.energy_known);
  EXPECT_EQ(run->totals.carbon, Grams(0.125));
  EXPECT_EQ(run->totals.energy_without_intensity, Joules(1.5));
  EXPECT_EQ(run->totals.energy_with_estimated_intensity, Joules(2.5));

  ASSERT_EQ(run->components.size(), 2U);
  const ComponentRecord& gpu = run->components[0];
  EXPECT_EQ(gpu.kind, "gpu");
  EXPECT_EQ(gpu.name, "NVIDIA A40");
  EXPECT_EQ(gpu.uuid, "GPU-1");
  EXPECT_EQ(gpu.backend, "nvml");
  EXPECT_EQ(gpu.driver, "535.1");
  EXPECT_EQ(gpu.status, Provenance::kMeasured);
  EXPECT_EQ(gpu.method, "nvml energy counter");
  EXPECT_EQ(gpu.note, "MIG: whole GPU measured");
  EXPECT_EQ(gpu.energy, Joules(1234.5));
  EXPECT_EQ(gpu.host_energy, Joules(2000));
  EXPECT_EQ(gpu.disagreement_pct, 0.75);
  EXPECT_EQ(gpu.gaps, Seconds(1.5));
  EXPECT_TRUE(gpu.counted);
  EXPECT_EQ(run->components[1].index, 1);
  EXPECT_EQ(run->components[1].status, Provenance::kMissing);
  EXPECT_FALSE(run->components[1].energy);
  EXPECT_FALSE(run->components[1].counted);

  ASSERT_EQ(run->samples.size(), 2U);
  EXPECT_EQ(run->samples[0].unix_s, 1000);
  EXPECT_EQ(run->samples[0].energy_j, 250.25);
  EXPECT_EQ(run->samples[0].limit_w, 300);
  EXPECT_EQ(run->samples[1].limit_w, std::nullopt);

  ASSERT_EQ(run->epochs.size(), 1U);
  EXPECT_EQ(run->epochs[0].index, 3);
  EXPECT_EQ(run->epochs[0].ended_at, At("2026-11-30T12:00:03Z"));
  EXPECT_EQ(run->epochs[0].duration, Seconds(2.125));
  EXPECT_EQ(run->epochs[0].energy, Joules(501.75));
  EXPECT_EQ(run->epochs[0].carbon, Grams(0.05));
  EXPECT_EQ(run->epochs[0].energy_without_intensity, Joules(1.5));
  EXPECT_EQ(run->epochs[0].power_limit, Watts(275));
  EXPECT_EQ(run->epochs[0].steps, 40);
  EXPECT_EQ(run->epochs[0].metrics.at("accuracy"), 0.875);

  ASSERT_EQ(run->decisions.size(), 2U);
  EXPECT_EQ(run->decisions[0].power_limit, Watts(250));
  EXPECT_EQ(run->decisions[0].reason, "dirty");
  EXPECT_EQ(run->decisions[0].forecast, GramsPerKwh(512));
  EXPECT_EQ(run->decisions[1].power_limit, std::nullopt);
  EXPECT_FALSE(run->decisions[1].applied);

  ASSERT_EQ(run->intensity.size(), 1U);
  EXPECT_EQ(run->intensity[0].to, At("2021-07-01T01:00:00Z"));
  EXPECT_EQ(run->intensity[0].value, GramsPerKwh(431.5));
  EXPECT_EQ(run->intensity[0].source, "trace:x.csv:ci");
  EXPECT_EQ(run->intensity[0].kind, "measured");

  ASSERT_EQ(run->events.size(), 1U);
  EXPECT_EQ(run->events[0].at, At("2026-11-30T12:00:02.500Z"));
  EXPECT_EQ(run->events[0].message, "GPU 1 lost");
  ASSERT_EQ(run->curve.size(), 2U);
  EXPECT_EQ(run->curve[0].limit_w, 300);
  EXPECT_EQ(run->curve[1].draw_w, 240);
}

TEST_F(StoreTest, UpdatesReplaceOrAddAsRecordsSay) {
  auto store = Open();
  ASSERT_TRUE(store->BeginRun(SomeRun("01A")));
  ASSERT_TRUE(store->Update("01A", SomeUpdate()));
  RunUpdate second = SomeUpdate();
  second.components = {second.components[0]};
  second.components[0].energy = Joules(5000);
  second.epochs[0].metrics = {{"loss", std::nan("")}};
  second.curve = {{200, 4, 190}};
  second.intensity[0].value = GramsPerKwh(100);
  ASSERT_TRUE(store->Update("01A", second));
  const auto run = store->LoadRun("last");
  ASSERT_TRUE(run);
  ASSERT_EQ(run->components.size(), 2U);
  EXPECT_EQ(run->components[0].energy, Joules(5000));
  ASSERT_EQ(run->samples.size(), 2U);
  EXPECT_EQ(run->samples[0].energy_j, 500.5);
  ASSERT_EQ(run->epochs.size(), 1U);
  EXPECT_TRUE(std::isnan(run->epochs[0].metrics.at("loss")));
  EXPECT_EQ(run->decisions.size(), 4U);
  EXPECT_EQ(run->events.size(), 2U);
  ASSERT_EQ(run->intensity.size(), 1U);
  EXPECT_EQ(run->intensity[0].value, GramsPerKwh(100));
  ASSERT_EQ(run->curve.size(), 1U);
  EXPECT_EQ(run->curve[0].limit_w, 200);
}

TEST_F(StoreTest, ListsNewestFirstByNameAndBounded) {
  auto store = Open();
  for (const char* id : {"01A", "01C", "01B"}) {
    RunRecord run = SomeRun(id);
    if (run.run_id == "01B") run.name = "other";
    ASSERT_TRUE(store->BeginRun(run));
    ASSERT_TRUE(store->Update(id, SomeUpdate()));
  }
  const auto all = store->ListRuns("", 100);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ((*all)[0].record.run_id, "01C");
  EXPECT_EQ((*all)[1].record.run_id, "01B");
  EXPECT_EQ((*all)[2].record.run_id, "01A");
  EXPECT_TRUE((*all)[0].samples.empty());
  EXPECT_EQ((*all)[0].epochs.size(), 1U);
  EXPECT_EQ(store->ListRuns("other", 100)->size(), 1U);
  EXPECT_EQ(store->ListRuns("", 2)->size(), 2U);
  EXPECT_EQ(store->ListRuns("nobody", 2)->size(), 0U);
}

TEST_F(StoreTest, FindsRunsByUniquePrefixAndLast) {
  auto store = Open();
  EXPECT_EQ(store->LoadRun("last").error().code, Code::kNotFound);
  for (const char* id : {"01ABC", "01ABD", "01X"}) ASSERT_TRUE(store->BeginRun(SomeRun(id)));
  EXPECT_EQ(store->LoadRun("01x")->record.run_id, "01X");
  EXPECT_EQ(store->LoadRun("last")->record.run_id, "01X");
  const auto ambiguous = store->LoadRun("01A");
  ASSERT_FALSE(ambiguous);
  EXPECT_EQ(ambiguous.error().code, Code::kInvalidArgument);
  EXPECT_THAT(ambiguous.error().message, HasSubstr("01ABD, 01ABC"));
  EXPECT_EQ(store->LoadRun("02").error().code, Code::kNotFound);
  EXPECT_EQ(store->LoadRun("01A%").error().code, Code::kInvalidArgument);
  EXPECT_EQ(store->LoadRun("").error().code, Code::kInvalidArgument);
}

TEST_F(StoreTest, KnowsWhetherTheWriterLives) {
  auto store = Open();
  RunRecord run = SomeRun("01A");
  ASSERT_TRUE(store->BeginRun(run));
  run.run_id = "01B";
  run.writer.start_ticks -= 1;  // another process had this pid
  ASSERT_TRUE(store->BeginRun(run));
  run = SomeRun("01C");
  run.writer.boot_id = "another boot";
  ASSERT_TRUE(store->BeginRun(run));
  EXPECT_EQ(store->LoadRun("01A")->state, RunState::kRunning);
  EXPECT_EQ(store->LoadRun("01B")->state, RunState::kInterrupted);
  EXPECT_EQ(store->LoadRun("01C")->state, RunState::kInterrupted);
  EXPECT_EQ((*store->ListRuns("", 9))[1].state, RunState::kInterrupted);
}

TEST_F(StoreTest, RefusesWhatMakesNoSense) {
  auto store = Open();
  ASSERT_TRUE(store->BeginRun(SomeRun("01A")));
  EXPECT_EQ(store->BeginRun(SomeRun("01A")).error().code, Code::kInvalidArgument);
  EXPECT_EQ(store->Update("01B", SomeUpdate()).error().code, Code::kNotFound);
  EXPECT_EQ(store->EndRun("01B", {}).error().code, Code::kNotFound);
  ASSERT_TRUE(store->EndRun("01A", {At("2026-11-30T12:01:00Z"), 0}));
  EXPECT_EQ(store->EndRun("01A", {At("2026-11-30T12:02:00Z"), 1}).error().code,
            Code::kInvalidArgument);
  EXPECT_EQ(store->LoadRun("01A")->end->exit_code, 0);
}

TEST_F(StoreTest, AnUpdateIsWholeOrNotThere) {
  auto store = Open();
  ASSERT_TRUE(store->BeginRun(SomeRun("01A")));
  RunUpdate update = SomeUpdate();
  update.samples[1].energy_j = std::nan("");  // refused by the table
  EXPECT_EQ(store->Update("01A", update).error().code, Code::kInvalidArgument);
  const auto run = store->LoadRun("01A");
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->components.empty());
  EXPECT_TRUE(run->samples.empty());
  EXPECT_FALSE(run->totals.energy_known);
  EXPECT_TRUE(store->Update("01A", SomeUpdate()));
}

TEST_F(StoreTest, KeepsProfilesByKey) {
  auto store = Open();
  const CurveKey key{"NVIDIA A40", "535", "resnet", 128, 1};
  CurveKey other = key;
  other.batch_size = 256;
  EXPECT_TRUE(store->LoadCurve(key)->empty());
  ASSERT_TRUE(store->SaveCurve(key, {{200, 4, 190}, {300, 5, 280}, {250, 4.5, 240}},
                               At("2026-11-30T12:00:00Z")));
  ASSERT_TRUE(store->SaveCurve(key, {{300, 6, 280}, {275, 5.5, 260}}, At("2026-11-30T13:00:00Z")));
  const auto curve = store->LoadCurve(key);
  ASSERT_TRUE(curve);
  ASSERT_EQ(curve->size(), 2U);
  EXPECT_EQ((*curve)[0].limit_w, 300);
  EXPECT_EQ((*curve)[0].throughput_per_s, 6);
  EXPECT_EQ((*curve)[1].limit_w, 275);
  EXPECT_TRUE(store->LoadCurve(other)->empty());
}

TEST_F(StoreTest, ListsAndDeletesCurves) {
  auto store = Open();
  EXPECT_TRUE(store->ListCurves("")->empty());
  const CurveKey resnet{"NVIDIA A40", "535", "resnet", 128, 1};
  CurveKey larger = resnet;
  larger.batch_size = 256;
  CurveKey bert = resnet;
  bert.job_name = "bert";
  ASSERT_TRUE(store->SaveCurve(larger, {{300, 9, 290}}, At("2026-11-30T14:00:00Z")));
  ASSERT_TRUE(store->SaveCurve(resnet, {{200, 4, 190}, {300, 5, 280}}, At("2026-11-30T12:00:00Z")));
  ASSERT_TRUE(store->SaveCurve(bert, {{250, 1, 240}}, At("2026-11-30T13:00:00Z")));
  const auto all = store->ListCurves("");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ((*all)[0].key, bert);
  EXPECT_EQ((*all)[1].key, resnet);
  EXPECT_EQ((*all)[1].saved_at, At("2026-11-30T12:00:00Z"));
  ASSERT_EQ((*all)[1].points.size(), 2U);
  EXPECT_EQ((*all)[1].points[0].limit_w, 300);
  EXPECT_EQ((*all)[1].points[0].throughput_per_s, 5);
  EXPECT_EQ((*all)[1].points[1].draw_w, 190);
  EXPECT_EQ((*all)[2].key, larger);
  EXPECT_EQ(store->ListCurves("resnet")->size(), 2U);
  EXPECT_TRUE(store->ListCurves("other")->empty());

  ASSERT_TRUE(store->DeleteCurve(resnet));
  EXPECT_TRUE(store->LoadCurve(resnet)->empty());
  EXPECT_EQ(store->LoadCurve(larger)->size(), 1U);
  const auto again = store->DeleteCurve(resnet);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kNotFound);
  EXPECT_THAT(again.error().message, HasSubstr("no power curve of \"resnet\" on NVIDIA A40"));
}

TEST_F(StoreTest, DeletesRunsWithAllThatTheyHold) {
  auto store = Open();
  for (const char* id : {"01AA", "01AB", "01B"}) {
    RunRecord run = SomeRun(id);
    run.command = {"python", std::string("--password=secret-of-") + id};
    ASSERT_TRUE(store->BeginRun(run));
    ASSERT_TRUE(store->Update(id, SomeUpdate()));
    ASSERT_TRUE(store->EndRun(id, {At("2026-11-30T12:01:00Z"), 0}));
  }
  const std::vector<std::string> ids = {"01aa", "last", "01B"};
  const auto deleted = store->DeleteRuns(ids);
  ASSERT_TRUE(deleted) << deleted.error().message;
  EXPECT_EQ(*deleted, (std::vector<std::string>{"01AA", "01B"}));
  EXPECT_EQ(store->LoadRun("01AA").error().code, Code::kNotFound);
  const auto left = store->LoadRun("01AB");
  ASSERT_TRUE(left);
  EXPECT_EQ(left->samples.size(), SomeUpdate().samples.size());
  EXPECT_EQ(left->curve.size(), SomeUpdate().curve.size());

  // Nothing of the others is left in any table, nor in the bytes of the files.
  auto db =
      sqlite::Database::Open(Path(), sqlite::Creation::kMustExist, std::chrono::milliseconds(1000));
  ASSERT_TRUE(db);
  for (const char* table :
       {"components", "samples", "epochs", "decisions", "intensity", "events", "run_curves"}) {
    EXPECT_EQ(*(*db)->Scalar(std::string("SELECT count(DISTINCT run) FROM ") + table), 1) << table;
  }
  for (const char* ending : {"", "-wal"}) {
    std::ifstream file(Path().string() + ending, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(bytes.find("secret-of-01AA"), std::string::npos) << ending;
    EXPECT_EQ(bytes.find("secret-of-01B"), std::string::npos) << ending;
  }
  EXPECT_TRUE(store->BeginRun(SomeRun("01C")));
}

TEST_F(StoreTest, DeletesAllOfTheRunsOrNone) {
  auto store = Open();
  ASSERT_TRUE(store->BeginRun(SomeRun("01A")));
  ASSERT_TRUE(store->EndRun("01A", {At("2026-11-30T12:01:00Z"), 0}));
  ASSERT_TRUE(store->BeginRun(SomeRun("01B")));  // by this process, which lives
  RunRecord killed = SomeRun("01C");
  killed.writer.boot_id = "another boot";
  ASSERT_TRUE(store->BeginRun(killed));

  const auto unknown = store->DeleteRuns(std::vector<std::string>{"01A", "01X"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("01X"));
  const auto running = store->DeleteRuns(std::vector<std::string>{"01A", "01B"});
  ASSERT_FALSE(running);
  EXPECT_EQ(running.error().code, Code::kInvalidArgument);
  EXPECT_THAT(running.error().message, HasSubstr("run 01B still goes on (process "));
  EXPECT_EQ(store->DeleteRuns(std::vector<std::string>{"01"}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(store->ListRuns("", 9)->size(), 3U);

  EXPECT_TRUE(store->DeleteRuns(std::vector<std::string>{"01C"})) << "an interrupted run may go";
  EXPECT_EQ(store->DeleteRuns({})->size(), 0U);
  EXPECT_EQ(store->ListRuns("", 9)->size(), 2U);
}

TEST_F(StoreTest, CompactsOnlyWhatIsOlderThanADay) {
  auto store = Open();
  ASSERT_TRUE(store->BeginRun(SomeRun("01A")));
  const std::int64_t base = 1'800'000'000;  // a full minute
  RunUpdate update;
  for (std::int64_t s = 0; s < 180; ++s) {
    update.samples.push_back({0, base + s, 1, 2, s < 90 ? 300.0 : 250.0});
    update.samples.push_back({1, base + s, 1, 0.5, std::nullopt});
  }
  ASSERT_TRUE(store->Update("01A", update));
  const auto now = TimePoint(std::chrono::seconds(base + 86400 + 150));
  ASSERT_TRUE(store->Compact(now));
  auto samples = store->LoadRun("01A")->samples;
  ASSERT_EQ(samples.size(), 2U * (2U + 60U));
  EXPECT_EQ(samples[0].unix_s, base);
  EXPECT_EQ(samples[0].span_s, 60);
  EXPECT_EQ(samples[0].energy_j, 120);
  EXPECT_EQ(samples[0].limit_w, 300);
  EXPECT_EQ(samples[1].unix_s, base + 60);
  EXPECT_EQ(samples[1].limit_w, 250);  // the one in force at the end
  EXPECT_EQ(samples[2].span_s, 1);
  EXPECT_EQ(samples[62].component, 1);
  EXPECT_EQ(samples[62].energy_j, 30);
  // Again: nothing changes. A late second joins its minute.
  ASSERT_TRUE(store->Compact(now));
  RunUpdate late;
  late.samples.push_back({0, base + 61, 1, 3, std::nullopt});
  ASSERT_TRUE(store->Update("01A", late));
  samples = store->LoadRun("01A")->samples;
  ASSERT_EQ(samples.size(), 2U * (2U + 60U));
  EXPECT_EQ(samples[1].energy_j, 123);
  EXPECT_EQ(samples[1].limit_w, 250);
}

TEST_F(StoreTest, TheFileIsPrivate) {
  auto store = Open();
  ASSERT_TRUE(store->BeginRun(SomeRun("01A")));
  for (const char* suffix : {"", "-wal"}) {
    struct stat info{};
    ASSERT_EQ(::stat((Path().string() + suffix).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U) << suffix;
  }
}

// 30 days of 8 GPUs, a CPU and DRAM: minutes, and the last day in seconds, plus an epoch every ten
// minutes, hourly intensity and a decision each hour.
TEST_F(StoreTest, AMonthOnEightGpusStaysUnderFiftyMegabytes) {
  constexpr int kComponents = 10;
  constexpr std::int64_t kDays = 30;
  constexpr std::int64_t kStart = 1'800'000'000;
  constexpr std::int64_t kEnd = kStart + kDays * 86400;
  auto store = Open();
  ASSERT_TRUE(store->BeginRun(SomeRun("01A")));
  const auto energy = [](std::int64_t s, int c) {
    return 300.0 + 0.123456789 * static_cast<double>((s * 7919 + c * 104729) % 997);
  };
  // Days one by one as they pass: a day and a bit in seconds, compacted at the end of each day. The
  // first 28 are sparse (one sample a minute), which leaves the same minutes behind.
  for (std::int64_t day = 0; day < kDays; ++day) {
    const std::int64_t step = day < kDays - 2 ? 60 : 1;
    RunUpdate update;
    for (std::int64_t s = kStart + day * 86400; s < kStart + (day + 1) * 86400; s += step) {
      for (int c = 0; c < kComponents; ++c) {
        update.samples.push_back(
            {c, s, 1, energy(s, c), c < 8 ? std::optional<double>(275.0) : std::nullopt});
      }
    }
    for (int i = 0; i < 144; ++i) {
      EpochRecord epoch = SomeUpdate().epochs[0];
      epoch.index = static_cast<int>(day) * 144 + i;
      update.epochs.push_back(epoch);
    }
    for (int h = 0; h < 24; ++h) {
      IntensityRecord slot = SomeUpdate().intensity[0];
      slot.from = TimePoint(std::chrono::seconds(kStart + day * 86400 + h * 3600));
      slot.to = slot.from + std::chrono::hours(1);
      update.intensity.push_back(slot);
      update.decisions.push_back(SomeUpdate().decisions[0]);
    }
    ASSERT_TRUE(store->Update("01A", update));
    if (day >= kDays - 2) {
      ASSERT_TRUE(store->Compact(TimePoint(std::chrono::seconds(kStart + (day + 1) * 86400))));
    }
  }
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(Path().parent_path())) {
    bytes += file.file_size();
  }
  EXPECT_LT(bytes, 50'000'000U);
  RecordProperty("bytes", std::to_string(bytes));
  const auto run = store->LoadRun("01A");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->samples.size(), kComponents * (86400U + 29U * 1440U));
  EXPECT_EQ(run->samples.front().unix_s, kStart);
  EXPECT_EQ(run->samples.front().span_s, 60);
  EXPECT_EQ(run->samples.back().unix_s, kEnd - 1);
  EXPECT_EQ(run->samples.back().energy_j, energy(kEnd - 1, kComponents - 1));
}

}  // namespace
}  // namespace lowtide
