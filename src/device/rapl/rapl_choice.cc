#include "device/rapl/rapl_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

namespace lowtide {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadings = 7;
constexpr Seconds kBetweenReadings{0.002};
// Of the 6 steps, those on both sides of one reading may differ: the counters are read one after
// the other, and may move in between.
constexpr std::size_t kEqualSteps = 4;

using Readings = std::array<std::optional<std::uint64_t>, kReadings>;

std::vector<Readings> Watch(std::vector<ChosenRaplZone>& zones, const RaplChoiceOptions& options) {
  std::vector<Readings> out(zones.size());
  for (std::size_t i = 0; i < kReadings; ++i) {
    if (i > 0) options.wait(kBetweenReadings);
    for (std::size_t z = 0; z < zones.size(); ++z) {
      if (!zones[z].reader) continue;
      if (const auto value = zones[z].reader->Read()) out[z][i] = *value;
    }
  }
  return out;
}

bool StandsStill(const Readings& readings) {
  return readings.front().has_value() && std::ranges::all_of(readings, [&](const auto& value) {
           return value == readings.front();
         });
}

bool AreMirrors(const Readings& a, const Readings& b) {
  std::size_t equal = 0;
  for (std::size_t i = 1; i < kReadings; ++i) {
    if (!a[i] || !a[i - 1] || !b[i] || !b[i - 1]) continue;
    const std::uint64_t step = *a[i] - *a[i - 1];
    if (step != 0 && step == *b[i] - *b[i - 1]) ++equal;
  }
  return equal >= kEqualSteps;
}

bool IsDoubtful(std::vector<ChosenRaplZone>& zones) {
  const auto packages = std::ranges::count_if(zones, [](const ChosenRaplZone& z) {
    return z.reader && z.zone.kind == DeviceKind::kCpuPackage;
  });
  if (packages > 1) return true;
  return std::ranges::any_of(zones, [](const ChosenRaplZone& z) {
    return z.reader && (z.zone.disabled || z.reader->Read() == 0U);
  });
}

// (mirror, the zone it mirrors), mirrors in ascending order.
std::vector<std::pair<std::size_t, std::size_t>> FindMirrors(
    const std::vector<ChosenRaplZone>& zones, const std::vector<Readings>& readings) {
  std::vector<std::pair<std::size_t, std::size_t>> mirrors;
  for (std::size_t b = 1; b < zones.size(); ++b) {
    if (zones[b].zone.kind != DeviceKind::kCpuPackage) continue;
    for (std::size_t a = 0; a < b; ++a) {
      if (zones[a].zone.kind != DeviceKind::kCpuPackage) continue;
      if (std::ranges::any_of(mirrors, [a](const auto& m) { return m.first == a; })) continue;
      if (!AreMirrors(readings[a], readings[b])) continue;
      mirrors.emplace_back(b, a);
      break;
    }
  }
  return mirrors;
}

void AddNote(std::string& note, std::string_view text) {
  if (!note.empty()) note += "; ";
  note += text;
}

// Marks the mirrors of `readings` for dropping, with the DRAM of their packages.
void MarkMirrors(std::vector<ChosenRaplZone>& zones, const std::vector<Readings>& readings,
                 const RaplChoiceOptions& options, std::vector<bool>& drop) {
  const auto mirrors = FindMirrors(zones, readings);
  if (mirrors.empty()) return;
  // Two idle sockets might agree once by chance.
  const auto again = FindMirrors(zones, Watch(zones, options));
  for (const auto& pair : mirrors) {
    if (std::ranges::find(again, pair) == again.end()) continue;
    const auto [mirror, original] = pair;
    const RaplZone& gone = zones[mirror].zone;
    AddNote(zones[original].note,
            fmt::format("{} shows the same counter and is not counted again", gone.label));
    drop[mirror] = true;
    for (std::size_t i = 0; i < zones.size(); ++i) {
      const RaplZone& zone = zones[i].zone;
      if (zone.kind == DeviceKind::kDram && zone.parent == gone.label) drop[i] = true;
    }
  }
}

std::optional<DeviceProblem> StillProblem(const ChosenRaplZone& z, const Readings& readings) {
  if (!z.reader || !StandsStill(readings)) return std::nullopt;
  const std::uint64_t value = *readings.front();
  if (z.zone.disabled) {
    const fs::path enabled = z.zone.folder / "enabled";
    return DeviceProblem{
        z.zone.kind, z.zone.folder.string(),
        Error{Code::kUnavailable,
              fmt::format("zone {} is disabled ({} is 0) and its counter stands still at {} uJ",
                          z.zone.label, enabled.string(), value)},
        fmt::format("enable it: 'echo 1 | sudo tee {}'", enabled.string())};
  }
  if (value != 0) return std::nullopt;
  return DeviceProblem{
      z.zone.kind, z.zone.folder.string(),
      Error{Code::kUnavailable, fmt::format("the counter of zone {} stays at 0 uJ", z.zone.label)},
      "virtual machines and some processors show a counter that does not count; the "
      "energy is modelled instead"};
}

void ResolveDoubts(RaplChoice& choice, const RaplChoiceOptions& options) {
  const auto readings = Watch(choice.zones, options);
  std::vector<bool> drop(choice.zones.size());
  MarkMirrors(choice.zones, readings, options, drop);
  for (std::size_t i = 0; i < choice.zones.size(); ++i) {
    if (drop[i]) continue;
    auto problem = StillProblem(choice.zones[i], readings[i]);
    if (!problem) continue;
    choice.problems.push_back(*std::move(problem));
    drop[i] = true;
  }
  std::size_t index = 0;
  std::erase_if(choice.zones, [&](const ChosenRaplZone&) { return drop[index++]; });
}

void MakeUuids(RaplChoice& choice) {
  std::map<std::string, int> uses;
  for (const ChosenRaplZone& z : choice.zones) ++uses[z.zone.label];
  for (ChosenRaplZone& z : choice.zones) {
    z.uuid = "rapl:" + z.zone.label;
    // Zones of one name are told apart by their folder.
    if (uses[z.zone.label] > 1) z.uuid += "@" + z.zone.folder.filename().string();
  }
}

bool IsDuplicate(const RaplZone& a, const RaplZone& b) {
  return a.label == b.label && a.control_type != b.control_type;
}

struct Refusal {
  RaplZone zone;
  Error error;
};

// Opens each zone; of duplicates only the first that opens.
void OpenZones(std::vector<RaplZone> zones, const RaplOpener& open, RaplChoice& choice,
               std::vector<Refusal>& refusals) {
  for (RaplZone& zone : zones) {
    if (std::ranges::any_of(choice.zones,
                            [&](const ChosenRaplZone& z) { return IsDuplicate(z.zone, zone); })) {
      continue;
    }
    const auto duplicate = std::ranges::find_if(
        refusals, [&](const Refusal& refusal) { return IsDuplicate(refusal.zone, zone); });
    auto reader = open(zone.folder / "energy_uj");
    if (!reader) {
      // Duplicates that both refuse are one problem.
      if (duplicate == refusals.end()) {
        refusals.push_back({std::move(zone), std::move(reader).error()});
      }
      continue;
    }
    ChosenRaplZone chosen{std::move(zone), {}, {}, *std::move(reader)};
    if (!chosen.zone.range_uj) {
      AddNote(chosen.note, "wrap range unreadable: the interval of a wrap is dropped");
    }
    if (duplicate != refusals.end()) {
      AddNote(chosen.note, fmt::format("read through {}: {}", chosen.zone.control_type,
                                       duplicate->error.message));
      refusals.erase(duplicate);
    }
    choice.zones.push_back(std::move(chosen));
  }
}

}  // namespace

RaplChoice ChooseRaplZones(RaplScan scan, const RaplChoiceOptions& options) {
  RaplChoice choice;
  choice.problems = std::move(scan.problems);
  std::vector<Refusal> refusals;
  OpenZones(std::move(scan.zones), options.open, choice, refusals);
  for (Refusal& refusal : refusals) {
    const bool may_come = refusal.error.code == Code::kPermissionDenied;
    choice.problems.push_back({refusal.zone.kind, refusal.zone.folder.string(),
                               std::move(refusal.error),
                               std::string(may_come ? kRaplPermissionRemedy : kRaplAbsentRemedy)});
    if (may_come && options.on_unreadable == OnUnreadable::kWait) {
      choice.zones.push_back({std::move(refusal.zone), {}, "not readable at the start", nullptr});
    }
  }
  if (IsDoubtful(choice.zones)) ResolveDoubts(choice, options);
  MakeUuids(choice);
  return choice;
}

}  // namespace lowtide
