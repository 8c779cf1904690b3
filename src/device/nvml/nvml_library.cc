#include "device/nvml/nvml_library.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <utility>

namespace lowtide {
namespace {

using nvml::Return;

template <class F, class... Args>
Return Invoke(F* function, Args... args) {
  return function == nullptr ? Return::kFunctionNotFound : function(args...);
}

// Calls a function that fills a text buffer; the text is cut at the buffer's end if unterminated.
template <std::size_t kBytes, class Fill>
Return ReadText(std::string& out, Fill fill) {
  std::array<char, kBytes> buffer{};
  const Return r = fill(buffer.data(), static_cast<unsigned int>(kBytes));
  if (r == Return::kSuccess) out.assign(buffer.data(), strnlen(buffer.data(), kBytes));
  return r;
}

}  // namespace

template <class F>
bool NvmlLibrary::Find(F& function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* symbol = dlsym(library_, name); symbol != nullptr) {
      function = reinterpret_cast<F>(symbol);  // POSIX says that this is meant to work
      return true;
    }
  }
  return false;
}

std::vector<std::string> NvmlLibrary::FindAll() {
  std::vector<std::string> lacking;
  // The newest name whose signature we declare comes first, as in NVIDIA's own header.
  const auto require = [&](auto& function, std::initializer_list<const char*> names) {
    if (!Find(function, names)) lacking.emplace_back(*names.begin());
  };
  const auto want = [&](auto& function, std::initializer_list<const char*> names) {
    if (!Find(function, names)) missing_.emplace_back(*names.begin());
  };
  require(fn_.init, {"nvmlInit_v2", "nvmlInit"});
  require(fn_.shutdown, {"nvmlShutdown"});
  require(fn_.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  require(fn_.handle_by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  require(fn_.uuid, {"nvmlDeviceGetUUID"});
  want(fn_.error_string, {"nvmlErrorString"});
  want(fn_.driver_version, {"nvmlSystemGetDriverVersion"});
  want(fn_.handle_by_uuid, {"nvmlDeviceGetHandleByUUID"});
  want(fn_.name, {"nvmlDeviceGetName"});
  if (!Find(fn_.pci_info_v3, {"nvmlDeviceGetPciInfo_v3"})) {
    want(fn_.pci_info, {"nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"});
  }
  want(fn_.total_energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  want(fn_.power_usage, {"nvmlDeviceGetPowerUsage"});
  want(fn_.field_values, {"nvmlDeviceGetFieldValues"});
  want(fn_.power_limit, {"nvmlDeviceGetPowerManagementLimit"});
  want(fn_.power_limit_range, {"nvmlDeviceGetPowerManagementLimitConstraints"});
  want(fn_.default_power_limit, {"nvmlDeviceGetPowerManagementDefaultLimit"});
  want(fn_.set_power_limit, {"nvmlDeviceSetPowerManagementLimit"});
  want(fn_.mig_mode, {"nvmlDeviceGetMigMode"});
  want(fn_.max_mig_devices, {"nvmlDeviceGetMaxMigDeviceCount"});
  want(fn_.mig_handle, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  want(fn_.gpu_instance_id, {"nvmlDeviceGetGpuInstanceId"});
  want(fn_.compute_instance_id, {"nvmlDeviceGetComputeInstanceId"});
  // All versions answer the size query that we make in the same way.
  want(fn_.compute_processes,
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2",
        "nvmlDeviceGetComputeRunningProcesses"});
  return lacking;
}

Result<std::unique_ptr<NvmlLibrary>> NvmlLibrary::Open(const NvmlOptions& options) {
  const std::vector<std::string> names =
      options.library_path.empty()
          ? std::vector<std::string>{"libnvidia-ml.so.1", "libnvidia-ml.so"}
          : std::vector<std::string>{options.library_path};
  std::vector<std::string> answers;
  for (const auto& name : names) {
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      // The loader's text begins with the name.
      const char* text = dlerror();
      answers.emplace_back(text == nullptr ? name : text);
      continue;
    }
    std::unique_ptr<NvmlLibrary> library(new NvmlLibrary(handle, name));
    if (auto lacking = library->FindAll(); !lacking.empty()) {
      return Fail(Code::kUnimplemented,
                  fmt::format("the NVML library {} lacks {}", name, fmt::join(lacking, ", ")));
    }
    return library;
  }
  return Fail(Code::kUnavailable, fmt::format("no NVML library: {}", fmt::join(answers, "; ")));
}

NvmlLibrary::~NvmlLibrary() { dlclose(library_); }

std::string NvmlLibrary::Describe(Return r) const {
  const char* text = fn_.error_string == nullptr ? nullptr : fn_.error_string(r);
  if (text == nullptr || *text == '\0') return NvmlReturnName(r);
  return fmt::format("{} ({})", NvmlReturnName(r), text);
}

Error NvmlLibrary::MakeError(Return r, std::string_view what) const {
  return Error{NvmlCode(r), fmt::format("{}: {}", what, Describe(r))};
}

Return NvmlLibrary::Init() const { return Invoke(fn_.init); }
Return NvmlLibrary::Shutdown() const { return Invoke(fn_.shutdown); }

Return NvmlLibrary::DriverVersion(std::string& out) const {
  return ReadText<nvml::kVersionBufferBytes>(
      out, [&](char* b, unsigned int n) { return Invoke(fn_.driver_version, b, n); });
}

Return NvmlLibrary::Count(unsigned int& out) const { return Invoke(fn_.count, &out); }

Return NvmlLibrary::HandleByIndex(unsigned int index, nvml::Device& out) const {
  return Invoke(fn_.handle_by_index, index, &out);
}

Return NvmlLibrary::HandleByUuid(const std::string& uuid, nvml::Device& out) const {
  return Invoke(fn_.handle_by_uuid, uuid.c_str(), &out);
}

Return NvmlLibrary::Name(nvml::Device device, std::string& out) const {
  return ReadText<nvml::kNameBufferBytes>(
      out, [&](char* b, unsigned int n) { return Invoke(fn_.name, device, b, n); });
}

Return NvmlLibrary::Uuid(nvml::Device device, std::string& out) const {
  return ReadText<nvml::kUuidBufferBytes>(
      out, [&](char* b, unsigned int n) { return Invoke(fn_.uuid, device, b, n); });
}

Return NvmlLibrary::PciBusId(nvml::Device device, std::string& out) const {
  nvml::PciInfo info{};
  if (fn_.pci_info_v3 != nullptr) {
    const Return r = fn_.pci_info_v3(device, &info);
    if (r == Return::kSuccess) out.assign(info.bus_id, strnlen(info.bus_id, sizeof(info.bus_id)));
    return r;
  }
  const Return r = Invoke(fn_.pci_info, device, &info);
  if (r == Return::kSuccess) {
    out.assign(info.bus_id_legacy, strnlen(info.bus_id_legacy, sizeof(info.bus_id_legacy)));
  }
  return r;
}

Return NvmlLibrary::TotalEnergyMj(nvml::Device device, unsigned long long& out) const {
  return Invoke(fn_.total_energy, device, &out);
}

Return NvmlLibrary::PowerUsageMw(nvml::Device device, unsigned int& out) const {
  return Invoke(fn_.power_usage, device, &out);
}

Return NvmlLibrary::FieldValues(nvml::Device device, int count, nvml::FieldValue* values) const {
  return Invoke(fn_.field_values, device, count, values);
}

Return NvmlLibrary::PowerLimitMw(nvml::Device device, unsigned int& out) const {
  return Invoke(fn_.power_limit, device, &out);
}

Return NvmlLibrary::PowerLimitRangeMw(nvml::Device device, unsigned int& min,
                                      unsigned int& max) const {
  return Invoke(fn_.power_limit_range, device, &min, &max);
}

Return NvmlLibrary::DefaultPowerLimitMw(nvml::Device device, unsigned int& out) const {
  return Invoke(fn_.default_power_limit, device, &out);
}

Return NvmlLibrary::SetPowerLimitMw(nvml::Device device, unsigned int limit) const {
  return Invoke(fn_.set_power_limit, device, limit);
}

Return NvmlLibrary::MigMode(nvml::Device device, unsigned int& current,
                            unsigned int& pending) const {
  return Invoke(fn_.mig_mode, device, &current, &pending);
}

Return NvmlLibrary::MaxMigDevices(nvml::Device device, unsigned int& out) const {
  return Invoke(fn_.max_mig_devices, device, &out);
}

Return NvmlLibrary::MigHandle(nvml::Device device, unsigned int index, nvml::Device& out) const {
  return Invoke(fn_.mig_handle, device, index, &out);
}

Return NvmlLibrary::GpuInstanceId(nvml::Device mig, unsigned int& out) const {
  return Invoke(fn_.gpu_instance_id, mig, &out);
}

Return NvmlLibrary::ComputeInstanceId(nvml::Device mig, unsigned int& out) const {
  return Invoke(fn_.compute_instance_id, mig, &out);
}

Return NvmlLibrary::ComputeProcesses(nvml::Device device, unsigned int& out) const {
  unsigned int count = 0;
  Return r = Invoke(fn_.compute_processes, device, &count, nullptr);
  if (r == Return::kInsufficientSize) r = Return::kSuccess;  // the count is what was asked
  if (r == Return::kSuccess) out = count;
  return r;
}

}  // namespace lowtide
