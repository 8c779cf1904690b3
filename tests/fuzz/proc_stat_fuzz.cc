#include <cstdint>
#include <string_view>

#include "device/proc/proc_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto stat = lowtide::ParseProcStat({reinterpret_cast<const char*>(data), size});
  if (!stat) {
    if (stat.error().message.empty()) __builtin_trap();
    return 0;
  }
  // No overflow: the sum is at least each part of it.
  if (stat->BusyTicks() < stat->user || stat->BusyTicks() < stat->soft_irq) __builtin_trap();
  if (stat->cpus < 0) __builtin_trap();
  return 0;
}
