// What a run does again and again: the meter's tick, the books, the commit, a mark; and its report.
#include <benchmark/benchmark.h>
#include <poll.h>
#include <stdlib.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "device/meter.h"
#include "grid/sources/constant_source.h"
#include "lowtide/marks.h"
#include "run/counterfactuals.h"
#include "run/ledger.h"
#include "run/marks_socket.h"
#include "run/report.h"
#include "run/report_html.h"
#include "store/store.h"

namespace lowtide {
namespace {

constexpr int kDevices = 12;  // 8 GPUs, two packages and their DRAM
constexpr TimePoint kStart = FromUnixMillis(1'760'000'000'000);

class Folder {
 public:
  Folder() {
    std::array<char, 32> name{"/tmp/lowtide-bench-XXXXXX"};
    if (::mkdtemp(name.data()) != nullptr) path_ = name.data();
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& Path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Answers at once, so that what is measured is the meter.
class FreeDevice final : public PowerDevice {
 public:
  const DeviceInfo& Info() const override { return info_; }
  Result<Reading> Read(MonoTime now) override {
    energy_ += Joules(20);
    return Reading{now, energy_, Watts(200), false};
  }
  Result<PowerLimits> Limits() override { return Fail(Code::kUnimplemented, "no limit"); }
  Result<Watts> Limit() override { return Fail(Code::kUnimplemented, "no limit"); }
  Status SetLimit(Watts /*limit*/) override { return Fail(Code::kUnimplemented, "no limit"); }

 private:
  DeviceInfo info_;
  Joules energy_;
};

void MeterTickOf12Devices(benchmark::State& state) {
  RealClock clock;
  std::vector<FreeDevice> devices(kDevices);
  std::vector<PowerDevice*> borrowed;
  for (FreeDevice& device : devices) borrowed.push_back(&device);
  Meter meter(clock, borrowed, MeterOptions{Seconds(1), {}});
  meter.Start();
  for (auto _ : state) {
    meter.Sample();  // with the way to the sampling thread and back
    benchmark::DoNotOptimize(meter.Drain());
  }
  meter.Stop();
}
BENCHMARK(MeterTickOf12Devices)->UseRealTime()->MeasureProcessCPUTime();

std::vector<ComponentRecord> Components() {
  std::vector<ComponentRecord> components;
  for (int i = 0; i < kDevices; ++i) {
    ComponentRecord component;
    component.index = i;
    component.kind = i < 8 ? "gpu" : i % 2 == 0 ? "cpu" : "dram";
    component.name = "NVIDIA A40";
    component.uuid = "GPU-4e817856-1fb8-192a-7ab7-0e0e4476c184";
    component.backend = "nvml";
    component.driver = "550.54.15";
    component.status = Provenance::kMeasured;
    component.method = "nvml energy counter (validated against integrated power)";
    component.energy = Joules(1000);
    components.push_back(component);
  }
  return components;
}

ConstantSource Grid() {
  IntensityOrigin origin;
  origin.source = "constant";
  return {origin, GramsPerKwh(400)};
}

void BookOneSecondOf12Devices(benchmark::State& state) {
  const ConstantSource source = Grid();
  IntensityFeed feed(&source, kStart);
  const GridClock grid{kStart, kStart, 1};
  Ledger ledger(Components(), std::vector<bool>(kDevices, false), grid, feed, {});
  MonoTime mono{std::chrono::hours(1)};
  TimePoint utc = kStart;
  for (auto _ : state) {
    for (int tick = 0; tick < 10; ++tick) {
      const MonoTime from = mono;
      mono += std::chrono::milliseconds(100);
      utc += std::chrono::milliseconds(100);
      for (std::size_t i = 0; i < kDevices; ++i) {
        ledger.AddInterval({i, {from, mono, Joules(20), true}}, {mono, utc});
      }
    }
    RunUpdate update;
    ledger.TakeUpdate({mono, utc}, Ledger::Rows::kWholeSeconds, update);
    benchmark::DoNotOptimize(update);
  }
}
BENCHMARK(BookOneSecondOf12Devices);

RunRecord Record() {
  RunRecord record;
  record.run_id = NewRunId(kStart);
  record.name = "train.py";
  record.command = {"python", "train.py"};
  record.host = "node";
  record.policy = "none";
  record.started_at = record.grid_start = kStart;
  return record;
}

// With the wait for the disk in the wall time; processor time is what a core spends on it.
void CommitOneSecondOf12Devices(benchmark::State& state) {
  const Folder folder;
  auto store = Store::Open(folder.Path() / "lowtide.db");
  const RunRecord record = Record();
  if (!store || !(*store)->BeginRun(record)) {
    state.SkipWithError("no store");
    return;
  }
  std::int64_t second = UnixMillis(kStart) / 1000;
  RunUpdate update;
  update.components = Components();
  update.totals = TotalsRecord{};
  for (auto _ : state) {
    update.samples.clear();
    for (int i = 0; i < kDevices; ++i) update.samples.push_back({i, second, 1, 200.5, 300.0});
    ++second;
    if (!(*store)->Update(record.run_id, update)) {
      state.SkipWithError("the update failed");
      return;
    }
  }
}
BENCHMARK(CommitOneSecondOf12Devices)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

class Yes final : public MarksHandler {
 public:
  MarkReply OnMark(ConnectionId /*connection*/, const Mark& /*mark*/) override { return {}; }
};

void MarkAndReply(benchmark::State& state) {
  const Folder folder;
  auto socket = MarksSocket::Open(folder.Path() / "run");
  if (!socket) {
    state.SkipWithError("no socket");
    return;
  }
  std::atomic<bool> stop = false;
  std::thread server([&] {
    Yes yes;
    pollfd fd{(*socket)->PollFd(), POLLIN, 0};
    while (!stop) {
      ::poll(&fd, 1, 100);
      (*socket)->Pump(yes);
    }
  });
  {
    marks::Options options;
    options.socket = (*socket)->Path().string();
    marks::Client client(options);
    for (auto _ : state) {
      if (client.Step().outcome == marks::Outcome::kOk) continue;
      state.SkipWithError("the mark was not taken");
      break;
    }
  }
  stop = true;
  server.join();
}
BENCHMARK(MarkAndReply)->UseRealTime()->MeasureProcessCPUTime();

// 8 GPUs for 30 days, as the store keeps it: minutes, but for the last day.
RunData MonthOfGpus() {
  constexpr std::int64_t kSeconds = 30 * 86400;
  constexpr std::int64_t kInSeconds = 86400;
  RunData run;
  run.record = Record();
  run.state = RunState::kFinished;
  run.end = RunEnd{kStart + std::chrono::seconds(kSeconds), 0};
  run.components = Components();
  run.components.resize(8);
  const std::int64_t start = UnixMillis(kStart) / 1000;
  for (int gpu = 0; gpu < 8; ++gpu) {
    for (std::int64_t s = 0; s < kSeconds;) {
      const int span = s < kSeconds - kInSeconds ? 60 : 1;
      run.samples.push_back({gpu, start + s, span, 200.0 * span, 300.0});
      s += span;
    }
  }
  for (int hour = 0; hour < 30 * 24; ++hour) {
    IntensityRecord slot;
    slot.from = kStart + std::chrono::hours(hour);
    slot.to = slot.from + std::chrono::hours(1);
    slot.value = GramsPerKwh(300 + hour % 24 * 10);
    slot.source = "trace";
    slot.signal = "average";
    slot.basis = "lifecycle";
    slot.kind = "measured";
    run.intensity.push_back(slot);
  }
  for (int i = 0; i < 300; ++i) {
    EpochRecord epoch;
    epoch.index = i;
    epoch.duration = Seconds(8640);
    epoch.started_at = kStart + i * std::chrono::seconds(8640);
    epoch.ended_at = epoch.started_at + std::chrono::seconds(8640);
    epoch.energy = Joules(8640.0 * 1600);
    epoch.carbon = Grams(1500);
    run.epochs.push_back(epoch);
  }
  run.totals.duration = Seconds(kSeconds);
  run.totals.energy = Joules(1600.0 * kSeconds);
  run.totals.energy_known = true;
  run.totals.carbon = Grams(450'000);
  return run;
}

void HtmlReportOf30Days8Gpus(benchmark::State& state) {
  const Report report = BuildReport(MonthOfGpus(), {});
  std::size_t bytes = 0;
  for (auto _ : state) bytes = ReportHtml(report).size();
  state.counters["page_bytes"] = static_cast<double>(bytes);
}
BENCHMARK(HtmlReportOf30Days8Gpus)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lowtide
