// The two fields of /proc/<pid>/stat that tell one process from another.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lowtide {

struct ProcessStat {
  char state = '?';              // field 3: R, S, D, Z, ...
  std::int64_t start_ticks = 0;  // field 22, clock ticks since boot
};

// Nothing when `text` is not of that form (proc(5)).
std::optional<ProcessStat> ParseProcessStat(std::string_view text);

}  // namespace lowtide
