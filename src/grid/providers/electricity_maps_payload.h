// The carbon-intensity answers of Electricity Maps, v3 and v4: latest, past-range, history and
// forecast.
#pragma once

#include <string_view>

#include "grid/providers/payload.h"

namespace lowtide {

// Accepts the bare object (latest) and rows in `history`, `data` or `forecast`; of a row only
// `datetime` is required. A row holds for `temporalGranularity`, else for the usual step of the
// rows, else for an hour, but no longer than to the next row. `carbonIntensity` that is null,
// absent or implausible is missing. `estimated` follows `isEstimated`, which means nothing on
// forecasts and is false there. issued_at is the answer's own `updatedAt`.
// kDataLoss: not such an answer; kNotFound for CO2 Signal's status "no-data". An `error` member,
// which the service sent with status 200 at times, is kUnavailable with its text.
Result<Payload> ParseElectricityMaps(std::string_view text);

}  // namespace lowtide
