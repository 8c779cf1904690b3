// NVIDIA GPUs, through NVML.
#pragma once

#include <memory>
#include <vector>

#include "device/nvml/nvml_library.h"
#include "device/power_device.h"
#include "device/visible_devices.h"

namespace lowtide {

class NvmlBackend : public DeviceBackend {
 public:
  std::string_view Name() const override { return "nvml"; }
  // Loads the library at the first call. What is missing (library, function, driver, right to use
  // it) is one problem "NVML" with its remedy; a GPU that cannot be used is a problem "GPU <index>"
  // and hides no other. A GPU that only cannot be read now is a device *and* a problem: its Read()
  // fails until it is back. The devices may outlive the backend.
  // `shared` is set where MIG is on or processes use the GPU already; `note` says which.
  Discovery Discover() override = 0;
  // What the last Discover() saw, in NVML's order, for SelectGpus(); also the unusable ones.
  virtual const std::vector<GpuIdentity>& Gpus() const = 0;
};

// Never fails: Discover() says what is missing.
std::unique_ptr<NvmlBackend> OpenNvmlBackend(NvmlOptions options);

}  // namespace lowtide
