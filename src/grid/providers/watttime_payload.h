// The answers of WattTime v3.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grid/providers/payload.h"

namespace lowtide {

struct WattTimePayload {
  Payload series;      // g/kWh; `zone` is meta.region
  std::string signal;  // meta.signal_type: "co2_moer", "co2_aoer"
  std::string model;   // meta.model.date: series of different models must not be joined
};

// /v3/forecast and /v3/historical. Values must be in lbs_co2_per_mwh, whatever the account's
// signal: any other unit (a percentile is none) is kDataLoss. A point holds for
// meta.data_point_period_seconds, else for the usual step, else for 5 minutes. Points with
// `imputed_data_used` are estimated. Warnings become notes.
Result<WattTimePayload> ParseWattTime(std::string_view text);

// /v3/forecast/historical: one series for each `generated_at`, in the order of the answer.
Result<std::vector<WattTimePayload>> ParseWattTimePastForecasts(std::string_view text);

// The token of /login. kDataLoss when there is none.
Result<std::string> ParseWattTimeToken(std::string_view text);

// The region of /v3/region-from-loc.
Result<std::string> ParseWattTimeRegion(std::string_view text);

// Whether a 403 says that the plan does not cover the request (JSON): then a new login helps
// nothing. An HTML page, as an expired token was once answered, is no such thing.
bool IsWattTimeScopeError(std::string_view body);

}  // namespace lowtide
