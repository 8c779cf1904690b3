// The answers of the GB Carbon Intensity API: national and regional.
#pragma once

#include <string_view>

#include "grid/providers/payload.h"

namespace lowtide {

// Which number of a slot is wanted. National slots have `actual` (null until about half an hour
// after the slot) and `forecast`; regional ones only `forecast`.
enum class UkValues : std::uint8_t {
  kActual,    // `actual`; where it is null, `forecast` marked as estimated
  kForecast,  // `forecast` alone, not marked
};

// `data` is an array of slots (national), of regions with slots, or, as the service really answers,
// one region as an object. `zone` is "national" or the region's id. An answer with several regions
// is kDataLoss: one was asked for. No data ({"data":[]}, {}) is a Payload without slots.
Result<Payload> ParseUkCarbonIntensity(std::string_view text, UkValues values);

}  // namespace lowtide
