// Zone keys as users write them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "grid/intensity.h"

namespace lowtide {

// A key of 1 to 64 letters, digits, '-', '_' or '.', beginning with a letter or digit: Electricity
// Maps' keys, and the column names of one's own traces. kInvalidArgument otherwise; whether the
// zone exists is for the source to say.
Result<Zone> ParseZone(std::string_view key);

// What stands before the first '-', in capitals: "US" of "US-CAL-CISO". In Electricity Maps' keys
// that is the ISO 3166-1 alpha-2 code of the country.
std::string CountryPart(const Zone& zone);

}  // namespace lowtide
