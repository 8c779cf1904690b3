// The meter and the NVML backend together, against the fake library's own exact energy.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/meter.h"
#include "device/nvml/nvml_backend.h"
#include "fakes/nvml/fake_nvml.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;

constexpr double kSeconds = 60;
constexpr double kTick = 0.1;

struct Case {
  const char* name;
  const char* gpu;     // keys of one GPU in the fake's scenario
  double tolerance;    // of the energy, relative
  const char* method;  // part of the method that is reported
};

// Demands whose phase does not fit the sampling; a noisy sensor; a sawtooth.
constexpr const char* kSine =
    R"("demand": {"law": "sine", "mean_w": 190, "amplitude_w": 80, "period_s": 7.3}, "idle_w": 20)";
constexpr const char* kSawtooth =
    R"("demand": {"law": "segments", "repeat": true, "segments": [)"
    R"({"duration_s": 3.7, "from_w": 80, "to_w": 290}, {"duration_s": 1.9, "w": 120}]})";

class MeterAccuracy : public ::testing::TestWithParam<std::tuple<Case, int>> {};

TEST_P(MeterAccuracy, WithinOnePercentOfTheTruth) {
  const auto& [test, gpus] = GetParam();
  std::string scenario;
  for (int i = 0; i < gpus; ++i) {
    scenario += fmt::format("{}{{{}, \"noise_seed\": {}}}", i == 0 ? "" : ",", test.gpu, i + 1);
  }
  fake_nvml::FakeNvml fake(LOWTIDE_FAKE_NVML_LIBRARY);
  fake.Load(fmt::format(R"({{"gpus": [{}]}})", scenario));
  fake.SetTime(0.043);
  auto found = OpenNvmlBackend({LOWTIDE_FAKE_NVML_LIBRARY})->Discover();
  ASSERT_EQ(found.devices.size(), static_cast<std::size_t>(gpus));

  SimulatedClock clock{TimePoint{}};
  std::vector<PowerDevice*> devices;
  for (const auto& d : found.devices) devices.push_back(d.get());
  MeterOptions options;
  options.period = Seconds(1e6);  // the test itself says when
  Meter meter(clock, devices, options);
  ASSERT_TRUE(meter.Start());
  std::vector<double> truth_at_start;
  for (int i = 0; i < gpus; ++i)
    truth_at_start.push_back(fake.TrueEnergyMj(static_cast<unsigned>(i)));
  const int ticks = static_cast<int>(kSeconds / kTick);
  for (int i = 1; i <= ticks; ++i) {
    fake.SetTime(0.043 + i * kTick);
    clock.Advance(Seconds(kTick));
    ASSERT_TRUE(meter.Sample());
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const double truth = (fake.TrueEnergyMj(static_cast<unsigned>(i)) - truth_at_start[i]) / 1000;
    const MeterReading reading = meter.Readings()[i];
    EXPECT_NEAR(reading.energy.v / truth, 1, test.tolerance) << "GPU " << i;
    EXPECT_THAT(reading.method, HasSubstr(test.method));
    EXPECT_EQ(reading.gaps.count(), 0);
  }
  EXPECT_TRUE(meter.Stop());
}

const std::string kCounterSine = std::string(kSine);
const std::string kPowerSine = std::string(kSine) + R"(, "energy_counter": false)";
const std::string kPowerNoisy =
    std::string(kSine) +
    R"(, "energy_counter": false, "power_noise_w": 8, "power_period_s": 0.037)";
const std::string kCounterSawtooth = std::string(kSawtooth);
const std::string kPowerSawtooth = std::string(kSawtooth) + R"(, "energy_counter": false)";
const std::string kFrozen =
    std::string(kSine) + R"(, "faults": [{"kind": "frozen_counter", "from_s": 20}])";
const std::string kBack =
    std::string(kSine) + R"(, "faults": [{"kind": "counter_reset", "from_s": 20}])";

INSTANTIATE_TEST_SUITE_P(
    Gpus, MeterAccuracy,
    ::testing::Combine(
        ::testing::Values(Case{"counter", kCounterSine.c_str(), 0.01, "energy counter (validated"},
                          Case{"power", kPowerSine.c_str(), 0.01, "integrated power"},
                          Case{"noisy_power", kPowerNoisy.c_str(), 0.01, "integrated power"},
                          Case{"counter_sawtooth", kCounterSawtooth.c_str(), 0.01,
                               "energy counter"},
                          Case{"power_sawtooth", kPowerSawtooth.c_str(), 0.01, "integrated power"},
                          Case{"frozen_counter", kFrozen.c_str(), 0.01, "stood still"},
                          Case{"counter_reset", kBack.c_str(), 0.01, "energy counter"}),
        ::testing::Values(1, 2, 8)),
    [](const auto& param_info) {
      return fmt::format("{}_{}", std::get<0>(param_info.param).name,
                         std::get<1>(param_info.param));
    });

TEST(MeterWithNvml, AGpuLostForAWhileCostsNoEnergyAndNoRun) {
  fake_nvml::FakeNvml fake(LOWTIDE_FAKE_NVML_LIBRARY);
  fake.Load(
      R"({"gpus": [{"demand": 200, "faults": [{"kind": "GPU_IS_LOST", "from_s": 10, "to_s": 20}]},
                         {"demand": 100}]})");
  fake.SetTime(0);
  auto found = OpenNvmlBackend({LOWTIDE_FAKE_NVML_LIBRARY})->Discover();
  SimulatedClock clock{TimePoint{}};
  MeterOptions options;
  options.period = Seconds(1e6);
  Meter meter(clock, {found.devices[0].get(), found.devices[1].get()}, options);
  ASSERT_TRUE(meter.Start());
  std::vector<std::string> notices;
  for (int i = 1; i <= 300; ++i) {
    fake.SetTime(i * kTick);
    clock.Advance(Seconds(kTick));
    ASSERT_TRUE(meter.Sample());
    for (const auto& n : meter.Drain().notices) notices.push_back(n.message);
  }
  ASSERT_TRUE(meter.Stop());
  ASSERT_EQ(notices.size(), 2U);
  EXPECT_THAT(notices[0], HasSubstr("LOST"));
  EXPECT_THAT(notices[1], HasSubstr("again"));
  EXPECT_NEAR(meter.Readings()[0].energy.v, 6000, 60) << "the counter covers the absence";
  EXPECT_NEAR(meter.Readings()[1].energy.v, 3000, 30);
}

}  // namespace
}  // namespace lowtide
