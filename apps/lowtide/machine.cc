#include "machine.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "base/embedded/embedded.h"
#include "device/cpu_model/cpu_model_backend.h"
#include "device/nvml/nvml_backend.h"
#include "device/patient_device.h"
#include "device/rapl/rapl_backend.h"
#include "device/visible_devices.h"
#include "environment.h"
#include "simulate_option.h"

namespace lowtide::cli {
namespace {

// Drivers that must first wake many GPUs take several seconds.
constexpr Seconds kDriverPatience{30};
constexpr std::string_view kTdpTable = "hardware/cpu_power.csv";

NvmlOptions NvmlFromEnvironment() { return {Environment("LOWTIDE_NVML_LIBRARY").value_or("")}; }

void Append(Machine& machine, Discovery discovery) {
  std::ranges::move(discovery.devices, std::back_inserter(machine.devices));
  std::ranges::move(discovery.problems, std::back_inserter(machine.problems));
}

Status AddGpus(Machine& machine, Clock& clock, const MachineOptions& options) {
  if (!options.simulate_gpu.empty()) {
    LOWTIDE_TRY(SimulatedGpuOptions simulated, ParseSimulateGpu(options.simulate_gpu));
    auto gpu = std::make_unique<SimulatedGpu>(clock, std::move(simulated));
    machine.simulated = gpu.get();
    machine.devices.push_back(std::move(gpu));
    return {};
  }
  if (options.gpus == "none") return {};
  const std::shared_ptr<NvmlBackend> backend = OpenNvmlBackend(NvmlFromEnvironment());
  auto found = DiscoverWithin(backend, kDriverPatience);
  if (!found) {
    machine.driver_hangs = true;
    machine.problems.push_back(
        {DeviceKind::kGpu,
         "NVML",
         {Code::kDeadlineExceeded, fmt::format("the NVIDIA driver has not answered for {}",
                                               FormatDuration(kDriverPatience))},
         "see whether nvidia-smi answers and what dmesg says (Xid, fallen off the bus); "
         "--gpus none does without the driver"});
    return {};
  }
  Discovery discovery = *std::move(found);
  VisibleDevicesRequest request;
  request.gpus_option = options.gpus;
  request.cuda_visible_devices = Environment("CUDA_VISIBLE_DEVICES");
  request.cuda_device_order = Environment("CUDA_DEVICE_ORDER");
  request.slurm_step_gpus = Environment("SLURM_STEP_GPUS");
  request.slurm_job_gpus = Environment("SLURM_JOB_GPUS");
  LOWTIDE_TRY(const GpuSelection selection, SelectGpus(backend->Gpus(), request));
  KeepSelected(discovery, backend->Gpus(), selection);
  machine.warnings = selection.warnings;
  machine.notes = selection.notes;
  Append(machine, std::move(discovery));
  return {};
}

bool Has(const Machine& machine, DeviceKind kind) {
  return std::ranges::any_of(machine.devices,
                             [&](const auto& d) { return d->Info().kind == kind; });
}

// RAPL first; what it does not give is modelled.
void AddCpuAndDram(Machine& machine, const MachineOptions& options) {
  RaplOptions rapl;
  if (const auto root = Environment("LOWTIDE_POWERCAP_ROOT")) rapl.root = *root;
  Append(machine, RaplBackend(std::move(rapl)).Discover());

  CpuModelOptions model;
  model.kinds.clear();
  for (const DeviceKind kind : {DeviceKind::kCpuPackage, DeviceKind::kDram}) {
    if (!Has(machine, kind)) model.kinds.push_back(kind);
  }
  if (options.cpu_tdp_w) model.tdp = Watts(*options.cpu_tdp_w);
  model.threads_per_package = options.cpu_threads;
  model.tdp_table = FindEmbedded(kTdpTable).value_or("");
  if (!model.kinds.empty()) {
    Append(machine, CpuModelBackend(std::move(model), *machine.job_usage).Discover());
  }
}

HostFacts ReadFacts() {
  HostFacts facts;
  utsname names{};
  if (::uname(&names) == 0) facts.os = fmt::format("{}-{}", names.sysname, names.release);
  if (const auto info = ReadCpuInfo("/proc")) {
    facts.cpu_model = info->model.value_or("");
    facts.cpu_count = info->threads;
  }
  struct sysinfo memory{};
  if (::sysinfo(&memory) == 0) {
    facts.ram_total_gb = static_cast<double>(memory.totalram) * memory.mem_unit / (1U << 30U);
  }
  return facts;
}

}  // namespace

Result<Machine> OpenMachine(Clock& clock, const MachineOptions& options) {
  Machine machine;
  machine.job_usage = std::make_unique<JobUsage>();
  machine.host_cpu = std::make_unique<HostCpu>("/proc", ::sysconf(_SC_CLK_TCK));
  machine.facts = ReadFacts();
  LOWTIDE_TRY_STATUS(AddGpus(machine, clock, options));
  AddCpuAndDram(machine, options);
  return machine;
}

std::vector<std::unique_ptr<PowerDevice>> OpenGpus() {
  return OpenNvmlBackend(NvmlFromEnvironment())->Discover().devices;
}

}  // namespace lowtide::cli
