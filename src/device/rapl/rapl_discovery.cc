#include "device/rapl/rapl_discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "device/rapl/rapl_zone.h"

namespace lowtide {

const std::string_view kRaplPermissionRemedy =
    "since 2020 kernels let only root read RAPL counters (CVE-2020-8694). To allow it: 'sudo chmod "
    "a+r "
    "/sys/class/powercap/*/energy_uj' until the next boot; for good a udev rule such as "
    "'SUBSYSTEM==\"powercap\", ACTION==\"add\", RUN+=\"/bin/chmod a+r /sys%p/energy_uj\"'; or give "
    "the "
    "program alone the right with 'sudo setcap cap_dac_read_search=ep'. Without it the energy is "
    "modelled from CPU time and memory, and labelled modelled";

const std::string_view kRaplAbsentRemedy =
    "RAPL needs an Intel processor, or an AMD one from Zen on with Linux 5.8, not a virtual "
    "machine; "
    "try 'sudo modprobe intel_rapl_msr'. In a container, mount the host's /sys/class/powercap and "
    "/sys/devices/virtual/powercap. Without it the energy is modelled from CPU time and memory, "
    "and "
    "labelled modelled";

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSmallFile = 4096;

std::string_view Trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string ControlTypeOf(const std::string& folder_name) {
  return folder_name.substr(0, folder_name.find(':'));
}

bool IsRaplName(const std::string& folder_name) {
  return ControlTypeOf(folder_name).find("rapl") != std::string::npos;
}

// Folder name -> path. A folder that is there both flat and nested is taken once.
std::map<std::string, fs::path> ZoneFolders(const fs::path& root, std::error_code& error) {
  std::map<std::string, fs::path> found;
  std::vector<std::pair<fs::path, int>> pending{{root, 0}};
  constexpr int kDepth = 3;  // root, control type, package: then the package's children
  while (!pending.empty()) {
    const auto [folder, depth] = pending.back();
    pending.pop_back();
    std::error_code here;
    for (fs::directory_iterator it(folder, here), end; !here && it != end; it.increment(here)) {
      std::string name = it->path().filename().string();
      if (!IsRaplName(name)) continue;
      std::error_code ignored;
      const bool is_folder = fs::is_directory(it->path(), ignored);
      // A dangling link is kept: its files then say what is missing.
      const bool is_zone = name.find(':') != std::string::npos;
      if (!is_folder && !fs::is_symlink(it->path(), ignored)) continue;
      if (is_zone) {
        const auto [known, is_new] = found.try_emplace(std::move(name), it->path());
        if (!is_new && is_folder && !fs::is_directory(known->second, ignored)) {
          known->second = it->path();
        }
      }
      if (is_folder && depth + 1 < kDepth) pending.emplace_back(it->path(), depth + 1);
    }
    if (depth == 0) error = here;
  }
  return found;
}

std::optional<RaplZone> DescribeZone(const fs::path& folder, std::string_view name,
                                     std::string_view parent_name) {
  RaplZone zone;
  zone.folder = folder;
  zone.control_type = ControlTypeOf(folder.filename().string());
  if (name.starts_with("package")) {
    zone.kind = DeviceKind::kCpuPackage;
    zone.label = name;
  } else if (name == "dram" || name.starts_with("dram-")) {
    zone.kind = DeviceKind::kDram;
    zone.label = name;
    if (name == "dram" && parent_name.starts_with("package-")) {
      zone.label = fmt::format("dram-{}", parent_name.substr(std::string_view("package-").size()));
    }
    zone.parent = parent_name;
  } else {
    return std::nullopt;
  }
  if (const auto range = ReadFile(folder / "max_energy_range_uj", kSmallFile)) {
    zone.range_uj = ParseMicrojoules(*range);
    if (zone.range_uj == 0U) zone.range_uj.reset();
  }
  const auto enabled = ReadFile(folder / "enabled", kSmallFile);
  zone.disabled = enabled && Trim(*enabled) == "0";
  return zone;
}

int ControlTypeRank(const std::string& control_type) {
  if (control_type == "intel-rapl") return 0;
  return control_type == "intel-rapl-mmio" ? 2 : 1;
}

// The numbers of "intel-rapl:10:2", so that 10 comes after 9.
std::vector<unsigned> ZoneIndices(std::string_view folder_name) {
  std::vector<unsigned> indices;
  for (auto colon = folder_name.find(':'); colon != std::string_view::npos;
       colon = folder_name.find(':', colon + 1)) {
    unsigned index = 0;
    std::from_chars(folder_name.data() + colon + 1, folder_name.data() + folder_name.size(), index);
    indices.push_back(index);
  }
  return indices;
}

std::string ParentFolderName(const std::string& folder_name) {
  return folder_name.substr(0, folder_name.rfind(':'));
}

}  // namespace

RaplScan ScanPowercap(const fs::path& root) {
  RaplScan scan;
  std::error_code error;
  const auto folders = ZoneFolders(root, error);
  if (error) {
    scan.problems.push_back({DeviceKind::kCpuPackage, root.string(),
                             FailErrno(error.value(), "cannot list " + root.string()).error(),
                             std::string(kRaplAbsentRemedy)});
    return scan;
  }
  std::map<std::string, std::string> names;
  for (const auto& [folder_name, folder] : folders) {
    const auto name = ReadFile(folder / "name", kSmallFile);
    if (name) {
      names[folder_name] = Trim(*name);
      continue;
    }
    const bool is_child = std::ranges::count(folder_name, ':') > 1;
    if (is_child) continue;  // its package is there, or has its own problem
    scan.problems.push_back(
        {DeviceKind::kCpuPackage, folder.string(), name.error(), std::string(kRaplAbsentRemedy)});
  }
  for (const auto& [folder_name, name] : names) {
    const auto parent = names.find(ParentFolderName(folder_name));
    auto zone = DescribeZone(folders.at(folder_name), name,
                             parent == names.end() ? std::string_view() : parent->second);
    if (zone) scan.zones.push_back(*std::move(zone));
  }
  std::ranges::sort(scan.zones, {}, [](const RaplZone& zone) {
    return std::tuple(ControlTypeRank(zone.control_type), zone.control_type,
                      ZoneIndices(zone.folder.filename().string()));
  });
  if (scan.zones.empty() && scan.problems.empty()) {
    scan.problems.push_back(
        {DeviceKind::kCpuPackage, root.string(),
         Error{Code::kNotFound, fmt::format("{} has no RAPL package zone", root.string())},
         std::string(kRaplAbsentRemedy)});
  }
  return scan;
}

}  // namespace lowtide
