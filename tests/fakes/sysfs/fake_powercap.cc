#include "fakes/sysfs/fake_powercap.h"

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/file.h"

namespace lowtide::fakes {

namespace fs = std::filesystem;

fs::path FakePowercap::Folder(const std::string& zone) const {
  if (layout_ == Layout::kFlat) return Root() / zone;
  // "intel-rapl:0:1" lies in intel-rapl/intel-rapl:0/intel-rapl:0:1.
  fs::path path = Root();
  for (auto colon = zone.find(':'); colon != std::string::npos; colon = zone.find(':', colon + 1)) {
    path /= zone.substr(0, colon);
  }
  return path / zone;
}

void FakePowercap::Add(const FakeZone& zone) {
  const fs::path folder = Folder(zone.folder);
  WriteText(folder / "name", zone.name + "\n");
  WriteText(folder / "enabled", std::to_string(zone.enabled) + "\n");
  if (zone.range_uj) {
    WriteText(folder / "max_energy_range_uj", std::to_string(*zone.range_uj) + "\n");
    range_[zone.folder] = *zone.range_uj;
  }
  SetEnergy(zone.folder, zone.energy_uj);
}

void FakePowercap::SetEnergy(const std::string& zone, std::uint64_t uj) {
  energy_[zone] = uj;
  WriteNumber(EnergyFile(zone), uj);
}

void FakePowercap::AddEnergy(const std::string& zone, std::uint64_t uj) {
  std::uint64_t sum = Energy(zone) + uj;
  if (const auto range = range_.find(zone); range != range_.end()) sum %= range->second;
  SetEnergy(zone, sum);
}

void FakePowercap::SetEnergyMode(const std::string& zone, unsigned mode) {
  fs::permissions(EnergyFile(zone), static_cast<fs::perms>(mode));
}

void FakePowercap::Remove(const std::string& zone) { fs::remove_all(Folder(zone)); }

void FakePowercap::AddDanglingLink(const std::string& zone) {
  fs::create_symlink("../../devices/virtual/powercap/none/" + zone, Root() / zone);
}

class ScriptedReader final : public RaplReader {
 public:
  ScriptedReader(ScriptedRapl& rapl, fs::path path, std::unique_ptr<RaplReader> file)
      : rapl_(rapl), path_(std::move(path)), file_(std::move(file)) {}

  Result<std::uint64_t> Read() override {
    if (rapl_.denied_[path_]) return FailErrno(EACCES, "cannot read " + path_.string());
    auto& script = rapl_.script_[path_];
    if (script.empty()) return file_->Read();
    auto value = std::move(script.front());
    script.pop_front();
    return value;
  }

 private:
  ScriptedRapl& rapl_;
  fs::path path_;
  std::unique_ptr<RaplReader> file_;
};

void ScriptedRapl::PushEio(const fs::path& energy_uj) {
  Push(energy_uj, FailErrno(EIO, "cannot read " + energy_uj.string()));
}

RaplOpener ScriptedRapl::Opener() {
  return [this](const fs::path& path) -> Result<std::unique_ptr<RaplReader>> {
    if (denied_[path]) return FailErrno(EACCES, "cannot read " + path.string());
    LOWTIDE_TRY(auto file, OpenSysfsRapl(path));
    return std::make_unique<ScriptedReader>(*this, path, std::move(file));
  };
}

}  // namespace lowtide::fakes
