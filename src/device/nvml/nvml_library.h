// libnvidia-ml.so.1, loaded at run time: Lowtide builds and runs where no NVIDIA driver is.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/nvml/nvml_abi.h"

namespace lowtide {

struct NvmlOptions {
  // Load this library only. Empty: libnvidia-ml.so.1, then libnvidia-ml.so.
  std::string library_path;
};

// NVML's name of the state without its prefix, e.g. "GPU_IS_LOST"; "code 77" for one we don't know.
std::string NvmlReturnName(nvml::Return r);

// The code that stands for the state. `kSuccess` is the caller's mistake and gives kInternal.
Code NvmlCode(nvml::Return r);

// One sentence on what to do about it; empty where there is nothing to advise.
std::string_view NvmlRemedy(nvml::Return r);

// The loaded library: one method per NVML function, which gives kFunctionNotFound where this
// version of the library lacks it. Thread-safe, as NVML is; Init and Shutdown count.
// A call into a hung driver hangs with it: call from a thread that the job does not wait for.
class NvmlLibrary {
 public:
  // kUnavailable: no such library (the message names each name tried and the loader's answer);
  // kUnimplemented: it lacks functions without which nothing can be done (the message names them).
  static Result<std::unique_ptr<NvmlLibrary>> Open(const NvmlOptions& options);

  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  // The name it was loaded by.
  const std::string& Path() const { return path_; }
  // Functions that are optional to us and that this library lacks.
  const std::vector<std::string>& MissingFunctions() const { return missing_; }

  // "GPU_IS_LOST (GPU is lost)": the name and the library's own text.
  std::string Describe(nvml::Return r) const;
  // "<what>: GPU_IS_LOST (GPU is lost)" with the code that stands for it.
  Error MakeError(nvml::Return r, std::string_view what) const;

  nvml::Return Init() const;
  nvml::Return Shutdown() const;
  nvml::Return DriverVersion(std::string& out) const;
  nvml::Return Count(unsigned int& out) const;
  nvml::Return HandleByIndex(unsigned int index, nvml::Device& out) const;
  nvml::Return HandleByUuid(const std::string& uuid, nvml::Device& out) const;
  nvml::Return Name(nvml::Device device, std::string& out) const;
  nvml::Return Uuid(nvml::Device device, std::string& out) const;
  // "00000000:17:00.0".
  nvml::Return PciBusId(nvml::Device device, std::string& out) const;
  nvml::Return TotalEnergyMj(nvml::Device device, unsigned long long& out) const;
  nvml::Return PowerUsageMw(nvml::Device device, unsigned int& out) const;
  nvml::Return FieldValues(nvml::Device device, int count, nvml::FieldValue* values) const;
  nvml::Return PowerLimitMw(nvml::Device device, unsigned int& out) const;
  nvml::Return PowerLimitRangeMw(nvml::Device device, unsigned int& min, unsigned int& max) const;
  nvml::Return DefaultPowerLimitMw(nvml::Device device, unsigned int& out) const;
  nvml::Return SetPowerLimitMw(nvml::Device device, unsigned int limit) const;
  nvml::Return MigMode(nvml::Device device, unsigned int& current, unsigned int& pending) const;
  nvml::Return MaxMigDevices(nvml::Device device, unsigned int& out) const;
  nvml::Return MigHandle(nvml::Device device, unsigned int index, nvml::Device& out) const;
  nvml::Return GpuInstanceId(nvml::Device mig, unsigned int& out) const;
  nvml::Return ComputeInstanceId(nvml::Device mig, unsigned int& out) const;
  // How many processes compute on the GPU now.
  nvml::Return ComputeProcesses(nvml::Device device, unsigned int& out) const;

 private:
  struct Functions {
    using R = nvml::Return;
    using D = nvml::Device;
    using U = unsigned int;
    R (*init)() = nullptr;
    R (*shutdown)() = nullptr;
    const char* (*error_string)(R) = nullptr;
    R (*driver_version)(char*, U) = nullptr;
    R (*count)(U*) = nullptr;
    R (*handle_by_index)(U, D*) = nullptr;
    R (*handle_by_uuid)(const char*, D*) = nullptr;
    R (*name)(D, char*, U) = nullptr;
    R (*uuid)(D, char*, U) = nullptr;
    R (*pci_info_v3)(D, nvml::PciInfo*) = nullptr;
    R (*pci_info)(D, nvml::PciInfo*) = nullptr;  // older: only bus_id_legacy is to be trusted
    R (*total_energy)(D, unsigned long long*) = nullptr;
    R (*power_usage)(D, U*) = nullptr;
    R (*field_values)(D, int, nvml::FieldValue*) = nullptr;
    R (*power_limit)(D, U*) = nullptr;
    R (*power_limit_range)(D, U*, U*) = nullptr;
    R (*default_power_limit)(D, U*) = nullptr;
    R (*set_power_limit)(D, U) = nullptr;
    R (*mig_mode)(D, U*, U*) = nullptr;
    R (*max_mig_devices)(D, U*) = nullptr;
    R (*mig_handle)(D, U, D*) = nullptr;
    R (*gpu_instance_id)(D, U*) = nullptr;
    R (*compute_instance_id)(D, U*) = nullptr;
    R (*compute_processes)(D, U*, void*) = nullptr;
  };

  NvmlLibrary(void* library, std::string path) : library_(library), path_(std::move(path)) {}
  // Looks the names up in order; false where none is there.
  template <class F>
  bool Find(F& function, std::initializer_list<const char*> names);
  // The required functions that are not there.
  std::vector<std::string> FindAll();

  void* library_;
  std::string path_;
  std::vector<std::string> missing_;
  Functions fn_;
};

}  // namespace lowtide
