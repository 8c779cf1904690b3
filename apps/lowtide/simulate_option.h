// --simulate-gpu: which measured power curve stands in for a GPU.
#pragma once

#include <string_view>

#include "base/result.h"
#include "device/simulated/simulated_gpu.h"

namespace lowtide::cli {

// "A40" or "V100", with an optional ":DATASET/NETWORK/BATCH_SIZE/OPTIMIZER" (default: ImageNet's
// ResNet-50), from Zeus's published traces built into the program; or FILE[:SELECTOR], any form
// that a power curve can be read from.
Result<SimulatedGpuOptions> ParseSimulateGpu(std::string_view text);

}  // namespace lowtide::cli
