#include "device/visible_devices.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "device/gpu_names.h"

namespace lowtide {
namespace {

using gpu_names::Case;
using gpu_names::Match;
using gpu_names::Quoted;
using Gpus = std::span<const GpuIdentity>;

constexpr std::string_view kCuda = "CUDA_VISIBLE_DEVICES";

// Selects each GPU once and puts them into the driver's order at the end.
class Chosen {
 public:
  explicit Chosen(Gpus gpus) : gpus_(gpus), chosen_(gpus.size(), false) {}

  // False where it was selected already.
  bool Add(std::size_t position) {
    if (chosen_[position]) return false;
    chosen_[position] = true;
    return true;
  }
  void AddAll() { std::fill(chosen_.begin(), chosen_.end(), true); }
  void Clear() { std::fill(chosen_.begin(), chosen_.end(), false); }

  std::vector<SelectedGpu> List() const {
    std::vector<SelectedGpu> out;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if (chosen_[i]) out.push_back({i, gpus_[i].uuid, gpus_[i].mig_enabled});
    }
    return out;
  }

 private:
  Gpus gpus_;
  std::vector<bool> chosen_;
};

std::string WholeGpuNote(Gpus gpus, const Match& match) {
  const auto& gpu = gpus[*match.gpu];
  return fmt::format("{} is a part of {}: the whole GPU is measured", gpu.mig[*match.mig].uuid,
                     GpuLabel(gpu.index));
}

std::unexpected<Error> BadEntry(Gpus gpus, std::string_view entry, std::string_view why) {
  return Fail(Code::kInvalidArgument, fmt::format("--gpus: {} {}; GPUs here: {}", Quoted(entry),
                                                  why, gpu_names::ListOf(gpus)));
}

Result<std::vector<Match>> FindEntry(Gpus gpus, std::string_view entry) {
  if (const auto range = gpu_names::ParseIndexRange(entry)) {
    std::vector<Match> out;
    for (unsigned int i = range->first;; ++i) {
      const auto position = gpu_names::FindIndex(gpus, i);
      if (!position) {
        return BadEntry(gpus, entry,
                        range->first == range->last ? std::string("is not the index of a GPU")
                                                    : fmt::format("asks for {}, which is not the "
                                                                  "index of a GPU",
                                                                  i));
      }
      out.push_back({position, std::nullopt, 1});
      if (i == range->last) return out;
    }
  }
  Match match;
  if (gpu_names::StartsWith(entry, "GPU-", Case::kIgnore)) {
    match = gpu_names::FindGpuUuid(gpus, entry, Case::kIgnore);
  } else if (gpu_names::StartsWith(entry, "MIG-", Case::kIgnore)) {
    match = gpu_names::FindMig(gpus, entry, Case::kIgnore);
  } else if (entry.find(':') != std::string_view::npos) {
    match = gpu_names::FindPciBusId(gpus, entry);
  } else {
    return BadEntry(gpus, entry,
                    "is neither an index, a range, a GPU- or MIG- UUID, a PCI bus id, nor \"all\" "
                    "or \"none\" alone");
  }
  if (match.candidates > 1) {
    return BadEntry(gpus, entry, fmt::format("is the beginning of {} names", match.candidates));
  }
  if (!match.gpu) return BadEntry(gpus, entry, "names no GPU of this machine");
  return std::vector<Match>{match};
}

Result<GpuSelection> FromOption(Gpus gpus, std::string_view text) {
  GpuSelection out;
  out.source = SelectionSource::kGpusOption;
  Chosen chosen(gpus);
  const auto entries = gpu_names::SplitList(text);
  if (entries.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--gpus: an empty list; give \"all\", \"none\", or some of: {}",
                            gpu_names::ListOf(gpus)));
  }
  if (entries.size() == 1 && entries[0] == "none") return out;
  if (entries.size() == 1 && entries[0] == "all") {
    chosen.AddAll();
    out.gpus = chosen.List();
    return out;
  }
  for (const auto entry : entries) {
    LOWTIDE_TRY(const auto matches, FindEntry(gpus, entry));
    for (const auto& match : matches) {
      if (gpus[*match.gpu].uuid.empty()) {
        return BadEntry(
            gpus, entry,
            fmt::format("asks for {}, which cannot be used", GpuLabel(gpus[*match.gpu].index)));
      }
      chosen.Add(*match.gpu);
      if (match.mig) out.notes.push_back(WholeGpuNote(gpus, match));
    }
  }
  out.gpus = chosen.List();
  return out;
}

enum class CudaForm : std::uint8_t { kIndex, kGpuUuid, kMig };

CudaForm FormOf(std::string_view entry) {
  if (entry.starts_with("GPU-")) return CudaForm::kGpuUuid;
  if (entry.starts_with("MIG-")) return CudaForm::kMig;
  return CudaForm::kIndex;
}

// CUDA reads an index as strtol does: the digits at the start, whatever follows them.
std::optional<unsigned int> CudaIndex(std::string_view entry) {
  if (entry.starts_with('+')) entry.remove_prefix(1);
  return gpu_names::ParseIndex(entry.substr(0, entry.find_first_not_of("0123456789")));
}

class CudaList {
 public:
  CudaList(Gpus gpus, GpuSelection& out) : gpus_(gpus), out_(out), chosen_(gpus) {}

  void Read(std::string_view text) {
    const auto entries = gpu_names::SplitList(text);
    if (entries.empty()) return;  // none, and the usual way to say so
    form_ = FormOf(entries[0]);
    for (const auto entry : entries) {
      if (!Take(entry)) break;
    }
    if (form_ == CudaForm::kMig && taken_.size() > 1) {
      out_.notes.push_back(
          fmt::format("{} names {} MIG instances: a process sees only the first of them", kCuda,
                      taken_.size()));
    }
    out_.gpus = chosen_.List();
    for (const auto& gpu : out_.gpus) {
      if (!gpu.uuid.empty()) continue;
      Warn("{} names {}, which cannot be used", kCuda, GpuLabel(gpus_[gpu.position].index));
    }
  }

  bool UsesIndices() const { return form_ == CudaForm::kIndex && !taken_.empty(); }

 private:
  template <class... Args>
  void Warn(fmt::format_string<Args...> format, Args&&... args) {
    out_.warnings.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  // False at the end of what CUDA reads.
  bool Take(std::string_view entry) {
    Match match;
    switch (form_) {
      case CudaForm::kGpuUuid:
        if (FormOf(entry) == form_) match = gpu_names::FindGpuUuid(gpus_, entry, Case::kExact);
        break;
      case CudaForm::kMig:
        if (FormOf(entry) == form_) match = gpu_names::FindMig(gpus_, entry, Case::kExact);
        break;
      case CudaForm::kIndex:
        if (entry == "-1") return false;  // the usual way to end it: no warning
        match = FindCudaIndex(entry);
        break;
    }
    if (!match.gpu) {
      Warn("{}: {} {}; CUDA ignores it and what follows", kCuda, Quoted(entry),
           match.candidates > 1 ? "is the beginning of several names" : "is no GPU here");
      return false;
    }
    const auto key = std::pair(*match.gpu, match.mig.value_or(0));
    if (std::find(taken_.begin(), taken_.end(), key) != taken_.end()) {
      Warn("{}: {} is there twice; CUDA then sees no GPU at all", kCuda, Quoted(entry));
      chosen_.Clear();
      taken_.clear();
      return false;
    }
    taken_.push_back(key);
    chosen_.Add(*match.gpu);
    if (match.mig) out_.notes.push_back(WholeGpuNote(gpus_, match));
    return true;
  }

  Match FindCudaIndex(std::string_view entry) {
    Match match;
    const auto index = CudaIndex(entry);
    if (!index) return match;
    match.gpu = gpu_names::FindIndex(gpus_, *index);
    match.candidates = match.gpu ? 1 : 0;
    if (match.gpu && !gpu_names::ParseIndex(entry)) {
      Warn("{}: CUDA reads {} as {}", kCuda, Quoted(entry), *index);
    }
    return match;
  }

  Gpus gpus_;
  GpuSelection& out_;
  Chosen chosen_;
  CudaForm form_ = CudaForm::kIndex;
  std::vector<std::pair<std::size_t, std::size_t>> taken_;  // GPU, MIG instance
};

bool ModelsDiffer(Gpus gpus) {
  return std::any_of(gpus.begin(), gpus.end(),
                     [&](const GpuIdentity& g) { return g.name != gpus.front().name; });
}

GpuSelection FromCuda(Gpus gpus, std::string_view text, std::string_view order) {
  GpuSelection out;
  out.source = SelectionSource::kCudaVisibleDevices;
  CudaList list(gpus, out);
  list.Read(text);
  if (list.UsesIndices() && order != "PCI_BUS_ID" && ModelsDiffer(gpus)) {
    out.notes.push_back(fmt::format(
        "{}={} counts from the fastest GPU (CUDA_DEVICE_ORDER is {}), the driver by PCI address, "
        "which Lowtide took; the models here differ, so set CUDA_DEVICE_ORDER=PCI_BUS_ID or use "
        "UUIDs to be sure that both mean the same GPUs",
        kCuda, Quoted(text), order.empty() ? "not set" : Quoted(order)));
  }
  return out;
}

GpuSelection FromSlurm(Gpus gpus, std::string_view variable, std::string_view text) {
  GpuSelection out;
  out.source = SelectionSource::kSlurm;
  Chosen chosen(gpus);
  for (const auto entry : gpu_names::SplitList(text)) {
    const auto range = gpu_names::ParseIndexRange(entry);
    bool here = range.has_value();
    for (unsigned int i = here ? range->first : 0; here; ++i) {
      const auto position = gpu_names::FindIndex(gpus, i);
      here = position.has_value();
      if (here) chosen.Add(*position);
      if (here && i == range->last) break;
    }
    if (here) continue;
    chosen.AddAll();
    out.warnings.push_back(
        fmt::format("{}={}: {} is no GPU here; taking the {} GPUs that this job sees", variable,
                    Quoted(text), Quoted(entry), gpus.size()));
    break;
  }
  out.gpus = chosen.List();
  return out;
}

}  // namespace

std::string GpuLabel(unsigned int index) { return fmt::format("GPU {}", index); }

std::string_view SelectionSourceName(SelectionSource source) {
  switch (source) {
    case SelectionSource::kGpusOption: return "--gpus";
    case SelectionSource::kCudaVisibleDevices: return kCuda;
    case SelectionSource::kSlurm: return "SLURM_STEP_GPUS or SLURM_JOB_GPUS";
    case SelectionSource::kAll: return "all GPUs of this machine";
  }
  return "all GPUs of this machine";
}

Result<GpuSelection> SelectGpus(std::span<const GpuIdentity> gpus,
                                const VisibleDevicesRequest& request) {
  if (request.gpus_option) return FromOption(gpus, *request.gpus_option);
  if (request.cuda_visible_devices) {
    return FromCuda(gpus, *request.cuda_visible_devices, request.cuda_device_order.value_or(""));
  }
  if (request.slurm_step_gpus) {
    return FromSlurm(gpus, "SLURM_STEP_GPUS", *request.slurm_step_gpus);
  }
  if (request.slurm_job_gpus) return FromSlurm(gpus, "SLURM_JOB_GPUS", *request.slurm_job_gpus);
  GpuSelection out;
  Chosen chosen(gpus);
  chosen.AddAll();
  out.gpus = chosen.List();
  return out;
}

void KeepSelected(Discovery& discovery, std::span<const GpuIdentity> gpus,
                  const GpuSelection& selection) {
  std::vector<bool> keep(gpus.size(), false);
  for (const auto& gpu : selection.gpus) keep[gpu.position] = true;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (keep[i]) continue;
    std::erase_if(discovery.devices, [&](const std::unique_ptr<PowerDevice>& device) {
      return device->Info().kind == DeviceKind::kGpu && device->Info().uuid == gpus[i].uuid;
    });
    std::erase_if(discovery.problems, [&](const DeviceProblem& problem) {
      return problem.kind == DeviceKind::kGpu && problem.name == GpuLabel(gpus[i].index);
    });
  }
}

}  // namespace lowtide
