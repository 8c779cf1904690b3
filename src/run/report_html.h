// The report as one self-contained HTML page: no network, no script, light and dark, printable.
#pragma once

#include <string>

#include "run/report.h"

namespace lowtide {

std::string ReportHtml(const Report& report);

}  // namespace lowtide
