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
    component.note = info.note;
    if (info.provenance != Provenance::kMeasured) component.method = info.note;
    components.push_back(std::move(component));
  }
  for (const DeviceProblem& problem : problems) {
    const std::string kind(DeviceKindName(problem.kind));
    if (std::ranges::any_of(components, [&](const auto& c) { return c.kind == kind; })) continue;
    ComponentRecord component;
    component.index = next_index();
    component.kind = kind;
    component.name = problem.name;
    component.status = Provenance::kMissing;
    component.note = DescribeProblem(problem);
    components.push_back(std::move(component));
  }
  return components;
}

}  // namespace lowtide
