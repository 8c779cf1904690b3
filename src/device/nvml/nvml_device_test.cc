#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <thread>

#include "device/nvml/nvml_backend.h"
#include "fakes/nvml/fake_nvml.h"

namespace lowtide {
namespace {

using fake_nvml::FakeNvml;
using testing::HasSubstr;
using testing::IsEmpty;

MonoTime At(double seconds) { return MonoTime(ToNanoseconds(Seconds(seconds))); }

// One GPU asking for 250 W, under a limit of 300 of [100, 300] W.
class NvmlDeviceTest : public testing::Test {
 protected:
  // `members` of the GPU beside those, e.g. "faults".
  void Start(const std::string& members = "", const std::string& machine = "") {
    fake_.Load(fmt::format(R"({{{}"gpus": [{{"uuid": "GPU-a", "demand": 250{}{}}}]}})", machine,
                           members.empty() ? "" : ", ", members));
    auto backend = OpenNvmlBackend({LOWTIDE_FAKE_NVML_LIBRARY});
    found_ = backend->Discover();
    ASSERT_EQ(found_.devices.size(), 1U);
  }
  PowerDevice& Device() { return *found_.devices[0]; }
  // Reads at that scenario time, which is the monotonic time too.
  Result<Reading> Read(double seconds) {
    fake_.SetTime(seconds);
    return Device().Read(At(seconds));
  }
  Reading Good(double seconds) {
    auto reading = Read(seconds);
    EXPECT_TRUE(reading) << seconds << ": " << reading.error().message;
    return reading.value_or(Reading{});
  }
  Error Bad(double seconds) {
    auto reading = Read(seconds);
    EXPECT_FALSE(reading) << seconds;
    return reading ? Error{Code::kInternal, "a reading"} : reading.error();
  }

  FakeNvml fake_{LOWTIDE_FAKE_NVML_LIBRARY};
  Discovery found_;
};

TEST_F(NvmlDeviceTest, GivesCounterAndInstantPower) {
  Start(R"("power_usage_window_s": 1, "demand": {"law": "segments", "segments":
      [{"duration_s": 10, "w": 100}, {"duration_s": 10, "w": 200}]})");
  const auto first = Good(9.9);
  EXPECT_EQ(first.at, At(9.9));
  EXPECT_EQ(first.energy, Joules(990));
  EXPECT_EQ(first.power, Watts(100));
  EXPECT_FALSE(first.discontinuity);
  const auto second = Good(10.1);
  EXPECT_EQ(second.energy, Joules(1020));
  EXPECT_EQ(second.power, Watts(200));  // the mean of a second would still say about 110
  EXPECT_FALSE(second.discontinuity);
  EXPECT_EQ(fake_.Calls(0, "nvmlDeviceGetPowerUsage"), 0U);
}

TEST_F(NvmlDeviceTest, FallsBackToPowerUsageAndAsksOnlyOnceForWhatIsNotOffered) {
  Start(R"("instant_power": false, "energy_counter": false)");
  for (int i = 0; i < 5; ++i) {
    const auto reading = Good(i);
    EXPECT_FALSE(reading.energy);
    EXPECT_EQ(reading.power, Watts(250));
  }
  EXPECT_EQ(fake_.Calls(0, "nvmlDeviceGetTotalEnergyConsumption"), 1U);
  EXPECT_EQ(fake_.Calls(0, "nvmlDeviceGetFieldValues"), 1U);
}

TEST_F(NvmlDeviceTest, CounterAloneIsEnough) {
  Start(R"("instant_power": false, "power_reading": false)");
  const auto reading = Good(4);
  EXPECT_EQ(reading.energy, Joules(1000));
  EXPECT_FALSE(reading.power);
}

TEST_F(NvmlDeviceTest, PowerOfZeroIsNotAReading) {
  Start(R"("instant_power": false, "idle_w": 0, "busy": false)");
  const auto reading = Good(1);
  EXPECT_FALSE(reading.power);
  EXPECT_EQ(reading.energy, Joules(0));
}

TEST_F(NvmlDeviceTest, LostGpuIsUnavailableAndComesBack) {
  Start(R"("faults": [{"kind": "GPU_IS_LOST", "from_s": 5, "to_s": 8}])");
  Good(4.9);
  const auto error = Bad(5);
  EXPECT_EQ(error.code, Code::kUnavailable);
  EXPECT_THAT(error.message,
              HasSubstr("GPU 0 (NVIDIA A40): reading energy and power: GPU_IS_LOST"));
  EXPECT_EQ(Device().Limit().error().code, Code::kUnavailable);
  EXPECT_EQ(Device().SetLimit(Watts(200)).error().code, Code::kUnavailable);
  EXPECT_EQ(Bad(7.9).code, Code::kUnavailable);
  const auto back = Good(8);
  EXPECT_EQ(back.energy, Joules(2000));  // the counter went on: nothing is lost
  EXPECT_FALSE(back.discontinuity);
}

TEST_F(NvmlDeviceTest, LostGpuThatNeedsNvmlStartedAgainGetsIt) {
  Start(R"("faults": [{"kind": "GPU_IS_LOST", "from_s": 5, "to_s": 8, "sticky": true}])");
  EXPECT_EQ(Bad(5).code, Code::kUnavailable);
  EXPECT_EQ(Bad(14.9).code, Code::kUnavailable);  // patience is 10 s
  EXPECT_EQ(Bad(15.0).code, Code::kUnavailable);  // starts NVML again
  const auto back = Good(15.1);
  EXPECT_TRUE(back.energy);
  EXPECT_EQ(back.power, Watts(250));
}

TEST_F(NvmlDeviceTest, GpuLostForGoodIsNotStartedAgainAtEachSample) {
  Start(R"("faults": [{"kind": "GPU_IS_LOST", "from_s": 5}])");
  for (int i = 0; i < 600; ++i) EXPECT_EQ(Bad(5 + i).code, Code::kUnavailable);
  // 10 s after the loss, then after 10, 20, 40, 80 and 160 s; and the one of discovery.
  EXPECT_EQ(fake_.Inits(), 1U + 6U);
  EXPECT_LE(fake_.Calls(0), 1300U);  // about one call a sample: not one for each value
}

TEST_F(NvmlDeviceTest, OtherFaultsAreNamed) {
  struct Case {
    const char* state;
    Code code;
  };
  for (const auto& [state, code] :
       {Case{"RESET_REQUIRED", Code::kUnavailable}, Case{"UNKNOWN", Code::kUnavailable},
        Case{"TIMEOUT", Code::kUnavailable}, Case{"NO_PERMISSION", Code::kPermissionDenied},
        Case{"NO_DATA", Code::kDataLoss}}) {
    Start(fmt::format(R"("faults": [{{"kind": "{}", "from_s": 5, "to_s": 6}}])", state));
    Good(4);
    const auto error = Bad(5);
    EXPECT_EQ(error.code, code) << state;
    EXPECT_THAT(error.message, HasSubstr(state));
    EXPECT_EQ(Good(6).energy, Joules(1500)) << state;
  }
}

TEST_F(NvmlDeviceTest, NotSupportedLaterOnLeavesThatValueOut) {
  Start(R"("faults": [{"kind": "NOT_SUPPORTED", "from_s": 5, "to_s": 6,
      "functions": ["nvmlDeviceGetTotalEnergyConsumption"]}])");
  EXPECT_TRUE(Good(4).energy);
  const auto without = Good(5);
  EXPECT_FALSE(without.energy);
  EXPECT_EQ(without.power, Watts(250));
  EXPECT_EQ(Good(6).energy, Joules(1500));  // it was offered once: asked for again
}

TEST_F(NvmlDeviceTest, UnknownErrorOfOneValueLeavesTheOther) {
  Start(R"("faults": [{"kind": "UNKNOWN", "from_s": 5, "to_s": 6,
      "functions": ["nvmlDeviceGetFieldValues", "nvmlDeviceGetPowerUsage"]}])");
  const auto reading = Good(5);
  EXPECT_EQ(reading.energy, Joules(1250));
  EXPECT_FALSE(reading.power);
  EXPECT_EQ(Good(6).power, Watts(250));
}

TEST_F(NvmlDeviceTest, BlankValuesAreMissing) {
  Start(R"("faults": [{"kind": "blank", "from_s": 5, "to_s": 6}])");
  Good(4);
  const auto error = Bad(5);
  EXPECT_EQ(error.code, Code::kDataLoss);
  EXPECT_THAT(error.message, HasSubstr("blank values"));
  EXPECT_EQ(Good(6).energy, Joules(1500));
}

TEST_F(NvmlDeviceTest, CounterGoingBackIsADiscontinuity) {
  Start(R"("faults": [{"kind": "counter_back", "by_j": 900, "from_s": 5}])");
  EXPECT_FALSE(Good(4).discontinuity);
  const auto back = Good(5);
  EXPECT_TRUE(back.discontinuity);
  EXPECT_EQ(back.energy, Joules(350));
  const auto next = Good(6);
  EXPECT_FALSE(next.discontinuity);
  EXPECT_EQ(next.energy, Joules(600));
}

TEST_F(NvmlDeviceTest, CounterJumpThatNoGpuCanDrawIsADiscontinuity) {
  // The counter is 100 kJ too low for a second, then jumps up by that.
  Start(R"("faults": [{"kind": "counter_back", "by_j": 100000, "from_s": 500, "to_s": 501}])");
  Good(499);
  EXPECT_TRUE(Good(500).discontinuity);
  EXPECT_TRUE(Good(501).discontinuity);
  EXPECT_FALSE(Good(502).discontinuity);
}

TEST_F(NvmlDeviceTest, FrozenCounterIsGivenAsItIsWithThePowerBeside) {
  Start(R"("faults": [{"kind": "frozen_counter", "from_s": 5}])");
  Good(5);
  const auto later = Good(15);
  EXPECT_EQ(later.energy, Joules(1250));
  EXPECT_EQ(later.power, Watts(250));  // which is what unmasks it
  EXPECT_FALSE(later.discontinuity);
}

TEST_F(NvmlDeviceTest, DriverReloadIsSurvivedInOneReading) {
  Start("", R"("driver_reloads": [{"at_s": 5}], )");
  Good(4.9);
  const auto after = Good(5.1);
  EXPECT_TRUE(after.discontinuity);
  EXPECT_EQ(after.energy, Joules(25));
  EXPECT_EQ(after.power, Watts(250));
  EXPECT_FALSE(Good(6).discontinuity);
}

TEST_F(NvmlDeviceTest, DriverThatIsAwayForAWhileIsWaitedFor) {
  Start("", R"("driver_reloads": [{"at_s": 5, "down_s": 3}], )");
  Good(4);
  const auto error = Bad(5);
  EXPECT_EQ(error.code, Code::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("DRIVER_NOT_LOADED"));
  EXPECT_EQ(Bad(9).code,
            Code::kUnavailable);  // it is up, but the next attempt is due 10 s after the first
  EXPECT_THAT(Bad(9.1).message, HasSubstr("DRIVER_NOT_LOADED"));
  EXPECT_TRUE(Good(15).energy);
}

TEST_F(NvmlDeviceTest, ReloadIsMadeOnceForAllGpus) {
  fake_.Load(R"({"gpus": [{}, {}, {}]})");
  const auto found = OpenNvmlBackend({LOWTIDE_FAKE_NVML_LIBRARY})->Discover();
  ASSERT_EQ(found.devices.size(), 3U);
  for (int reload = 1; reload <= 3; ++reload) {
    fake_.SetTime(100.0 * reload);
    fake_.ReloadDriver();
    for (const auto& device : found.devices) {
      const auto reading = device->Read(At(100.0 * reload));
      ASSERT_TRUE(reading) << reading.error().message;
      EXPECT_EQ(reading->energy, Joules(0));
    }
    EXPECT_EQ(fake_.Inits(), 1U + static_cast<unsigned>(reload));
    // One new handle for each GPU and each generation.
    for (unsigned int g = 0; g < 3; ++g) {
      EXPECT_EQ(fake_.Calls(g, "nvmlDeviceGetHandleByUUID"), 1U + static_cast<unsigned>(reload));
    }
  }
}

TEST_F(NvmlDeviceTest, LimitsAndLimit) {
  Start(R"("default_limit_mw": 280000, "limit_mw": 200000)");
  const auto limits = Device().Limits();
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->min, Watts(100));
  EXPECT_EQ(limits->max, Watts(300));
  EXPECT_EQ(limits->preset, Watts(280));
  EXPECT_EQ(Device().Limit(), Watts(200));
  ASSERT_TRUE(Device().SetLimit(Watts(149.9996)));
  EXPECT_EQ(fake_.LimitMw(0), 150'000U);  // to the nearest mW
  fake_.SetTime(10);
  EXPECT_EQ(Device().Read(At(10))->power, Watts(150));
}

TEST_F(NvmlDeviceTest, LimitThatIsThereAlreadyIsNotSet) {
  Start();
  ASSERT_TRUE(Device().SetLimit(Watts(300)));
  EXPECT_EQ(fake_.Calls(0, "nvmlDeviceSetPowerManagementLimit"), 0U);
}

TEST_F(NvmlDeviceTest, LimitOutsideTheRangeIsRefusedWithTheRange) {
  Start();
  for (const double w : {99.0, 301.0, 0.0, -5.0, 1e12, std::nan("")}) {
    const auto status = Device().SetLimit(Watts(w));
    ASSERT_FALSE(status) << w;
    EXPECT_EQ(status.error().code, Code::kInvalidArgument);
    EXPECT_THAT(status.error().message, HasSubstr("range of 100 to 300 W"));
  }
  EXPECT_EQ(fake_.Calls(0, "nvmlDeviceSetPowerManagementLimit"), 0U);
}

TEST_F(NvmlDeviceTest, WithoutTheRightToSetItSaysWhatIsMissing) {
  Start(R"("may_set_limits": false)");
  const auto status = Device().SetLimit(Watts(200));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kPermissionDenied);
  EXPECT_THAT(status.error().message, HasSubstr("root, CAP_SYS_ADMIN or a running lowtide-powerd"));
  EXPECT_EQ(fake_.LimitMw(0), 300'000U);
  EXPECT_TRUE(Device().SetLimit(Watts(300)));  // nothing to do needs no right
}

TEST_F(NvmlDeviceTest, GpuWithoutLimitsSaysSo) {
  Start(R"("power_limits": false)");
  EXPECT_EQ(Device().Limits().error().code, Code::kUnimplemented);
  EXPECT_EQ(Device().Limit().error().code, Code::kUnimplemented);
  EXPECT_EQ(Device().SetLimit(Watts(200)).error().code, Code::kUnimplemented);
  EXPECT_TRUE(Device().Read(At(0)));
}

TEST_F(NvmlDeviceTest, SettingSurvivesADriverReload) {
  Start();
  fake_.ReloadDriver();
  ASSERT_TRUE(Device().SetLimit(Watts(175)));
  EXPECT_EQ(fake_.LimitMw(0), 175'000U);
}

TEST_F(NvmlDeviceTest, SetThatFailsIsAnErrorAndReadingBackShowsAMismatch) {
  Start(R"("faults": [{"kind": "UNKNOWN", "functions": ["nvmlDeviceSetPowerManagementLimit"],
      "to_call": 1}])");
  const auto failed = Device().SetLimit(Watts(200));
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("setting its power limit to 200 W: UNKNOWN"));
  Start(R"("ignores_limits": true)");
  const auto ignored = Device().SetLimit(Watts(200));
  ASSERT_FALSE(ignored);
  EXPECT_EQ(ignored.error().code, Code::kInternal);
  EXPECT_THAT(ignored.error().message, HasSubstr("set to 200 W, but the driver says it is 300 W"));
}

TEST_F(NvmlDeviceTest, ReadsOnOneThreadWhileAnotherSetsLimitsAndTheDriverReloads) {
  Start();
  std::atomic<bool> stop{false};
  std::atomic<int> good{0};
  std::thread reader([&] {
    for (int i = 0; !stop; ++i) {
      if (Device().Read(At(20.0 * i))) ++good;
    }
  });
  for (int i = 0; i < 300; ++i) {
    if (i % 100 == 50) fake_.ReloadDriver();
    EXPECT_TRUE(Device().SetLimit(Watts(100 + i % 200)));
    EXPECT_TRUE(Device().Limits());
  }
  while (good < 10) std::this_thread::yield();
  stop = true;
  reader.join();
  EXPECT_EQ(Device().Limit(), Watts(100 + 299 % 200));
}

}  // namespace
}  // namespace lowtide
