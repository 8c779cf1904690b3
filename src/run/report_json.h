// The JSON report. Keys end in their unit; what is unknown is null; times are RFC 3339 UTC.
#pragma once

#include "base/json.h"
#include "run/report.h"

namespace lowtide {

// Raised when a key changes its meaning or goes away; new keys do not raise it.
inline constexpr int kReportSchemaVersion = 1;

Json ReportJson(const Report& report);

// Without samples-sized detail: the members of a list of runs.
Json ReportSummaryJson(const Report& report);

}  // namespace lowtide
