#include "device/patient_device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace lowtide {
namespace {

// Answers at once, or not before it is let go.
class HangingDevice final : public PowerDevice {
 public:
  HangingDevice() { info_.name = "NVIDIA A40"; }
  const DeviceInfo& Info() const override { return info_; }
  Result<Reading> Read(MonoTime now) override { return Reading{now, {}, Watts(1), false}; }
  Result<PowerLimits> Limits() override { return PowerLimits{Watts(100), Watts(300), Watts(300)}; }
  Result<Watts> Limit() override { return limit.load(); }
  Status SetLimit(Watts watts) override {
    while (hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    limit = watts;
    return {};
  }

  std::atomic<bool> hangs{false};
  std::atomic<Watts> limit{Watts(300)};

 private:
  DeviceInfo info_;
};

TEST(PatientDeviceTest, PassesCallsAndAnswersOn) {
  HangingDevice inner;
  PatientDevice device(inner, Seconds(5));
  EXPECT_TRUE(device.SetLimit(Watts(200)));
  EXPECT_EQ(device.Limit()->v, 200);
  EXPECT_EQ(device.Limits()->max.v, 300);
  EXPECT_FALSE(device.Hangs());
}

TEST(PatientDeviceTest, GivesUpACallThatHangsAndRefusesOthersUntilItIsBack) {
  HangingDevice inner;
  inner.hangs = true;
  PatientDevice device(inner, Seconds(0.05));
  const auto status = device.SetLimit(Watts(200));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kDeadlineExceeded);
  EXPECT_NE(status.error().message.find("NVIDIA A40"), std::string::npos);
  EXPECT_TRUE(device.Hangs());
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_FALSE(device.Limit());
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(40));

  inner.hangs = false;
  while (device.Hangs()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(device.Limit()->v, 200);
}

class SlowBackend final : public DeviceBackend {
 public:
  explicit SlowBackend(std::chrono::milliseconds takes) : takes_(takes) {}
  std::string_view Name() const override { return "slow"; }
  Discovery Discover() override {
    std::this_thread::sleep_for(takes_);
    Discovery discovery;
    discovery.devices.push_back(std::make_unique<HangingDevice>());
    return discovery;
  }

 private:
  std::chrono::milliseconds takes_;
};

TEST(DiscoverWithinTest, WaitsForAnAnswerButNotForEver) {
  const auto quick = std::make_shared<SlowBackend>(std::chrono::milliseconds(0));
  const auto found = DiscoverWithin(quick, Seconds(5));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->devices.size(), 1U);
  const auto slow = std::make_shared<SlowBackend>(std::chrono::milliseconds(300));
  EXPECT_FALSE(DiscoverWithin(slow, Seconds(0.02)));
  std::this_thread::sleep_for(std::chrono::milliseconds(400));  // its thread ends before the test
}

}  // namespace
}  // namespace lowtide
