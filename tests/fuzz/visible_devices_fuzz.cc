// SelectGpus on any words, over GPUs that the words themselves cannot make up: first line --gpus,
// second CUDA_VISIBLE_DEVICES, third CUDA_DEVICE_ORDER, fourth SLURM_STEP_GPUS. A line "~" is not
// set.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/visible_devices.h"

namespace {

using lowtide::GpuIdentity;

std::vector<GpuIdentity> Machine() {
  std::vector<GpuIdentity> gpus(5);
  for (unsigned int i = 0; i < gpus.size(); ++i) {
    gpus[i].index = i;
    gpus[i].uuid = "GPU-265c" + std::to_string(i) + "111-aaaa";
    gpus[i].name = i == 3 ? "NVIDIA T4" : "NVIDIA A100";
    gpus[i].pci_bus_id = "00000000:1" + std::to_string(i) + ":00.0";
  }
  gpus[1].uuid.clear();
  gpus[2].mig_enabled = true;
  gpus[2].mig = {{"MIG-11111111-aaaa", 1, 0}, {"MIG-GPU-265c2111-aaaa/2/0", 2, 0}};
  return gpus;
}

std::optional<std::string> TakeLine(std::string_view& text) {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  if (line == "~") return std::nullopt;
  return std::string(line);
}

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  lowtide::VisibleDevicesRequest request;
  request.gpus_option = TakeLine(text);
  request.cuda_visible_devices = TakeLine(text);
  request.cuda_device_order = TakeLine(text);
  request.slurm_step_gpus = TakeLine(text);
  const auto gpus = Machine();
  const auto selection = lowtide::SelectGpus(gpus, request);
  if (!selection) {
    // Only the option may be wrong, and the message stays short and says which.
    Require(request.gpus_option.has_value());
    Require(selection.error().code == lowtide::Code::kInvalidArgument);
    Require(selection.error().message.starts_with("--gpus: "));
    Require(selection.error().message.size() < 1000);
    return 0;
  }
  Require(request.gpus_option.has_value() ==
          (selection->source == lowtide::SelectionSource::kGpusOption));
  std::optional<std::size_t> last;
  for (const auto& gpu : selection->gpus) {
    Require(gpu.position < gpus.size());
    Require(!last || *last < gpu.position);  // each once, in order
    Require(gpu.uuid == gpus[gpu.position].uuid);
    Require(gpu.shared == gpus[gpu.position].mig_enabled);
    last = gpu.position;
  }
  return 0;
}
