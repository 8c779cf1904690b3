#include "device/nvml/nvml_backend.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "device/nvml/nvml_device.h"
#include "device/nvml/nvml_session.h"

namespace lowtide {
namespace {

using nvml::Return;

// More instances than any GPU offers (7): a bound for a driver that says nonsense.
constexpr unsigned int kMaxMigDevices = 64;
constexpr unsigned int kMaxGpus = 1024;

// What discovery learns about one GPU before it becomes a device.
struct Found {
  GpuIdentity identity;
  Return state = Return::kSuccess;
  unsigned int compute_processes = 0;
};

void ListMig(const NvmlLibrary& library, nvml::Device device, GpuIdentity& out) {
  unsigned int current = 0;
  unsigned int pending = 0;
  if (library.MigMode(device, current, pending) != Return::kSuccess) return;
  out.mig_enabled = current == nvml::kMigEnabled;
  if (!out.mig_enabled) return;
  unsigned int count = 0;
  if (library.MaxMigDevices(device, count) != Return::kSuccess) return;
  for (unsigned int i = 0; i < std::min(count, kMaxMigDevices); ++i) {
    nvml::Device mig = nullptr;
    MigIdentity identity;
    // NOT_FOUND: places that no instance takes.
    if (library.MigHandle(device, i, mig) != Return::kSuccess) continue;
    if (library.Uuid(mig, identity.uuid) != Return::kSuccess) continue;
    unsigned int id = 0;
    if (library.GpuInstanceId(mig, id) == Return::kSuccess) identity.gpu_instance = id;
    if (library.ComputeInstanceId(mig, id) == Return::kSuccess) identity.compute_instance = id;
    out.mig.push_back(std::move(identity));
  }
}

Found Identify(const NvmlLibrary& library, unsigned int index) {
  Found found;
  found.identity.index = index;
  nvml::Device device = nullptr;
  found.state = library.HandleByIndex(index, device);
  if (found.state != Return::kSuccess) return found;
  std::string uuid;
  found.state = library.Uuid(device, uuid);
  if (found.state != Return::kSuccess) return found;
  found.identity.uuid = std::move(uuid);
  if (library.Name(device, found.identity.name) != Return::kSuccess) found.identity.name.clear();
  if (library.PciBusId(device, found.identity.pci_bus_id) != Return::kSuccess) {
    found.identity.pci_bus_id.clear();
  }
  ListMig(library, device, found.identity);
  if (library.ComputeProcesses(device, found.compute_processes) != Return::kSuccess) {
    found.compute_processes = 0;
  }
  return found;
}

DeviceInfo MakeInfo(const Found& found, const std::string& driver) {
  DeviceInfo info;
  info.kind = DeviceKind::kGpu;
  info.name = found.identity.name.empty() ? "NVIDIA GPU" : found.identity.name;
  info.uuid = found.identity.uuid;
  info.backend = "nvml";
  info.driver = driver;
  info.provenance = Provenance::kMeasured;
  if (found.identity.mig_enabled) {
    info.shared = true;
    info.note = fmt::format("MIG is on ({} instances): the whole GPU is measured",
                            found.identity.mig.size());
  }
  if (found.compute_processes > 0) {
    info.shared = true;
    if (!info.note.empty()) info.note += "; ";
    info.note += fmt::format("{} {} it already: the whole GPU is measured", found.compute_processes,
                             found.compute_processes == 1 ? "process uses" : "processes use");
  }
  return info;
}

class Backend final : public NvmlBackend {
 public:
  explicit Backend(NvmlOptions options) : options_(std::move(options)) {}

  Discovery Discover() override;
  const std::vector<GpuIdentity>& Gpus() const override { return gpus_; }

 private:
  std::optional<DeviceProblem> Open();
  Return Identify(std::vector<Found>& found, std::string& driver);
  void Add(const Found& found, const std::string& driver, Discovery& out);

  const NvmlOptions options_;
  std::shared_ptr<NvmlSession> session_;
  std::vector<GpuIdentity> gpus_;
};

DeviceProblem MakeProblem(std::string name, Error error, std::string_view remedy) {
  return DeviceProblem{DeviceKind::kGpu, std::move(name), std::move(error), std::string(remedy)};
}

std::optional<DeviceProblem> Backend::Open() {
  if (session_) return std::nullopt;
  auto library = NvmlLibrary::Open(options_);
  if (!library) {
    const bool too_old = library.error().code == Code::kUnimplemented;
    return MakeProblem("NVML", std::move(library).error(),
                       too_old ? "update the NVIDIA driver, or name the right library with "
                                 "LOWTIDE_NVML_LIBRARY"
                               : "if there is an NVIDIA GPU, install its driver (libnvidia-ml.so.1 "
                                 "comes with it) or name the library with LOWTIDE_NVML_LIBRARY");
  }
  Return state = Return::kSuccess;
  auto session = NvmlSession::Open(*std::move(library), state);
  if (!session) return MakeProblem("NVML", std::move(session).error(), NvmlRemedy(state));
  session_ = *std::move(session);
  return std::nullopt;
}

Return Backend::Identify(std::vector<Found>& found, std::string& driver) {
  return session_->WithLibrary([&](const NvmlLibrary& library) {
    found.clear();
    unsigned int count = 0;
    const Return r = library.Count(count);
    if (r != Return::kSuccess) return r;
    if (library.DriverVersion(driver) != Return::kSuccess) driver.clear();
    for (unsigned int i = 0; i < std::min(count, kMaxGpus); ++i) {
      found.push_back(lowtide::Identify(library, i));
    }
    return Return::kSuccess;
  });
}

void Backend::Add(const Found& found, const std::string& driver, Discovery& out) {
  const auto name = GpuLabel(found.identity.index);
  if (found.state != Return::kSuccess) {
    out.problems.push_back(MakeProblem(name, session_->Library().MakeError(found.state, name),
                                       NvmlRemedy(found.state)));
    return;
  }
  auto info = MakeInfo(found, driver);
  auto label = fmt::format("{} ({})", name, info.name);
  auto device = std::make_unique<NvmlDevice>(session_, std::move(info), std::move(label));
  const Return readable = device->Probe();
  if (readable != Return::kSuccess) {
    auto error = session_->Library().MakeError(readable, name + ": reading energy and power");
    const bool never = error.code == Code::kUnimplemented;
    out.problems.push_back(MakeProblem(name, std::move(error), NvmlRemedy(readable)));
    if (never) return;  // a device that can never give a number would only look like one
  }
  out.devices.push_back(std::move(device));
}

Discovery Backend::Discover() {
  Discovery out;
  gpus_.clear();
  if (auto problem = Open()) {
    out.problems.push_back(*std::move(problem));
    return out;
  }
  std::vector<Found> found;
  std::string driver;
  if (const Return r = Identify(found, driver); r != Return::kSuccess) {
    out.problems.push_back(
        MakeProblem("NVML", session_->Library().MakeError(r, "counting the GPUs"), NvmlRemedy(r)));
    return out;
  }
  if (found.empty()) {
    out.problems.push_back(
        MakeProblem("NVML", Error{Code::kNotFound, "the NVIDIA driver is there but sees no GPU"},
                    "give the container or job access to a GPU"));
  }
  for (const auto& f : found) {
    gpus_.push_back(f.identity);
    Add(f, driver, out);
  }
  return out;
}

}  // namespace

std::unique_ptr<NvmlBackend> OpenNvmlBackend(NvmlOptions options) {
  return std::make_unique<Backend>(std::move(options));
}

}  // namespace lowtide
