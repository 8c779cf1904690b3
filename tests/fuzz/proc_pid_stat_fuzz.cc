#include <cstdint>
#include <string>

#include "device/proc/proc_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto stat = lowtide::ParseProcPidStat(text);
  if (!stat) {
    if (stat.error().message.empty()) __builtin_trap();
    return 0;
  }
  if (stat->pid < 0 || stat->parent < 0) __builtin_trap();
  if (stat->TotalTicks() < stat->user_ticks) __builtin_trap();
  // What was read, written the kernel's way, reads the same.
  const std::string again =
      std::to_string(stat->pid) + " (" + stat->comm + ") " + stat->state + " " +
      std::to_string(stat->parent) + " 0 0 0 0 0 0 0 0 0 " + std::to_string(stat->user_ticks) +
      " " + std::to_string(stat->system_ticks) + " " + std::to_string(stat->children_user_ticks) +
      " " + std::to_string(stat->children_system_ticks) + " 0\n";
  const auto second = lowtide::ParseProcPidStat(again);
  if (!second || second->TotalTicks() != stat->TotalTicks() || second->comm != stat->comm ||
      second->parent != stat->parent) {
    __builtin_trap();
  }
  return 0;
}
