#include "device/meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>

namespace lowtide {
namespace {

using ::testing::HasSubstr;

// Draws what it is told; fails when told to; hangs when told to.
class ScriptedDevice final : public PowerDevice {
 public:
  ScriptedDevice() { info_.name = "scripted"; }

  const DeviceInfo& Info() const override { return info_; }
  Result<Reading> Read(MonoTime now) override {
    ++reads;
    if (hang) {
      std::unique_lock lock(mutex_);
      released_.wait(lock, [this] { return !hang.load(); });
    }
    if (lost) return Fail(Code::kUnavailable, "GPU is lost");
    const double t = ToSeconds(now.time_since_epoch()).count();
    return Reading{now, Joules(watts * t), std::nullopt, false};
  }
  Result<PowerLimits> Limits() override { return Fail(Code::kUnimplemented, "no limit"); }
  Result<Watts> Limit() override { return Fail(Code::kUnimplemented, "no limit"); }
  Status SetLimit(Watts /*limit*/) override { return Fail(Code::kUnimplemented, "no limit"); }

  void Release() {
    {
      const std::scoped_lock lock(mutex_);
      hang = false;
    }
    released_.notify_all();
  }

  std::atomic<int> reads{0};
  std::atomic<bool> lost{false};
  std::atomic<bool> hang{false};
  double watts = 100;
  DeviceInfo info_;

 private:
  std::mutex mutex_;
  std::condition_variable released_;
};

class MeterTest : public ::testing::Test {
 protected:
  SimulatedClock clock_{TimePoint{}};
  ScriptedDevice device_;
  ScriptedDevice other_;
};

TEST_F(MeterTest, EnergyOfEveryIntervalIsHandedOnOnce) {
  Meter meter(clock_, {&device_, &other_}, {});
  ASSERT_TRUE(meter.Start());
  clock_.Advance(Seconds(2));
  ASSERT_TRUE(meter.Sample());
  clock_.Advance(Seconds(1));
  ASSERT_TRUE(meter.Sample());
  double joules[2] = {0, 0};
  for (const auto& i : meter.Drain().intervals) joules[i.device] += i.interval.energy.v;
  EXPECT_DOUBLE_EQ(joules[0], 300);
  EXPECT_DOUBLE_EQ(joules[1], 300);
  EXPECT_TRUE(meter.Drain().intervals.empty());
  EXPECT_TRUE(meter.Stop());
  EXPECT_DOUBLE_EQ(meter.Readings()[0].energy.v, 300);
}

TEST_F(MeterTest, TicksByItself) {
  Meter meter(clock_, {&device_}, {});
  ASSERT_TRUE(meter.Start());
  const int before = device_.reads;
  for (int i = 0; i < 200 && device_.reads < before + 3; ++i) {
    clock_.Advance(Seconds(0.1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GE(device_.reads, before + 3);
  EXPECT_TRUE(meter.Stop());
}

TEST_F(MeterTest, ALostDeviceIsAStateAndItsNeighbourGoesOn) {
  Meter meter(clock_, {&device_, &other_}, {});
  ASSERT_TRUE(meter.Start());
  device_.lost = true;
  clock_.Advance(Seconds(0.5));
  ASSERT_TRUE(meter.Sample());
  auto drained = meter.Drain();
  ASSERT_EQ(drained.notices.size(), 1U);
  EXPECT_EQ(drained.notices[0].device, 0U);
  EXPECT_THAT(drained.notices[0].message, HasSubstr("lost"));
  ASSERT_EQ(drained.intervals.size(), 1U);
  EXPECT_EQ(drained.intervals[0].device, 1U);
  EXPECT_TRUE(meter.Readings()[0].trouble);

  clock_.Advance(Seconds(0.5));
  ASSERT_TRUE(meter.Sample());
  EXPECT_TRUE(meter.Drain().notices.empty()) << "told once, not at every tick";

  device_.lost = false;
  clock_.Advance(Seconds(0.5));
  ASSERT_TRUE(meter.Sample());
  drained = meter.Drain();
  ASSERT_EQ(drained.notices.size(), 1U);
  EXPECT_THAT(drained.notices[0].message, HasSubstr("again"));
  EXPECT_FALSE(meter.Readings()[0].trouble);
  EXPECT_TRUE(meter.Stop());
  EXPECT_DOUBLE_EQ(meter.Readings()[0].energy.v, 150) << "the counter covers the absence";
}

TEST_F(MeterTest, ADeviceLostToTheEndLeavesAGap) {
  Meter meter(clock_, {&device_}, {});
  ASSERT_TRUE(meter.Start());
  clock_.Advance(Seconds(1));
  ASSERT_TRUE(meter.Sample());
  device_.lost = true;
  clock_.Advance(Seconds(9));
  EXPECT_TRUE(meter.Stop());
  EXPECT_DOUBLE_EQ(meter.Readings()[0].energy.v, 100);
  EXPECT_DOUBLE_EQ(meter.Readings()[0].gaps.count(), 9);
}

// Counts what is asked of it; its counter starts anew when told to.
class CountingDevice final : public PowerDevice {
 public:
  const DeviceInfo& Info() const override { return info_; }
  Result<Reading> Read(MonoTime now) override {
    ++with_power;
    auto reading = ReadEnergy(now);
    reading->power = Watts(100);
    return reading;
  }
  Result<Reading> ReadEnergy(MonoTime now) override {
    const double t = ToSeconds(now.time_since_epoch()).count();
    return Reading{now, Joules(100 * t - base_j_), std::nullopt, std::exchange(anew_, false)};
  }
  Result<PowerLimits> Limits() override { return Fail(Code::kUnimplemented, "no limit"); }
  Result<Watts> Limit() override { return Fail(Code::kUnimplemented, "no limit"); }
  Status SetLimit(Watts /*limit*/) override { return Fail(Code::kUnimplemented, "no limit"); }
  void StartAnew(double t) {
    base_j_ = 100 * t;
    anew_ = true;
  }

  int with_power = 0;

 private:
  DeviceInfo info_;
  double base_j_ = 0;
  bool anew_ = false;
};

TEST_F(MeterTest, ACounterResetWhilePowerIsNotReadLeavesNoGap) {
  CountingDevice device;
  Meter meter(clock_, {&device}, {Seconds(3600), {}});
  ASSERT_TRUE(meter.Start());
  const auto tick = [&] {
    clock_.Advance(Seconds(0.1));
    ASSERT_TRUE(meter.Sample());
  };
  for (int i = 0; i < 100; ++i) tick();
  const int before = device.with_power;
  device.StartAnew(10.05);
  tick();
  EXPECT_EQ(device.with_power, before + 1);
  for (int i = 0; i < 20; ++i) tick();
  ASSERT_TRUE(meter.Stop());
  const MeterReading reading = meter.Readings()[0];
  EXPECT_EQ(reading.resets, 1);
  EXPECT_NEAR(reading.energy.v, 1210, 1e-6);
  EXPECT_EQ(reading.gaps, Seconds(0));
}

TEST_F(MeterTest, ASuspendIsAGap) {
  Meter meter(clock_, {&device_}, {});
  ASSERT_TRUE(meter.Start());
  clock_.Suspend(Seconds(3600));
  clock_.Advance(Seconds(0.1));
  ASSERT_TRUE(meter.Sample());
  clock_.Advance(Seconds(1));
  EXPECT_TRUE(meter.Stop());
  EXPECT_NEAR(meter.Readings()[0].energy.v, 100, 1e-9);
  EXPECT_NEAR(meter.Readings()[0].gaps.count(), 0.1, 1e-9);
}

TEST_F(MeterTest, SlowDevicesArePolledLessOften) {
  device_.info_.min_poll_period = std::chrono::seconds(1);
  Meter meter(clock_, {&device_, &other_}, {});
  ASSERT_TRUE(meter.Start());
  const int before = device_.reads;
  const int other_before = other_.reads;
  for (int i = 0; i < 500 && other_.reads < other_before + 5; ++i) {
    clock_.Advance(Seconds(0.1));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (i == 5) break;
  }
  EXPECT_LE(device_.reads, before + 1);
  ASSERT_TRUE(meter.Sample());
  EXPECT_GE(device_.reads, before + 1) << "a boundary reads every device";
  EXPECT_TRUE(meter.Stop());
}

TEST_F(MeterTest, AHangingDriverHangsNobodyElse) {
  Meter meter(clock_, {&device_}, {});
  ASSERT_TRUE(meter.Start());
  device_.hang = true;
  EXPECT_FALSE(meter.Sample(Seconds(0.05)));
  EXPECT_FALSE(meter.Stop(Seconds(0.05)));
  device_.Release();
  // The abandoned thread ends by itself; give it the time to before the device goes away.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

}  // namespace
}  // namespace lowtide
