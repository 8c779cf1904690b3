#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "device/nvml/nvml_library.h"
#include "fakes/nvml/fake_nvml.h"
#include "scenario.h"

namespace lowtide::fake_nvml {
namespace {

using nvml::Return;

class FakeNvmlTest : public testing::Test {
 protected:
  void SetUp() override {
    auto library = NvmlLibrary::Open({LOWTIDE_FAKE_NVML_LIBRARY});
    ASSERT_TRUE(library) << library.error().message;
    nvml_ = *std::move(library);
  }
  nvml::Device Start(const std::string& scenario) {
    fake_.Load(scenario);
    EXPECT_EQ(nvml_->Init(), Return::kSuccess);
    return Handle(0);
  }
  nvml::Device Handle(unsigned int index) {
    nvml::Device device = nullptr;
    EXPECT_EQ(nvml_->HandleByIndex(index, device), Return::kSuccess);
    return device;
  }
  unsigned long long Counter(nvml::Device device) {
    unsigned long long mj = 0;
    EXPECT_EQ(nvml_->TotalEnergyMj(device, mj), Return::kSuccess);
    return mj;
  }

  FakeNvml fake_{LOWTIDE_FAKE_NVML_LIBRARY};
  std::unique_ptr<NvmlLibrary> nvml_;
};

TEST_F(FakeNvmlTest, LimitCapsTheDrawAndTheTrueEnergyFollows) {
  const auto gpu = Start(R"({"gpus": [{"demand": 250, "counter_period_s": 0.1}]})");
  fake_.SetTime(10.05);
  EXPECT_NEAR(fake_.TrueEnergyMj(0), 2512500, 1e-3);
  EXPECT_EQ(Counter(gpu), 2500000U);  // of the last tick
  ASSERT_EQ(nvml_->SetPowerLimitMw(gpu, 150'000), Return::kSuccess);
  // The tick before the change is still the one shown.
  EXPECT_EQ(Counter(gpu), 2500000U);
  fake_.SetTime(20.05);
  EXPECT_NEAR(fake_.TrueEnergyMj(0), 2512500 + 1500000, 1e-3);
  EXPECT_EQ(Counter(gpu), 2512500U + 1492500U);
  fake_.SetBusy(0, false);
  fake_.SetTime(30.05);
  EXPECT_NEAR(fake_.TrueEnergyMj(0), 4012500 + 250000, 1e-3);
}

TEST_F(FakeNvmlTest, IsAsStrictAsNvml) {
  unsigned int value = 0;
  unsigned long long energy = 0;
  fake_.Load(R"({"gpus": [{}, {"may_set_limits": false}]})");
  nvml::Device device = nullptr;
  EXPECT_EQ(nvml_->Count(value), Return::kUninitialized);
  EXPECT_EQ(nvml_->Shutdown(), Return::kUninitialized);
  ASSERT_EQ(nvml_->Init(), Return::kSuccess);
  ASSERT_EQ(nvml_->Init(), Return::kSuccess);
  EXPECT_EQ(nvml_->HandleByIndex(2, device), Return::kInvalidArgument);
  EXPECT_EQ(nvml_->HandleByUuid("GPU-none", device), Return::kNotFound);
  EXPECT_EQ(nvml_->TotalEnergyMj(nullptr, energy), Return::kInvalidArgument);
  EXPECT_EQ(nvml_->TotalEnergyMj(reinterpret_cast<nvml::Device>(&value), energy),
            Return::kInvalidArgument);
  const auto gpu = Handle(0);
  EXPECT_EQ(nvml_->SetPowerLimitMw(gpu, 99'999), Return::kInvalidArgument);
  EXPECT_EQ(nvml_->SetPowerLimitMw(gpu, 300'001), Return::kInvalidArgument);
  EXPECT_EQ(nvml_->SetPowerLimitMw(Handle(1), 200'000), Return::kNoPermission);
  nvml::FieldValue field{};
  field.field_id = 9999;
  EXPECT_EQ(nvml_->FieldValues(gpu, 1, &field), Return::kSuccess);
  EXPECT_EQ(field.result, Return::kInvalidArgument);
  EXPECT_EQ(nvml_->FieldValues(gpu, 0, &field), Return::kInvalidArgument);
  // Counts: still usable after the first of two shutdowns, not after the second.
  EXPECT_EQ(nvml_->Shutdown(), Return::kSuccess);
  EXPECT_EQ(nvml_->PowerLimitMw(gpu, value), Return::kSuccess);
  EXPECT_EQ(nvml_->Shutdown(), Return::kSuccess);
  EXPECT_EQ(nvml_->PowerLimitMw(gpu, value), Return::kUninitialized);
  ASSERT_EQ(nvml_->Init(), Return::kSuccess);
  EXPECT_EQ(nvml_->PowerLimitMw(gpu, value), Return::kInvalidArgument);  // a stale handle
}

TEST_F(FakeNvmlTest, FaultsComeByTimeAndByCall) {
  const auto gpu = Start(R"({"gpus": [{"faults": [
      {"kind": "GPU_IS_LOST", "from_s": 5, "to_s": 8},
      {"kind": "TIMEOUT", "functions": ["nvmlDeviceGetPowerUsage"], "from_call": 2, "to_call": 3}
      ]}]})");
  unsigned int mw = 0;
  unsigned long long mj = 0;
  EXPECT_EQ(nvml_->PowerUsageMw(gpu, mw), Return::kSuccess);
  EXPECT_EQ(nvml_->PowerUsageMw(gpu, mw), Return::kTimeout);
  EXPECT_EQ(nvml_->TotalEnergyMj(gpu, mj), Return::kSuccess);
  EXPECT_EQ(nvml_->PowerUsageMw(gpu, mw), Return::kTimeout);
  EXPECT_EQ(nvml_->PowerUsageMw(gpu, mw), Return::kSuccess);
  EXPECT_EQ(fake_.Calls(0, "nvmlDeviceGetPowerUsage"), 4U);
  fake_.SetTime(5);
  EXPECT_EQ(nvml_->TotalEnergyMj(gpu, mj), Return::kGpuIsLost);
  fake_.SetTime(8);
  EXPECT_EQ(nvml_->TotalEnergyMj(gpu, mj), Return::kSuccess);
}

TEST_F(FakeNvmlTest, CounterFreezesGoesBackAndResets) {
  const auto gpu = Start(R"({"gpus": [{"demand": 100, "faults": [
      {"kind": "frozen_counter", "from_s": 10, "to_s": 20},
      {"kind": "counter_back", "by_j": 50, "from_s": 30},
      {"kind": "counter_reset", "from_s": 40}]}]})");
  fake_.SetTime(15);
  EXPECT_EQ(Counter(gpu), 1000000U);
  fake_.SetTime(20);
  EXPECT_EQ(Counter(gpu), 2000000U);
  fake_.SetTime(30);
  EXPECT_EQ(Counter(gpu), 2950000U);
  fake_.SetTime(41);
  EXPECT_EQ(Counter(gpu), 50000U);
}

TEST_F(FakeNvmlTest, PowerUsageAveragesWhereInstantPowerDoesNot) {
  const auto gpu = Start(R"({"gpus": [{"power_usage_window_s": 1, "power_period_s": 0.02,
      "demand": {"law": "segments", "repeat": false,
                 "segments": [{"duration_s": 10, "w": 100}, {"duration_s": 10, "w": 300}]}}]})");
  fake_.SetTime(10.5);
  unsigned int mw = 0;
  ASSERT_EQ(nvml_->PowerUsageMw(gpu, mw), Return::kSuccess);
  EXPECT_EQ(mw, 200'000U);
  nvml::FieldValue field{};
  field.field_id = nvml::kFieldPowerInstant;
  ASSERT_EQ(nvml_->FieldValues(gpu, 1, &field), Return::kSuccess);
  EXPECT_EQ(field.value.ui, 300'000U);
}

TEST_F(FakeNvmlTest, NoiseHasNoBiasAndTheStatedSpread) {
  const auto gpu = Start(R"({"gpus": [{"demand": 200, "power_noise_w": 10, "noise_seed": 7}]})");
  double sum = 0;
  double squares = 0;
  const int n = 5000;
  for (int i = 0; i < n; ++i) {
    fake_.SetTime(0.02 * i);
    unsigned int mw = 0;
    ASSERT_EQ(nvml_->PowerUsageMw(gpu, mw), Return::kSuccess);
    sum += mw / 1000.0 - 200;
    squares += (mw / 1000.0 - 200) * (mw / 1000.0 - 200);
  }
  EXPECT_NEAR(sum / n, 0, 0.5);
  EXPECT_NEAR(squares / n, 100, 8);
}

TEST(FakeNvmlScenario, ErrorsNameTheGpuAndTheKey) {
  const auto message = [](const char* text) {
    const auto s = ParseScenario(text, "s.json");
    return s ? std::string() : s.error().message;
  };
  EXPECT_EQ(message(R"({"gpus": [{}]})"), "");
  EXPECT_THAT(message(R"({"gpus": [{}, {"idle": 3}]})"),
              testing::HasSubstr("gpus[1]: unknown key idle"));
  EXPECT_THAT(message(R"({"gpus": [{"faults": [{"kind": "LOST"}]}]})"),
              testing::HasSubstr("kind LOST is neither"));
  EXPECT_THAT(message(R"({"gpus": [{"min_limit_mw": 400000}]})"), testing::HasSubstr("min <="));
  EXPECT_THAT(message(R"({"gpus": [{"demand": {"law": "segments"}}]})"),
              testing::HasSubstr("segments is empty"));
  EXPECT_THAT(message("{"), testing::HasSubstr("s.json"));
}

// Runs the tool and gives its standard output; -1 in `code` where it cannot be run.
std::string Ctl(const std::string& arguments, int* code = nullptr) {
  FILE* pipe = popen((std::string(LOWTIDE_FAKE_NVML_CTL) + " " + arguments).c_str(), "r");
  std::string out;
  std::array<char, 256> buffer{};
  while (pipe != nullptr && fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
    out += buffer.data();
  }
  const int status = pipe == nullptr ? -1 : pclose(pipe);
  if (code != nullptr) *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return out;
}

TEST(FakeNvmlShared, ProcessesShareLimitsEnergyAndTimeAlsoAfterAKill) {
  std::string folder = testing::TempDir() + "fake_nvml_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto scenario = folder + "/scenario.json";
  const auto state = folder + "/state";
  ASSERT_TRUE(WriteFileDurably(scenario, R"({"gpus": [{"demand": 200}, {"demand": 216}]})"));
  setenv("LOWTIDE_FAKE_NVML", scenario.c_str(), 1);
  setenv("LOWTIDE_FAKE_NVML_STATE", state.c_str(), 1);
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto library = NvmlLibrary::Open({LOWTIDE_FAKE_NVML_LIBRARY});
    nvml::Device device = nullptr;
    bool good = library && (*library)->Init() == Return::kSuccess &&
                (*library)->HandleByIndex(1, device) == Return::kSuccess &&
                (*library)->SetPowerLimitMw(device, 125'000) == Return::kSuccess;
    const char answer = good ? 'y' : 'n';
    if (write(ready[1], &answer, 1) != 1) _exit(1);
    // Keeps taking the lock until it is killed.
    unsigned int mw = 0;
    for (;;) (*library)->PowerLimitMw(device, mw);
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);

  EXPECT_EQ(Ctl("limits"), "300000\n125000\n");
  EXPECT_NEAR(std::stod(Ctl("relative-speed 1")), std::cbrt(125.0 / 216.0), 1e-5);
  EXPECT_EQ(Ctl("relative-speed 0"), "1.000000\n");
  const double before = std::stod(Ctl("true-energy"));
  EXPECT_GT(before, 0);
  Ctl("set-limit 1 250000");
  EXPECT_EQ(Ctl("limits"), "300000\n250000\n");
  EXPECT_GT(std::stod(Ctl("true-energy")), before);
  int code = 0;
  Ctl("set-limit 1 5 2>&1", &code);
  EXPECT_EQ(code, 2);
  EXPECT_EQ(Ctl("limits"), "300000\n250000\n");
  unsetenv("LOWTIDE_FAKE_NVML");
  unsetenv("LOWTIDE_FAKE_NVML_STATE");
  std::filesystem::remove_all(folder);
}

TEST(FakeNvmlShared, WithoutAScenarioThereIsNoDriver) {
  unsetenv("LOWTIDE_FAKE_NVML");
  auto library = NvmlLibrary::Open({LOWTIDE_FAKE_NVML_LIBRARY});
  ASSERT_TRUE(library);
  EXPECT_EQ((*library)->Init(), Return::kDriverNotLoaded);
}

}  // namespace
}  // namespace lowtide::fake_nvml
