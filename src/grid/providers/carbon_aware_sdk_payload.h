// The answers of a Carbon Aware SDK WebAPI (v1).
#pragma once

#include <string_view>

#include "grid/providers/payload.h"

namespace lowtide {

// /emissions/bylocation: rows {location, time, rating, duration "hh:mm:ss"}. A rating below 0 (the
// server's word for null) is missing. A duration of zero or an unreadable one is replaced by the
// usual step. `zone` stays empty: a row names the provider's region or the location asked for,
// depending on the server's source. kDataLoss when it is no such answer.
Result<Payload> ParseSdkEmissions(std::string_view text);

// /emissions/forecasts/current of one location: forecastData {timestamp, duration in minutes,
// value}; `zone` is the location it was asked for, issued_at is generatedAt. A windowSize
// above 0, which makes the values rolling means, becomes a note.
Result<Payload> ParseSdkForecast(std::string_view text);

}  // namespace lowtide
