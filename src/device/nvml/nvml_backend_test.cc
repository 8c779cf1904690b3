#include "device/nvml/nvml_backend.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fakes/nvml/fake_nvml.h"

namespace lowtide {
namespace {

using fake_nvml::FakeNvml;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class NvmlBackendTest : public testing::Test {
 protected:
  Discovery Discover(const std::string& scenario) {
    fake_.Load(scenario);
    return backend_->Discover();
  }

  FakeNvml fake_{LOWTIDE_FAKE_NVML_LIBRARY};
  std::unique_ptr<NvmlBackend> backend_ = OpenNvmlBackend({LOWTIDE_FAKE_NVML_LIBRARY});
};

TEST(NvmlBackendMissing, LibraryMissingIsOneProblemWithARemedy) {
  const auto found = OpenNvmlBackend({"/nonexistent/libnvidia-ml.so.1"})->Discover();
  EXPECT_THAT(found.devices, IsEmpty());
  ASSERT_THAT(found.problems, SizeIs(1));
  EXPECT_EQ(found.problems[0].name, "NVML");
  EXPECT_EQ(found.problems[0].kind, DeviceKind::kGpu);
  EXPECT_EQ(found.problems[0].error.code, Code::kUnavailable);
  EXPECT_THAT(found.problems[0].error.message, HasSubstr("/nonexistent/libnvidia-ml.so.1"));
  EXPECT_THAT(found.problems[0].remedy, HasSubstr("install its driver"));
}

TEST(NvmlBackendMissing, LibraryWithoutRequiredFunctionsNamesThem) {
  const auto found = OpenNvmlBackend({LOWTIDE_FAKE_NVML_BROKEN_LIBRARY})->Discover();
  EXPECT_THAT(found.devices, IsEmpty());
  ASSERT_THAT(found.problems, SizeIs(1));
  EXPECT_EQ(found.problems[0].error.code, Code::kUnimplemented);
  EXPECT_THAT(found.problems[0].error.message, HasSubstr("nvmlDeviceGetCount_v2"));
  EXPECT_THAT(found.problems[0].error.message, Not(HasSubstr("nvmlInit")));
  EXPECT_THAT(found.problems[0].remedy, HasSubstr("update the NVIDIA driver"));
}

TEST(NvmlBackendMissing, OldLibraryMeasuresByPowerAlone) {
  FakeNvml fake(LOWTIDE_FAKE_NVML_OLD_LIBRARY);
  fake.Load(R"({"driver_version": "304.137", "gpus": [{"name": "Tesla K20", "demand": 180}]})");
  auto backend = OpenNvmlBackend({LOWTIDE_FAKE_NVML_OLD_LIBRARY});
  auto found = backend->Discover();
  EXPECT_THAT(found.problems, IsEmpty());
  ASSERT_THAT(found.devices, SizeIs(1));
  EXPECT_EQ(found.devices[0]->Info().driver, "304.137");
  EXPECT_EQ(backend->Gpus()[0].pci_bus_id, "0000:10:00.0");
  const auto reading = found.devices[0]->Read(MonoTime{});
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_FALSE(reading->energy);
  EXPECT_EQ(reading->power, Watts(180));
  // Without nvmlDeviceGetHandleByUUID a reload is survived too.
  fake.ReloadDriver();
  const auto after = found.devices[0]->Read(MonoTime{});
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->power, Watts(180));
}

TEST_F(NvmlBackendTest, StatesOfTheDriverAreNamed) {
  struct Case {
    const char* state;
    Code code;
    const char* remedy;
  };
  for (const auto& [state, code, remedy] :
       {Case{"DRIVER_NOT_LOADED", Code::kUnavailable, "modprobe nvidia"},
        Case{"LIB_RM_VERSION_MISMATCH", Code::kUnavailable, "reboot"},
        Case{"NO_PERMISSION", Code::kPermissionDenied, "/dev/nvidiactl"},
        Case{"UNKNOWN", Code::kUnavailable, "Xid"}}) {
    const auto found = Discover(fmt::format(R"({{"init_error": "{}", "gpus": [{{}}]}})", state));
    EXPECT_THAT(found.devices, IsEmpty());
    ASSERT_THAT(found.problems, SizeIs(1)) << state;
    EXPECT_EQ(found.problems[0].error.code, code) << state;
    EXPECT_THAT(found.problems[0].error.message, HasSubstr(state));
    EXPECT_THAT(found.problems[0].remedy, HasSubstr(remedy)) << state;
  }
  // The driver comes up: the same backend finds the GPU.
  EXPECT_THAT(Discover(R"({"gpus": [{}]})").devices, SizeIs(1));
}

TEST_F(NvmlBackendTest, CountThatFailsAndNoGpuAreProblems) {
  auto found = Discover(R"({"count_error": "UNKNOWN", "gpus": [{}]})");
  EXPECT_THAT(found.devices, IsEmpty());
  ASSERT_THAT(found.problems, SizeIs(1));
  EXPECT_THAT(found.problems[0].error.message, HasSubstr("counting the GPUs: UNKNOWN"));
}

TEST_F(NvmlBackendTest, DriverWithoutGpuIsAProblem) {
  const auto found = Discover(R"({"gpus": []})");
  ASSERT_THAT(found.problems, SizeIs(1));
  EXPECT_EQ(found.problems[0].error.code, Code::kNotFound);
}

TEST_F(NvmlBackendTest, OneTwoAndEightGpusWithTheirNames) {
  for (const std::size_t n : {1U, 2U, 8U}) {
    std::string gpus;
    for (std::size_t i = 0; i < n; ++i) {
      gpus += fmt::format(R"({}{{"name": "NVIDIA H100", "uuid": "GPU-{}", "demand": {}}})",
                          i == 0 ? "" : ",", i, 100 + 10 * i);
    }
    backend_ = OpenNvmlBackend({LOWTIDE_FAKE_NVML_LIBRARY});
    const auto found = Discover(fmt::format(R"({{"gpus": [{}]}})", gpus));
    EXPECT_THAT(found.problems, IsEmpty());
    ASSERT_THAT(found.devices, SizeIs(n));
    ASSERT_THAT(backend_->Gpus(), SizeIs(n));
    fake_.SetTime(10);
    for (std::size_t i = 0; i < n; ++i) {
      const auto& info = found.devices[i]->Info();
      EXPECT_EQ(info.kind, DeviceKind::kGpu);
      EXPECT_EQ(info.name, "NVIDIA H100");
      EXPECT_EQ(info.uuid, fmt::format("GPU-{}", i));
      EXPECT_EQ(info.backend, "nvml");
      EXPECT_EQ(info.driver, "550.54.15");
      EXPECT_EQ(info.provenance, Provenance::kMeasured);
      EXPECT_FALSE(info.shared);
      EXPECT_FALSE(info.whole_host);
      EXPECT_EQ(info.note, "");
      EXPECT_EQ(backend_->Gpus()[i].index, i);
      EXPECT_EQ(backend_->Gpus()[i].pci_bus_id, fmt::format("00000000:{:02X}:00.0", 0x10 + i));
      const auto reading = found.devices[i]->Read(MonoTime{});
      ASSERT_TRUE(reading) << reading.error().message;
      EXPECT_EQ(reading->power, Watts(100.0 + 10.0 * static_cast<double>(i)));
      EXPECT_EQ(reading->energy, Joules(1000.0 + 100.0 * static_cast<double>(i)));
    }
  }
}

TEST_F(NvmlBackendTest, BadGpusAmongGoodOnesHideNothing) {
  const auto found = Discover(R"({"gpus": [
      {"uuid": "GPU-good0"},
      {"uuid": "GPU-lost", "faults": [{"kind": "GPU_IS_LOST"}]},
      {"uuid": "GPU-denied", "faults": [{"kind": "NO_PERMISSION"}]},
      {"uuid": "GPU-mute", "energy_counter": false, "power_reading": false, "instant_power": false},
      {"uuid": "GPU-sick", "faults": [{"kind": "RESET_REQUIRED", "functions":
          ["nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetFieldValues"]}]},
      {"uuid": "GPU-good5"}]})");
  std::vector<std::string> uuids;
  for (const auto& d : found.devices) uuids.push_back(d->Info().uuid);
  // The one that must be reset may be read again one day: it stays, and says why not now.
  EXPECT_THAT(uuids, testing::ElementsAre("GPU-good0", "GPU-sick", "GPU-good5"));
  ASSERT_THAT(found.problems, SizeIs(4));
  EXPECT_EQ(found.problems[0].name, "GPU 1");
  EXPECT_EQ(found.problems[0].error.code, Code::kUnavailable);
  EXPECT_THAT(found.problems[0].error.message, HasSubstr("GPU 1: GPU_IS_LOST (GPU is lost)"));
  EXPECT_EQ(found.problems[1].name, "GPU 2");
  EXPECT_EQ(found.problems[1].error.code, Code::kPermissionDenied);
  EXPECT_THAT(found.problems[1].remedy, HasSubstr("/dev/nvidia"));
  EXPECT_EQ(found.problems[2].name, "GPU 3");
  EXPECT_EQ(found.problems[2].error.code, Code::kUnimplemented);
  EXPECT_EQ(found.problems[3].name, "GPU 4");
  EXPECT_THAT(found.problems[3].error.message, HasSubstr("RESET_REQUIRED"));
  EXPECT_THAT(found.problems[3].remedy, HasSubstr("nvidia-smi --gpu-reset"));
  // All six are there to be named.
  ASSERT_THAT(backend_->Gpus(), SizeIs(6));
  EXPECT_EQ(backend_->Gpus()[1].uuid, "");
  EXPECT_EQ(backend_->Gpus()[3].uuid, "GPU-mute");
}

TEST_F(NvmlBackendTest, MigIsMeasuredAsAWholeAndListed) {
  const auto found = Discover(R"({"gpus": [{"name": "NVIDIA A100", "mig": {"enabled": true,
      "instances": [{"uuid": "MIG-aaaa", "gpu_instance": 7, "compute_instance": 0},
                    {"uuid": "MIG-bbbb", "gpu_instance": 8, "compute_instance": 1}]}},
      {"mig": {"enabled": false}}]})");
  EXPECT_THAT(found.problems, IsEmpty());
  ASSERT_THAT(found.devices, SizeIs(2));
  EXPECT_TRUE(found.devices[0]->Info().shared);
  EXPECT_EQ(found.devices[0]->Info().note, "MIG is on (2 instances): the whole GPU is measured");
  EXPECT_FALSE(found.devices[1]->Info().shared);
  const auto& gpu = backend_->Gpus()[0];
  EXPECT_TRUE(gpu.mig_enabled);
  ASSERT_THAT(gpu.mig, SizeIs(2));
  EXPECT_EQ(gpu.mig[1].uuid, "MIG-bbbb");
  EXPECT_EQ(gpu.mig[1].gpu_instance, 8U);
  EXPECT_EQ(gpu.mig[1].compute_instance, 1U);
  EXPECT_FALSE(backend_->Gpus()[1].mig_enabled);
  EXPECT_TRUE(found.devices[0]->Read(MonoTime{}));
}

TEST_F(NvmlBackendTest, GpuInUseIsShared) {
  const auto found =
      Discover(R"({"gpus": [{"compute_processes": 2}, {"compute_processes": 1}, {}]})");
  ASSERT_THAT(found.devices, SizeIs(3));
  EXPECT_TRUE(found.devices[0]->Info().shared);
  EXPECT_EQ(found.devices[0]->Info().note, "2 processes use it already: the whole GPU is measured");
  EXPECT_EQ(found.devices[1]->Info().note, "1 process uses it already: the whole GPU is measured");
  EXPECT_FALSE(found.devices[2]->Info().shared);
}

TEST_F(NvmlBackendTest, DevicesOutliveTheBackend) {
  auto found = Discover(R"({"gpus": [{}]})");
  backend_.reset();
  ASSERT_THAT(found.devices, SizeIs(1));
  EXPECT_TRUE(found.devices[0]->Read(MonoTime{}));
  EXPECT_TRUE(found.devices[0]->SetLimit(Watts(200)));
  EXPECT_EQ(fake_.LimitMw(0), 200'000U);
}

TEST_F(NvmlBackendTest, DiscoveryIsFromTheDriverThatIsThereNow) {
  EXPECT_THAT(Discover(R"({"gpus": [{}]})").devices, SizeIs(1));
  fake_.ReloadDriver();
  const auto again = backend_->Discover();
  EXPECT_THAT(again.problems, IsEmpty());
  EXPECT_THAT(again.devices, SizeIs(1));
}

TEST(NvmlStates, EveryStateHasANameAndACodeThatIsNotSuccess) {
  EXPECT_EQ(NvmlReturnName(nvml::Return::kGpuIsLost), "GPU_IS_LOST");
  EXPECT_EQ(NvmlReturnName(static_cast<nvml::Return>(77)), "code 77");
  EXPECT_EQ(NvmlCode(nvml::Return::kNoPermission), Code::kPermissionDenied);
  EXPECT_EQ(NvmlCode(nvml::Return::kNotSupported), Code::kUnimplemented);
  EXPECT_EQ(NvmlCode(nvml::Return::kFunctionNotFound), Code::kUnimplemented);
  for (const auto r : {nvml::Return::kGpuIsLost, nvml::Return::kResetRequired,
                       nvml::Return::kUnknown, nvml::Return::kUninitialized}) {
    EXPECT_EQ(NvmlCode(r), Code::kUnavailable) << NvmlReturnName(r);
  }
  EXPECT_EQ(NvmlCode(static_cast<nvml::Return>(77)), Code::kUnavailable);
}

}  // namespace
}  // namespace lowtide
