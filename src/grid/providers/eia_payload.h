// The answers of EIA's Open Data v2 to electricity/rto/fuel-type-data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grid/providers/generation_mix.h"

namespace lowtide {

struct EiaGeneration {
  std::string zone;              // `respondent`, which all rows must share
  std::vector<Generation> rows;  // MWh of one hour each
  std::int64_t row_count = 0;    // rows in this answer
  std::int64_t total = 0;        // rows there are, all pages together; 0 when not said
  std::vector<std::string> notes;
};

// Rows of {period, respondent, fueltype, value}. `period` ("2022-10-31T11", UTC) is the *end* of
// the hour: the row's slot begins an hour earlier. `value` may be a number, a string, or null (then
// the row has no amount). kDataLoss: a row without period or fuel, another unit than
// megawatthours, several respondents, no rows member. An `error` member is kPermissionDenied for a
// key that is missing or not accepted, else kUnavailable.
Result<EiaGeneration> ParseEia(std::string_view text);

// "NG" -> "gas"; "unknown" for a code that is not in the table.
std::string_view EiaFuel(std::string_view code);

// "2022-10-31T11" for a full hour.
std::string EiaPeriod(TimePoint hour);

}  // namespace lowtide
