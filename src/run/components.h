// The components of a report, made from the devices of a run and from what could not be had.
#pragma once

#include <memory>
#include <vector>

#include "device/power_device.h"
#include "store/records.h"

namespace lowtide {

// One component per device, in order, then one `missing` component for every kind of device that
// has problems and no device at all, with what the problems say in brief.
std::vector<ComponentRecord> MakeComponents(
    const std::vector<std::unique_ptr<PowerDevice>>& devices,
    const std::vector<DeviceProblem>& problems);

// "NVML: libnvidia-ml.so.1: cannot open shared object file; install the NVIDIA driver".
std::string DescribeProblem(const DeviceProblem& problem);

}  // namespace lowtide
