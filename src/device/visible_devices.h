// Which GPUs a run measures, from what the user or the scheduler said. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/power_device.h"

namespace lowtide {

struct MigIdentity {
  std::string uuid;  // "MIG-..." (or "MIG-GPU-<uuid>/<gi>/<ci>" of older drivers)
  std::optional<unsigned int> gpu_instance;
  std::optional<unsigned int> compute_instance;
};

// A GPU that a backend sees, usable or not.
struct GpuIdentity {
  unsigned int index = 0;  // the driver's, in order of PCI address
  std::string uuid;        // "GPU-..."; empty where the GPU cannot be used
  std::string name;
  std::string pci_bus_id;  // "00000000:17:00.0", or empty
  bool mig_enabled = false;
  std::vector<MigIdentity> mig;
};

// "GPU 3": how messages and DeviceProblem name it.
std::string GpuLabel(unsigned int index);

// The words as given; nothing where an option or variable is not set.
struct VisibleDevicesRequest {
  std::optional<std::string> gpus_option;           // --gpus
  std::optional<std::string> cuda_visible_devices;  // CUDA_VISIBLE_DEVICES
  std::optional<std::string> cuda_device_order;     // CUDA_DEVICE_ORDER
  std::optional<std::string> slurm_step_gpus;       // SLURM_STEP_GPUS
  std::optional<std::string> slurm_job_gpus;        // SLURM_JOB_GPUS
};

enum class SelectionSource : std::uint8_t { kGpusOption, kCudaVisibleDevices, kSlurm, kAll };

// "--gpus", "CUDA_VISIBLE_DEVICES", "SLURM_STEP_GPUS or SLURM_JOB_GPUS", "all GPUs of this
// machine".
std::string_view SelectionSourceName(SelectionSource source);

struct SelectedGpu {
  std::size_t position = 0;  // in the list that was given
  std::string uuid;          // empty where the GPU cannot be used: its DeviceProblem says why
  // Named by a MIG instance of it, or MIG is on: others may run on the rest of it.
  bool shared = false;
};

struct GpuSelection {
  SelectionSource source = SelectionSource::kAll;
  std::vector<SelectedGpu> gpus;      // each GPU once, in the order of the list that was given
  std::vector<std::string> notes;     // what a reader of the numbers should know
  std::vector<std::string> warnings;  // odd values, and what was made of them
};

// The first of these that is set decides:
// 1. `--gpus`: "all", "none", or a list of indices and ranges ("0,2-3"), UUIDs or their unique
//    beginnings ("GPU-265c"), MIG instances, PCI bus ids ("0000:17:00.0", "17:00.0"). What names no
//    usable GPU, or more than one, is an error that lists the GPUs there are.
// 2. CUDA_VISIBLE_DEVICES by CUDA's rules: indices, or UUIDs and their unique beginnings, or MIG
//    instances; the first entry that is not valid ends the list; one that is there twice empties
//    it; an empty text or -1 means none. Never an error.
// 3. SLURM_STEP_GPUS, then SLURM_JOB_GPUS (indices and ranges). Indices that are not there mean
//    that the job sees only its own GPUs: all of them. Never an error.
// 4. All GPUs.
// A MIG instance selects its whole GPU, which no driver can measure in parts.
// `gpus` is in the driver's order; those without UUID are known only to be there.
Result<GpuSelection> SelectGpus(std::span<const GpuIdentity> gpus,
                                const VisibleDevicesRequest& request);

// Drops the GPUs, and the problems of GPUs ("GPU 3"), that are not selected; other devices stay.
void KeepSelected(Discovery& discovery, std::span<const GpuIdentity> gpus,
                  const GpuSelection& selection);

}  // namespace lowtide
