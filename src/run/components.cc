#include "run/components.h"

#include <fmt/format.h>

#include <algorithm>

namespace lowtide {

std::string DescribeProblem(const DeviceProblem& problem) {
  std::string text = problem.error.message.starts_with(problem.name)
                         ? problem.error.message
                         : fmt::format("{}: {}", problem.name, problem.error.message);
  if (!problem.remedy.empty()) text += "; " + problem.remedy;
  return text;
}

namespace {

// The names under which a kind of device is missed.
std::string MissingName(std::string_view kind) {
  if (kind == "gpu") return "GPU";
  return kind == "cpu" ? "CPU" : "DRAM";
}

// What a reader of a report needs; `lowtide doctor` has the rest.
std::string Brief(const std::string& message) {
  constexpr std::size_t kLongest = 100;
  const std::string first = message.substr(0, message.find("; "));
  return first.size() <= kLongest ? first : first.substr(0, kLongest - 3) + "...";
}

}  // namespace

std::vector<ComponentRecord> MakeComponents(
    const std::vector<std::unique_ptr<PowerDevice>>& devices,
    const std::vector<DeviceProblem>& problems) {
  std::vector<ComponentRecord> components;
  const auto next_index = [&] { return static_cast<int>(components.size()); };
  for (const auto& device : devices) {
    const DeviceInfo& info = device->Info();
    ComponentRecord component;
    component.index = next_index();
    component.kind = DeviceKindName(info.kind);
    component.name = info.name;
    component.uuid = info.uuid;
    component.backend = info.backend;
    component.driver = info.driver;
    component.status = info.provenance;
    // The model of a modelled device is its method; a measured one's is known while it measures.
    (info.provenance == Provenance::kMeasured ? component.note : component.method) = info.note;
    components.push_back(std::move(component));
  }
  const std::size_t found = components.size();
  for (const DeviceProblem& problem : problems) {
    const std::string kind(DeviceKindName(problem.kind));
    const auto same_kind = [&](const ComponentRecord& c) { return c.kind == kind; };
    const auto known = std::ranges::find_if(components, same_kind);
    if (known == components.end()) {
      ComponentRecord component;
      component.index = next_index();
      component.kind = kind;
      component.name = MissingName(kind);
      component.status = Provenance::kMissing;
      component.note = Brief(problem.error.message);
      components.push_back(std::move(component));
    } else if (std::distance(components.begin(), known) >= static_cast<std::ptrdiff_t>(found)) {
      known->note += "; " + Brief(problem.error.message);
    }
  }
  return components;
}

}  // namespace lowtide
