#include "device/visible_devices.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace lowtide {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

GpuIdentity Gpu(unsigned int index, std::string uuid, std::string name = "NVIDIA A100") {
  GpuIdentity gpu;
  gpu.index = index;
  gpu.uuid = std::move(uuid);
  gpu.name = std::move(name);
  gpu.pci_bus_id = fmt::format("00000000:{:02X}:00.0", 0x17 + index);
  return gpu;
}

// Four GPUs; the third has MIG on, with two instances.
std::vector<GpuIdentity> Four() {
  std::vector<GpuIdentity> gpus = {Gpu(0, "GPU-265c1111-aaaa"), Gpu(1, "GPU-265c2222-bbbb"),
                                   Gpu(2, "GPU-8932f937-cccc"), Gpu(3, "GPU-f0000000-dddd")};
  gpus[2].mig_enabled = true;
  gpus[2].mig = {{"MIG-11111111-aaaa", 1, 0}, {"MIG-22222222-bbbb", 2, 0}};
  return gpus;
}

std::vector<std::size_t> Positions(const GpuSelection& s) {
  std::vector<std::size_t> out;
  for (const auto& gpu : s.gpus) out.push_back(gpu.position);
  return out;
}

std::string OptionError(const std::string& text, const std::vector<GpuIdentity>& gpus = Four()) {
  VisibleDevicesRequest request;
  request.gpus_option = text;
  const auto s = SelectGpus(gpus, request);
  EXPECT_FALSE(s) << text;
  if (s) return "";
  EXPECT_EQ(s.error().code, Code::kInvalidArgument);
  return s.error().message;
}

GpuSelection Option(const std::string& text, const std::vector<GpuIdentity>& gpus = Four()) {
  VisibleDevicesRequest request;
  request.gpus_option = text;
  // The option wins over everything else.
  request.cuda_visible_devices = "3";
  request.slurm_job_gpus = "3";
  auto s = SelectGpus(gpus, request);
  EXPECT_TRUE(s) << text << ": " << s.error().message;
  return s.value_or(GpuSelection{});
}

GpuSelection Cuda(const std::string& text, const std::vector<GpuIdentity>& gpus = Four(),
                  std::optional<std::string> order = std::nullopt) {
  VisibleDevicesRequest request;
  request.cuda_visible_devices = text;
  request.cuda_device_order = std::move(order);
  request.slurm_step_gpus = "3";
  auto s = SelectGpus(gpus, request);
  EXPECT_TRUE(s) << text;
  return s.value_or(GpuSelection{});
}

TEST(VisibleDevices, NothingSetMeansAll) {
  const auto s = SelectGpus(Four(), {});
  ASSERT_TRUE(s);
  EXPECT_EQ(s->source, SelectionSource::kAll);
  EXPECT_THAT(Positions(*s), ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(s->gpus[2].shared);
  EXPECT_FALSE(s->gpus[1].shared);
  EXPECT_EQ(s->gpus[1].uuid, "GPU-265c2222-bbbb");
  EXPECT_THAT(SelectGpus({}, {})->gpus, IsEmpty());
}

TEST(GpusOption, AllNoneIndicesAndRanges) {
  EXPECT_EQ(Option("all").source, SelectionSource::kGpusOption);
  EXPECT_THAT(Positions(Option("all")), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Positions(Option("none")), IsEmpty());
  EXPECT_THAT(Positions(Option("0")), ElementsAre(0));
  EXPECT_THAT(Positions(Option("0,2-3")), ElementsAre(0, 2, 3));
  EXPECT_THAT(Positions(Option(" 3 , 1 ")), ElementsAre(1, 3));
  EXPECT_THAT(Positions(Option("1,1,0-2")), ElementsAre(0, 1, 2));
}

TEST(GpusOption, UuidsPrefixesAndPciIds) {
  EXPECT_THAT(Positions(Option("GPU-8932f937-cccc")), ElementsAre(2));
  EXPECT_THAT(Positions(Option("gpu-8932F")), ElementsAre(2));
  EXPECT_THAT(Positions(Option("GPU-265c1,GPU-f")), ElementsAre(0, 3));
  EXPECT_THAT(Positions(Option("0000:17:00.0")), ElementsAre(0));
  EXPECT_THAT(Positions(Option("00000000:18:00.0")), ElementsAre(1));
  EXPECT_THAT(Positions(Option("1a:00.0,19:00")), ElementsAre(2, 3));
}

TEST(GpusOption, MigSelectsTheWholeGpuOnceAndSaysSo) {
  const auto s = Option("MIG-11111111-aaaa,MIG-2222,MIG-GPU-8932f937-cccc/2/0,0");
  EXPECT_THAT(Positions(s), ElementsAre(0, 2));
  EXPECT_TRUE(s.gpus[1].shared);
  EXPECT_THAT(s.notes, Contains("MIG-11111111-aaaa is a part of GPU 2: the whole GPU is measured"));
  EXPECT_THAT(s.notes, SizeIs(3));
}

TEST(GpusOption, ErrorsNameTheEntryAndTheGpusThereAre) {
  for (const auto& [text, entry, why] : std::vector<std::array<std::string, 3>>{
           {"4", "\"4\"", "is not the index of a GPU"},
           {"0,2-5", "\"2-5\"", "asks for 4"},
           {"3-2", "\"3-2\"", "is neither an index"},
           {"-1", "\"-1\"", "is neither an index"},
           {"1.5", "\"1.5\"", "is neither an index"},
           {"0,,1", "\"\"", "is neither an index"},
           {"all,0", "\"all\"", "alone"},
           {"99999999999999999999", "9999", "is neither an index"},
           {"GPU-265c", "\"GPU-265c\"", "is the beginning of 2 names"},
           {"GPU-", "\"GPU-\"", "names no GPU"},
           {"GPU-7777", "\"GPU-7777\"", "names no GPU"},
           {"MIG-9", "\"MIG-9\"", "names no GPU"},
           {"MIG-GPU-8932f937-cccc/3/0", "/3/0\"", "names no GPU"},
           {"20:00.0", "\"20:00.0\"", "names no GPU"}}) {
    const auto message = OptionError(text);
    EXPECT_THAT(message, HasSubstr("--gpus: "));
    EXPECT_THAT(message, HasSubstr(entry));
    EXPECT_THAT(message, HasSubstr(why));
    EXPECT_THAT(message,
                HasSubstr("0 GPU-265c1111-aaaa (NVIDIA A100, 00000000:17:00.0), 1 GPU-265c2222"));
  }
  EXPECT_THAT(OptionError(" "), HasSubstr("an empty list"));
  EXPECT_THAT(OptionError("0", {}), HasSubstr("GPUs here: none"));
  EXPECT_LT(OptionError(std::string(100'000, 'x')).size(), 1000U);
}

TEST(GpusOption, UnusableGpuIsAnError) {
  auto gpus = Four();
  gpus[1] = GpuIdentity{};
  gpus[1].index = 1;
  EXPECT_THAT(OptionError("0-2", gpus), HasSubstr("asks for GPU 1, which cannot be used"));
  EXPECT_THAT(OptionError("9", gpus), HasSubstr("1 (cannot be used)"));
  EXPECT_THAT(Positions(Option("0,2", gpus)), ElementsAre(0, 2));
}

TEST(CudaVisibleDevices, IndicesUpToTheFirstThatIsNotValid) {
  EXPECT_EQ(Cuda("0").source, SelectionSource::kCudaVisibleDevices);
  EXPECT_THAT(Positions(Cuda("0")), ElementsAre(0));
  EXPECT_THAT(Positions(Cuda("2, 1")), ElementsAre(1, 2));
  EXPECT_THAT(Cuda("2,1").warnings, IsEmpty());
  EXPECT_THAT(Positions(Cuda("0,2,-1,1")), ElementsAre(0, 2));
  EXPECT_THAT(Cuda("0,2,-1,1").warnings, IsEmpty());
  const auto s = Cuda("0,9,1");
  EXPECT_THAT(Positions(s), ElementsAre(0));
  EXPECT_THAT(s.warnings, ElementsAre("CUDA_VISIBLE_DEVICES: \"9\" is no GPU here; CUDA ignores it "
                                      "and what follows"));
  EXPECT_THAT(Positions(Cuda("0,GPU-265c2,1")), ElementsAre(0));
  EXPECT_THAT(Positions(Cuda("+1")), ElementsAre(1));
}

TEST(CudaVisibleDevices, EmptyAndMinusOneAreNone) {
  for (const char* text : {"", "-1", " ", "-1,0"}) {
    EXPECT_THAT(Positions(Cuda(text)), IsEmpty()) << text;
    EXPECT_THAT(Cuda(text).warnings, IsEmpty()) << text;
  }
  for (const char* text : {"NoDevFiles", "none", "all", ",0", "-2"}) {
    EXPECT_THAT(Positions(Cuda(text)), IsEmpty()) << text;
    EXPECT_THAT(Cuda(text).warnings, SizeIs(1)) << text;
  }
}

TEST(CudaVisibleDevices, ReadsNumbersAsStrtolDoes) {
  const auto s = Cuda("1gpu2,2ampere");
  EXPECT_THAT(Positions(s), ElementsAre(1, 2));
  EXPECT_THAT(s.warnings, Contains("CUDA_VISIBLE_DEVICES: CUDA reads \"1gpu2\" as 1"));
  EXPECT_THAT(Positions(Cuda("2-3")), ElementsAre(2));
}

TEST(CudaVisibleDevices, SomethingTwiceIsNone) {
  for (const char* text : {"0,1,0", "GPU-265c1,GPU-265c1111", "MIG-1111,MIG-11111111-aaaa"}) {
    EXPECT_THAT(Positions(Cuda(text)), IsEmpty()) << text;
    ASSERT_THAT(Cuda(text).warnings, SizeIs(1)) << text;
    EXPECT_THAT(Cuda(text).warnings[0], HasSubstr("twice"));
  }
}

TEST(CudaVisibleDevices, UuidsAndUniqueBeginnings) {
  EXPECT_THAT(Positions(Cuda("GPU-f0000000-dddd,GPU-265c2")), ElementsAre(1, 3));
  EXPECT_THAT(Positions(Cuda("GPU-89,0")), ElementsAre(2));  // another form ends the list
  const auto s = Cuda("GPU-265c,GPU-f");
  EXPECT_THAT(Positions(s), IsEmpty());
  EXPECT_THAT(s.warnings[0], HasSubstr("several names"));
  EXPECT_THAT(Positions(Cuda("gpu-f")), IsEmpty());  // CUDA minds the case
  EXPECT_THAT(Positions(Cuda("GPU-")), IsEmpty());
}

TEST(CudaVisibleDevices, MigInBothForms) {
  for (const char* text : {"MIG-22222222-bbbb", "MIG-GPU-8932f937-cccc/2/0"}) {
    const auto s = Cuda(text);
    EXPECT_THAT(Positions(s), ElementsAre(2)) << text;
    EXPECT_TRUE(s.gpus[0].shared);
    EXPECT_THAT(s.notes, ElementsAre(HasSubstr("is a part of GPU 2: the whole GPU is measured")));
    EXPECT_THAT(s.warnings, IsEmpty());
  }
  const auto both = Cuda("MIG-11111111-aaaa,MIG-22222222-bbbb");
  EXPECT_THAT(Positions(both), ElementsAre(2));
  EXPECT_THAT(both.notes, Contains(HasSubstr("a process sees only the first")));
  for (const char* text : {"MIG-GPU-8932f937-cccc/9/0", "MIG-GPU-8932f937-cccc/2",
                           "MIG-GPU-8932f937/2/0", "MIG-", "MIG-GPU-//"}) {
    EXPECT_THAT(Positions(Cuda(text)), IsEmpty()) << text;
    EXPECT_THAT(Cuda(text).warnings, SizeIs(1)) << text;
  }
}

TEST(CudaVisibleDevices, MigNamesOfOldDriversThatBeginAlike) {
  auto gpus = Four();
  gpus[2].mig = {{"MIG-GPU-8932f937-cccc/1/1", 1, 1}, {"MIG-GPU-8932f937-cccc/1/10", 1, 10}};
  const auto s = Cuda("MIG-GPU-8932f937-cccc/1/1", gpus);
  EXPECT_THAT(Positions(s), ElementsAre(2));
  EXPECT_THAT(s.notes, ElementsAre(HasSubstr("/1/1 is a part")));
}

TEST(CudaVisibleDevices, OrderMattersOnlyWithIndicesAndDifferentModels) {
  auto mixed = Four();
  mixed[3].name = "NVIDIA T4";
  EXPECT_THAT(Cuda("0", mixed).notes, ElementsAre(HasSubstr("CUDA_DEVICE_ORDER is not set")));
  EXPECT_THAT(Cuda("0", mixed, "FASTEST_FIRST").notes, ElementsAre(HasSubstr("FASTEST_FIRST")));
  EXPECT_THAT(Cuda("0", mixed, "PCI_BUS_ID").notes, IsEmpty());
  EXPECT_THAT(Cuda("GPU-265c1", mixed).notes, IsEmpty());
  EXPECT_THAT(Cuda("", mixed).notes, IsEmpty());
  EXPECT_THAT(Cuda("0").notes, IsEmpty());
}

TEST(CudaVisibleDevices, UnusableGpuStaysSelectedWithAWarning) {
  auto gpus = Four();
  gpus[1].uuid.clear();
  const auto s = Cuda("1,2", gpus);
  EXPECT_THAT(Positions(s), ElementsAre(1, 2));
  EXPECT_THAT(s.warnings, ElementsAre(HasSubstr("names GPU 1, which cannot be used")));
}

TEST(Slurm, StepThenJobIndicesAndRanges) {
  VisibleDevicesRequest request;
  request.slurm_job_gpus = "0-2";
  EXPECT_THAT(Positions(*SelectGpus(Four(), request)), ElementsAre(0, 1, 2));
  request.slurm_step_gpus = "1,3";
  const auto s = SelectGpus(Four(), request);
  EXPECT_EQ(s->source, SelectionSource::kSlurm);
  EXPECT_THAT(Positions(*s), ElementsAre(1, 3));
  EXPECT_THAT(s->warnings, IsEmpty());
  request.slurm_step_gpus = "";
  EXPECT_THAT(Positions(*SelectGpus(Four(), request)), IsEmpty());
}

TEST(Slurm, IndicesOfTheNodeInsideAConstrainedJobMeanAllThatItSees) {
  VisibleDevicesRequest request;
  request.slurm_job_gpus = "4,5,6,7";
  const auto s = SelectGpus(Four(), request);
  EXPECT_THAT(Positions(*s), ElementsAre(0, 1, 2, 3));
  ASSERT_THAT(s->warnings, SizeIs(1));
  EXPECT_THAT(s->warnings[0], HasSubstr("SLURM_JOB_GPUS=\"4,5,6,7\": \"4\" is no GPU here"));
}

class NamedDevice final : public PowerDevice {
 public:
  NamedDevice(DeviceKind kind, std::string uuid) {
    info_.kind = kind;
    info_.uuid = std::move(uuid);
  }
  const DeviceInfo& Info() const override { return info_; }
  Result<Reading> Read(MonoTime) override { return Fail(Code::kUnavailable, "no reading"); }
  Result<PowerLimits> Limits() override { return Fail(Code::kUnimplemented, "no limits"); }
  Result<Watts> Limit() override { return Fail(Code::kUnimplemented, "no limit"); }
  Status SetLimit(Watts) override { return Fail(Code::kUnimplemented, "no limit"); }

 private:
  DeviceInfo info_;
};

TEST(KeepSelected, DropsWhatIsNotSelectedAndNothingElse) {
  const auto gpus = Four();
  Discovery discovery;
  for (const auto& gpu : gpus) {
    discovery.devices.push_back(std::make_unique<NamedDevice>(DeviceKind::kGpu, gpu.uuid));
  }
  discovery.devices.push_back(
      std::make_unique<NamedDevice>(DeviceKind::kCpuPackage, "rapl:package-0"));
  discovery.devices.push_back(std::make_unique<NamedDevice>(DeviceKind::kGpu, "GPU-of-another"));
  for (const char* name : {"GPU 1", "GPU 2", "NVML"}) {
    discovery.problems.push_back({DeviceKind::kGpu, name, {Code::kUnavailable, "x"}, ""});
  }
  KeepSelected(discovery, gpus, Cuda("2"));
  std::vector<std::string> uuids;
  for (const auto& d : discovery.devices) uuids.push_back(d->Info().uuid);
  EXPECT_THAT(uuids, ElementsAre("GPU-8932f937-cccc", "rapl:package-0", "GPU-of-another"));
  std::vector<std::string> problems;
  for (const auto& p : discovery.problems) problems.push_back(p.name);
  EXPECT_THAT(problems, ElementsAre("GPU 2", "NVML"));
}

}  // namespace
}  // namespace lowtide
