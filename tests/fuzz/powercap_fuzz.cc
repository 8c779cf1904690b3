// One zone folder whose files hold anything: name, max_energy_range_uj, enabled and energy_uj,
// parted by NUL bytes in the input.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "device/rapl/rapl_backend.h"

namespace {

using lowtide::MonoTime;

class Zone {
 public:
  Zone() {
    std::string pattern = (std::filesystem::temp_directory_path() / "powercap-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    root = pattern;
    folder = root / "intel-rapl:0";
    std::filesystem::create_directory(folder);
  }
  ~Zone() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;

  std::filesystem::path root;
  std::filesystem::path folder;
};

void Check(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Zone zone;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (const char* file : {"name", "max_energy_range_uj", "enabled", "energy_uj"}) {
    const auto end = std::min(rest.find('\0'), rest.size());
    std::FILE* out = std::fopen((zone.folder / file).c_str(), "w");
    if (out == nullptr) std::abort();
    if (end > 0) std::fwrite(rest.data(), 1, end, out);
    std::fclose(out);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  lowtide::RaplBackend backend({.root = zone.root, .wait = [](lowtide::Seconds) {}});
  auto discovery = backend.Discover();
  Check(discovery.devices.size() <= 1);
  Check(!discovery.devices.empty() || !discovery.problems.empty());
  for (const auto& device : discovery.devices) {
    Check(device->Info().uuid == "rapl:" + device->Info().name);
    const auto reading = device->Read(MonoTime());
    if (reading) {
      Check(reading->energy == lowtide::Joules(0));
    } else {
      Check(!reading.error().message.empty());
    }
  }
  return 0;
}
