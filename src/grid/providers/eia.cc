#include "grid/providers/eia.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "grid/providers/eia_payload.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
constexpr std::int64_t kPage = 5000;  // rows that one JSON answer may have
constexpr std::int64_t kMostFuels = 50;

}  // namespace

Result<std::unique_ptr<Provider>> Eia::Make(const ProviderSettings& settings,
                                            HttpTransport& transport, const ZoneTable& zones,
                                            const EmissionFactors& factors) {
  if (settings.key.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: no key; get one at https://www.eia.gov/opendata/register.php and "
                            "set LOWTIDE_EIA_KEY, EIA_API_KEY, or key_file in [sources.eia]",
                            kName));
  }
  if (settings.signal == Signal::kMarginal) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: signal 'marginal'; it has only the average", kName));
  }
  return std::unique_ptr<Provider>(new Eia(kName, settings, kEndpoint, transport, zones, factors));
}

ProviderAbilities Eia::Abilities() const {
  return {.latest = true,
          .history = true,
          .forecast = false,
          .step = 1h,
          .horizon = std::nullopt,
          .signal = Signal::kAverage,
          .basis = Settings().basis == Basis::kDirect ? Basis::kDirect : Basis::kLifecycle};
}

Error Eia::StatusError(const HttpResponse& response, const Zone& zone) const {
  // The status did not always agree with the body: the body decides about keys.
  const std::string text = ErrorText(response.body);
  if (text.find("API_KEY") != std::string::npos) {
    return Failure(Code::kPermissionDenied, zone,
                   fmt::format("the key is not accepted ({}): {}", response.status, text));
  }
  if (response.status == 403 && text.find("suspended") != std::string::npos) {
    return Failure(Code::kUnavailable, zone, fmt::format("asked too often (403): {}", text));
  }
  return ProviderBase::StatusError(response, zone);
}

Result<MixProvider::Mix> Eia::Fetch(const Zone& zone, const std::string& name, TimePoint from,
                                    TimePoint to) {
  Mix out;
  const bool has_version = Settings().endpoint.ends_with("/v2");
  // Of an hour and a fuel there is one row.
  const std::int64_t most_rows =
      ((CeilTo(to, 1h) - FloorTo(from, 1h)) / 1h + 1) * kMostFuels + kPage;
  std::int64_t offset = 0;
  for (std::size_t page = 0;; ++page) {
    if (page == kMostRequests) {
      return std::unexpected(Failure(Code::kInvalidArgument, zone,
                                     fmt::format("the interval has more than {} rows; ask for less "
                                                 "at once",
                                                 offset)));
    }
    HttpRequest request =
        Request((has_version ? "" : "/v2") + std::string("/electricity/rto/fuel-type-data/data/"));
    request.secret_names.emplace_back("api_key");
    // `period` is the end of the hour, and both bounds are inclusive.
    request.query = {{"api_key", Settings().key},
                     {"frequency", "hourly"},
                     {"data[]", "value"},
                     {"facets[respondent][]", name},
                     {"start", EiaPeriod(FloorTo(from, 1h) + 1h)},
                     {"end", EiaPeriod(CeilTo(to, 1h))},
                     {"sort[0][column]", "period"},
                     {"sort[0][direction]", "asc"},
                     {"sort[1][column]", "fueltype"},
                     {"sort[1][direction]", "asc"},
                     {"offset", fmt::format("{}", offset)},
                     {"length", fmt::format("{}", kPage)}};
    LOWTIDE_TRY(const std::string body, Body(request, zone));
    auto part = ParseEia(body);
    if (!part) return Failed(part.error(), zone);
    Payload answered;
    answered.zone = part->zone;
    LOWTIDE_TRY_STATUS(CheckZone(answered, zone, name));
    std::ranges::move(part->rows, std::back_inserter(out.rows));
    offset += part->row_count;
    if (offset > most_rows) {
      return std::unexpected(Failure(Code::kDataLoss, zone,
                                     fmt::format("more rows ({}) than the interval has", offset)));
    }
    if (part->row_count == 0 || (part->row_count < kPage && offset >= part->total)) break;
  }
  if (out.rows.empty()) {
    return std::unexpected(Failure(
        Code::kNotFound, zone,
        fmt::format("no rows for respondent '{}' from {} to {}; a code that does not exist is "
                    "answered so, too",
                    name, FormatTime(from), FormatTime(to))));
  }
  return out;
}

}  // namespace lowtide
