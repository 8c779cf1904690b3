// The report for a terminal.
#pragma once

#include <cstdint>
#include <string>

#include "run/report.h"

namespace lowtide {

enum class TextStyle : std::uint8_t { kPlain, kColour };

// The epoch table, also used line by line while the run goes on. No newline at the end.
std::string FormatEpochHeader();
std::string FormatEpochRow(const EpochLine& epoch);

// The whole epoch table; empty when there are no epochs. Ends with a newline.
std::string FormatEpochTable(const Report& report);

// The summary: totals, components, intensity, counterfactuals, warnings. Ends with a newline.
std::string FormatSummary(const Report& report, TextStyle style);

// One line of `lowtide runs list`, and its header. No newline at the end.
std::string FormatRunListHeader();
std::string FormatRunListRow(const Report& report);

}  // namespace lowtide
