// What `lowtide plan` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grid/intensity.h"
#include "plan/plan.h"
#include "plan/policy.h"
#include "plan/power_curve.h"

namespace lowtide::cli {

// A plan with what it was made from.
struct PlanReport {
  Policy policy;
  PowerCurve curve;
  std::string curve_file;
  std::optional<IntensityOrigin> origin;  // nothing: no intensity was given
  Plan plan;
  std::vector<std::string> notes;  // what a reader of the numbers must know
};

// Indented JSON. It can be read as a power curve again (plan/power_curve_reader.h).
std::string PlanJson(const PlanReport& report);

// A table for people; long plans are shortened in the middle.
std::string PlanText(const PlanReport& report);

}  // namespace lowtide::cli
