// CPU and DRAM energy of the job where no counter tells it. Always labelled modelled.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "device/power_device.h"
#include "device/proc/job_usage.h"

namespace lowtide {

// Power of memory per GB (10^9 bytes), Green Algorithms: L. Lannelongue, J. Grealey, M. Inouye,
// Adv. Sci. 8 (2021) 2100707, who take it from A. Karyakin and K. Salem, DaMoN 2017. They apply it
// to the memory asked for; here it is the memory in use.
inline constexpr double kDramWattsPerGb = 0.3725;

struct CpuModelOptions {
  std::filesystem::path proc = "/proc";
  // data/hardware/cpu_power.csv or a table like it: `Name,TDP`. Used by Discover only.
  std::string_view tdp_table;
  // The TDP of one package in watts, instead of the table's (`--cpu-tdp`).
  std::optional<Watts> tdp;
  // Hardware threads of one package, instead of those seen (`--cpu-threads`): a virtual machine
  // sees a part of them.
  std::optional<int> threads_per_package;
  // What to model: leave out what is measured.
  std::vector<DeviceKind> kinds{DeviceKind::kCpuPackage, DeviceKind::kDram};
};

// CPU:  E = TDP / threads of a package x CPU seconds of the job
// (a thread that works all the time has its even part of the package's TDP; codecarbon's process
// mode and Eco2AI use the same). It is the job's part, not the host's: idle power is left out, and
// TDP is what cooling is designed for, not a measured draw: expect tens of percent of error.
//
// DRAM: E = 0.3725 W/GB x memory of the job's processes, integrated over time; between two looks at
// the memory the earlier one holds.
//
// A processor whose TDP is not known is a problem that says how to give it, never a guess; so is a
// virtual machine without `tdp` or `threads_per_package`, because the table's TDP is of the whole
// processor and the machine has an unknown part of it.
class CpuModelBackend final : public DeviceBackend {
 public:
  // `usage` must outlive the devices; until its Start the job has used nothing.
  CpuModelBackend(CpuModelOptions options, JobUsage& usage);

  std::string_view Name() const override { return "cpu_model"; }
  Discovery Discover() override;

 private:
  void DiscoverCpu(Discovery& discovery);

  CpuModelOptions options_;
  JobUsage& usage_;
};

}  // namespace lowtide
