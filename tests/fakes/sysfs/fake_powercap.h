// A powercap tree, and counters that follow a script.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "device/rapl/rapl_reader.h"
#include "fakes/sysfs/temp_folder.h"

namespace lowtide::fakes {

// 2^32 steps of 2^-14 J less one step: what most Intel packages show.
inline constexpr std::uint64_t kUsualRangeUj = 262'143'328'850;

struct FakeZone {
  std::string folder;  // "intel-rapl:0", "intel-rapl:0:1", "intel-rapl-mmio:0"
  std::string name;    // "package-0", "dram", "psys"
  std::uint64_t energy_uj = 1'000'000;
  std::optional<std::uint64_t> range_uj = kUsualRangeUj;  // nothing: no such file
  int enabled = 1;
};

enum class Layout : std::uint8_t {
  kFlat,    // every zone in the root, as the kernel's class folder
  kNested,  // zones in their parents, those in their control type's folder, as a bind mount of it
};

class FakePowercap {
 public:
  explicit FakePowercap(Layout layout = Layout::kFlat) : layout_(layout) {}

  // What RaplOptions::root takes.
  const std::filesystem::path& Root() const { return folder_.Path(); }
  std::filesystem::path Folder(const std::string& zone) const;
  std::filesystem::path EnergyFile(const std::string& zone) const {
    return Folder(zone) / "energy_uj";
  }

  void Add(const FakeZone& zone);
  void SetEnergy(const std::string& zone, std::uint64_t uj);
  std::uint64_t Energy(const std::string& zone) const { return energy_.at(zone); }
  // Counts on, and around the end of the range, as the hardware does.
  void AddEnergy(const std::string& zone, std::uint64_t uj);
  // File mode of energy_uj; root reads it all the same: see ScriptedRapl::Deny.
  void SetEnergyMode(const std::string& zone, unsigned mode);
  void Remove(const std::string& zone);
  // A link to nowhere, as a container shows that has the class folder but not the devices.
  void AddDanglingLink(const std::string& zone);

 private:
  TempFolder folder_;
  Layout layout_;
  std::map<std::string, std::uint64_t> energy_;
  std::map<std::string, std::uint64_t> range_;
};

// Stands between RaplBackend and the files: answers from a script, then from the file itself.
class ScriptedRapl {
 public:
  // Opening, and reading of what was opened before, is refused until Allow.
  void Deny(const std::filesystem::path& energy_uj) { denied_[energy_uj] = true; }
  void Allow(const std::filesystem::path& energy_uj) { denied_[energy_uj] = false; }
  // The next reads of the file, in order.
  void Push(const std::filesystem::path& energy_uj, Result<std::uint64_t> value) {
    script_[energy_uj].push_back(std::move(value));
  }
  void PushEio(const std::filesystem::path& energy_uj);

  // Refers to this object.
  RaplOpener Opener();

 private:
  friend class ScriptedReader;

  std::map<std::filesystem::path, bool> denied_;
  std::map<std::filesystem::path, std::deque<Result<std::uint64_t>>> script_;
};

}  // namespace lowtide::fakes
