// A run whose sources fail one after the other and come back: a real command, real requests over
// the loopback, a grid whose clock goes 900 times as fast so that slots change during the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "base/embedded/embedded.h"
#include "device/simulated/simulated_gpu.h"
#include "fakes/providers/fake_series.h"
#include "fakes/providers/provider_servers.h"
#include "forecast/kept_forecast_source.h"
#include "forecast/source_forecast.h"
#include "grid/background_source.h"
#include "grid/provider_source.h"
#include "grid/providers/registry.h"
#include "grid/source_chain.h"
#include "grid/sources/constant_source.h"
#include "http/client.h"
#include "http/curl_transport.h"
#include "run/session.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kSpeed = 900;
constexpr const char* kZone = "DE";
constexpr Seconds kAfterFailure{1};

// UTC goes kSpeed times as fast as monotonic time does.
class FastUtcClock final : public Clock {
 public:
  TimePoint Now() const override {
    return start_ + kSpeed * std::chrono::duration_cast<std::chrono::milliseconds>(
                                 real_.Monotonic() - mono_start_);
  }
  MonoTime Monotonic() const override { return real_.Monotonic(); }
  std::chrono::nanoseconds SuspendedTime() const override { return real_.SuspendedTime(); }
  bool SleepUntil(MonoTime deadline, std::stop_token stop) override {
    return real_.SleepUntil(deadline, std::move(stop));
  }

 private:
  RealClock real_;
  MonoTime mono_start_ = real_.Monotonic();
  TimePoint start_ = *ParseTime("2026-11-30T12:00:00Z");
};

class Folder {
 public:
  Folder() {
    char pattern[] = "/tmp/lowtide-plug-XXXXXX";
    path_ = ::mkdtemp(pattern);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Does the next thing when an event tells that the one before has been noticed.
class Director final : public RunObserver {
 public:
  struct Scene {
    std::string awaited;  // part of an event's message
    std::function<void()> then;
  };
  explicit Director(std::vector<Scene> scenes) : scenes_(std::move(scenes)) {}

  void OnEpochEnd(const EpochRecord&, std::optional<std::int64_t>) override {}
  void OnDecision(const DecisionRecord&) override {}
  void OnEvent(const EventRecord& event) override {
    if (next_ < scenes_.size() && event.message.find(scenes_[next_].awaited) != std::string::npos) {
      scenes_[next_++].then();
    }
  }
  std::size_t Done() const { return next_; }

 private:
  std::vector<Scene> scenes_;
  std::size_t next_ = 0;
};

class PullThePlug : public testing::Test {
 protected:
  PullThePlug() : fake_({.now = clock_.Now()}) {}

  std::unique_ptr<ProviderSource> Make(const std::string& name) {
    ProviderSettings settings;
    settings.endpoint = fake_.Url(name);
    if (name == "electricity_maps") settings.key = "em-full";
    if (name == "entsoe") settings.key = "entsoe-token-0001";
    auto provider = MakeProvider(name, settings, {client_, zones_, factors_});
    EXPECT_TRUE(provider) << provider.error().message;
    Freshness freshness;
    freshness.history_age = Seconds(300);
    freshness.forecast_age = Seconds(900);
    freshness.after_failure = kAfterFailure;
    return std::make_unique<ProviderSource>(*std::move(provider), Zone{kZone}, cache_.get(), clock_,
                                            freshness);
  }

  RunOutcome Run(const Source& source, RunObserver& observer, SignalQueue& signals, Store& store) {
    SimulatedGpuOptions gpu;
    gpu.curve = *MakePowerCurve("A40", "job", 1,
                                {{Watts(200), 8, Watts(180)}, {Watts(300), 10, Watts(290)}});
    RunParts parts;
    parts.clock = &real_clock_;
    parts.signals = &signals;
    parts.store = &store;
    parts.devices.push_back(std::make_unique<SimulatedGpu>(real_clock_, gpu));
    const SourceForecast forecaster;
    parts.source = &source;
    parts.forecaster = &forecaster;
    RunConfig config;
    config.name = "plug";
    config.command = {"sh", "-c",
                      fmt::format("n=0; while [ ! -e {} ] && [ $n -lt 600 ]; do sleep 0.05; "
                                  "n=$((n+1)); done; exit 7",
                                  (folder_ / "end").string())};
    config.zone = kZone;
    config.policy_text = "none";
    config.settings_json = "{}";
    config.grid_start = clock_.Now();
    config.time_scale = kSpeed;
    config.limits_folder = folder_ / "limits";
    config.runtime_folder = folder_ / "run";
    return RunCommand(std::move(config), std::move(parts), observer);
  }

  void End() const { std::ofstream(folder_ / "end") << "1"; }

  Folder folder_;
  RealClock real_clock_;
  FastUtcClock clock_;  // the grid's
  ProviderServers fake_;
  CurlTransport transport_{clock_, {.timeout = Seconds(5)}};
  HttpClient client_{transport_,
                     clock_,
                     [] { return 0.5; },
                     {.attempts = 2,
                      .first_pause = Seconds(0.02),
                      .longest_pause = Seconds(0.05),
                      .deadline = Seconds(3),
                      .cool_down = Seconds(1),
                      .longest_cool_down = Seconds(1)}};
  ZoneTable zones_ =
      *ZoneTable::Parse(*FindEmbedded("grid/zones.csv"), *FindEmbedded("grid/cloud_regions.csv"),
                        *FindEmbedded("grid/zone_aliases.csv"));
  EmissionFactors factors_ = *EmissionFactors::Parse(*FindEmbedded("grid/emission_factors.csv"));
  std::unique_ptr<IntensityCache> cache_ = *IntensityCache::Open(folder_ / "lowtide.db");
};

// What the fake says of the slot, rounded and estimated as its provider does; forecasts err by 5 at
// most.
double Tolerance(const IntensityRecord& record) { return record.kind == "forecast" ? 9.5 : 4.0; }

TEST_F(PullThePlug, TheRunGoesOnAndEveryChangeIsTold) {
  auto signals = SignalQueue::Open();
  ASSERT_TRUE(signals);
  auto store = Store::Open(folder_ / "lowtide.db");
  ASSERT_TRUE(store);
  std::vector<ChainLink> links;
  std::vector<const Source*> giving;
  for (const char* name : {"electricity_maps", "energy_charts", "entsoe"}) {
    auto source = Make(name);
    giving.push_back(source.get());
    links.push_back({name, std::move(source)});
  }
  links.push_back({"forecast", std::make_unique<KeptForecastSource>(giving), true});
  IntensityOrigin yearly{"yearly", Zone{kZone}, Signal::kAverage, Basis::kLifecycle,
                         IntensityKind::kYearlyAverage};
  links.push_back({"yearly", std::make_unique<ConstantSource>(yearly, GramsPerKwh(1)), true});
  const auto chain = SourceChain::Make(std::move(links));
  ASSERT_TRUE(chain);

  std::jthread time([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      fake_.SetNow(clock_.Now());
      std::this_thread::sleep_for(50ms);
    }
  });
  BackgroundOptions background;
  background.lookback = Seconds(6 * 3600);
  background.horizon = Seconds(24 * 3600);
  background.refresh = Seconds(0.2);
  std::map<std::string, std::int64_t> sent_at_failure;
  const auto sent = [&](const char* name) { return client_.Sent(fake_.Url(name)); };
  const BackgroundSource source(**chain, clock_, background);
  ASSERT_TRUE(source.WaitForFirst(Seconds(10)));

  MonoTime failing_since;
  Director director({
      {"now from energy_charts, before from electricity_maps",
       [&] { fake_.Unplug("energy_charts"); }},
      {"now from entsoe, before from energy_charts",
       [&] {
         fake_.Fault({{"provider", "entsoe"}, {"kind", "rate_limit"}, {"form", "none"}});
         failing_since = clock_.Monotonic();
         for (const char* name : {"electricity_maps", "energy_charts", "entsoe"}) {
           sent_at_failure[name] = sent(name);
         }
       }},
      {"has said before, before from entsoe",
       [&] {
         std::thread([this] {
           std::this_thread::sleep_for(2500ms);  // all three down for a while
           fake_.ClearFaults();
           fake_.Plug("energy_charts");
         }).detach();
       }},
      {"carbon intensity now from electricity_maps, before from", [&] { End(); }},
  });
  std::jthread first_failure([this] {
    std::this_thread::sleep_for(1500ms);
    fake_.Fault({{"provider", "electricity_maps"}, {"kind", "status"}, {"status", 503}});
  });
  const RunOutcome outcome = Run(source, director, *signals, **store);

  // The run went on to its end, and its exit code is the command's.
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(director.Done(), 4U);
  const RunData& data = outcome.data;
  std::vector<std::string> changes;
  for (const EventRecord& e : data.events) {
    if (e.message.find("carbon intensity now from") != std::string::npos)
      changes.push_back(e.message);
  }
  ASSERT_GE(changes.size(), 4U);
  EXPECT_THAT(changes[0], AllOf(HasSubstr("energy_charts"), HasSubstr("503")));
  EXPECT_THAT(changes[1], AllOf(HasSubstr("entsoe"), HasSubstr("503"), HasSubstr("energy_charts")));
  EXPECT_THAT(changes[2], HasSubstr("has said before"));

  // All energy has an intensity, and each slot is that of this zone and signal: another zone's, or
  // the marginal intensity, is more than 20 g/kWh away.
  EXPECT_LT(data.totals.energy_without_intensity / data.totals.energy, 0.01);
  ASSERT_THAT(data.intensity, testing::Not(IsEmpty()));
  std::set<std::string> sources;
  for (std::size_t i = 0; i < data.intensity.size(); ++i) {
    const IntensityRecord& record = data.intensity[i];
    sources.insert(record.source.substr(0, record.source.find(' ')));
    // Nothing is left out.
    if (i > 0) {
      EXPECT_EQ(record.from, data.intensity[i - 1].to);
    }
    EXPECT_EQ(record.signal, "average");
    EXPECT_NE(record.kind, "yearly_average") << record.source;
    const TimePoint middle =
        std::chrono::floor<std::chrono::minutes>(record.from + (record.to - record.from) / 2);
    const TimePoint slot = std::chrono::floor<std::chrono::hours>(middle);
    const auto expected = fake_series::Lifecycle(kZone, slot, slot + 1h);
    // Within the hour the series changes by 6 g/kWh at most.
    EXPECT_NEAR(record.value.v, expected.v, Tolerance(record) + 8)
        << record.source << " " << record.kind << " " << FormatTime(record.from);
  }

  EXPECT_GE(sources.size(), 2U);

  // No storm: while all are down each is asked for history and forecast once per pause, with one
  // repetition, whoever wants to know.
  const double down = ToSeconds(clock_.Monotonic() - failing_since).count();
  const auto most = static_cast<std::int64_t>(2 * 2 * (down / kAfterFailure.count() + 2));
  for (const auto& [name, before] : sent_at_failure) {
    EXPECT_LE(sent(name.c_str()) - before, most) << name << " in " << down << " s";
  }
}

}  // namespace
}  // namespace lowtide
