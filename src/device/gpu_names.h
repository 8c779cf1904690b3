// How people and schedulers name a GPU, matched against the GPUs there are. For visible_devices.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/visible_devices.h"

namespace lowtide::gpu_names {

enum class Case : std::uint8_t { kExact, kIgnore };

// What a name found: none, one, or too many.
struct Match {
  std::optional<std::size_t> gpu;  // position in the list
  std::optional<std::size_t> mig;  // position in that GPU's list, where an instance was named
  std::size_t candidates = 0;      // 1 when `gpu` is set
};

bool StartsWith(std::string_view text, std::string_view start, Case letters);

// Parts between commas, spaces around them removed; an empty text has none.
std::vector<std::string_view> SplitList(std::string_view text);

// The whole text as a number without sign; nothing for "", "+1", "1a" or what does not fit.
std::optional<unsigned int> ParseIndex(std::string_view text);

struct IndexRange {
  unsigned int first = 0;
  unsigned int last = 0;  // inclusive
};
// "3" or "2-5".
std::optional<IndexRange> ParseIndexRange(std::string_view text);

std::optional<std::size_t> FindIndex(std::span<const GpuIdentity> gpus, unsigned int index);
// "GPU-265c..." or its beginning.
Match FindGpuUuid(std::span<const GpuIdentity> gpus, std::string_view text, Case letters);
// "MIG-<uuid>" or its beginning, "MIG-GPU-<uuid>/<gi>/<ci>".
Match FindMig(std::span<const GpuIdentity> gpus, std::string_view text, Case letters);
// "0000:17:00.0", "00000000:17:00.0", "17:00.0", "17:00".
Match FindPciBusId(std::span<const GpuIdentity> gpus, std::string_view text);

// The name in quotes, cut where it is very long.
std::string Quoted(std::string_view text);
// "0 GPU-265c... (NVIDIA A40, 00000000:17:00.0), 1 ..."; "none".
std::string ListOf(std::span<const GpuIdentity> gpus);

}  // namespace lowtide::gpu_names
