// /proc/PID/statm, smaps_rollup and task/TID/children.
#include <cstdint>
#include <string_view>

#include "device/proc/proc_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto pages = lowtide::ParseStatmResidentPages(text);
      pages && *pages > (std::uint64_t{1} << 53U)) {
    __builtin_trap();
  }
  if (const auto pss = lowtide::ParseSmapsRollupPss(text); pss && *pss % 1024 != 0) {
    __builtin_trap();
  }
  for (const pid_t pid : lowtide::ParseChildren(text)) {
    if (pid <= 0) __builtin_trap();
  }
  return 0;
}
