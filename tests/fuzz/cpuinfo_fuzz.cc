#include <cstdint>
#include <string_view>

#include "device/cpu_model/tdp_table.h"
#include "device/proc/proc_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto info = lowtide::ParseCpuInfo({reinterpret_cast<const char*>(data), size});
  if (!info) {
    if (info.error().message.empty()) __builtin_trap();
    return 0;
  }
  if (info->threads < 1 || info->packages < 1) __builtin_trap();
  if (info->model) {
    if (info->model->empty()) __builtin_trap();
    // What tells a processor apart is shorter than its name, and has no capitals or double blanks.
    const std::string key = lowtide::NormalizeCpuName(*info->model);
    if (key.size() > info->model->size()) __builtin_trap();
    if (key.find("  ") != std::string::npos) __builtin_trap();
    for (const char c : key) {
      if (c >= 'A' && c <= 'Z') __builtin_trap();
    }
  }
  return 0;
}
