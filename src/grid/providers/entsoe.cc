#include "grid/providers/entsoe.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "grid/providers/entsoe_payload.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
constexpr auto kLongestRange = 30 * 24h;

// "202305090900", UTC.
std::string Compact(TimePoint t) {
  std::string out = FormatTime(t).substr(0, 16);
  std::erase_if(out, [](char c) { return c < '0' || c > '9'; });
  return out;
}

}  // namespace

Result<std::unique_ptr<Provider>> Entsoe::Make(const ProviderSettings& settings,
                                               HttpTransport& transport, const ZoneTable& zones,
                                               const EmissionFactors& factors) {
  const auto refuse = [](std::string_view what) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: {}", kName, what));
  };
  if (settings.key.empty()) {
    return refuse(
        "no key; ask transparency@entsoe.eu for access to the REST interface, and set "
        "LOWTIDE_ENTSOE_KEY, ENTSOE_API_KEY, or key_file in [sources.entsoe]");
  }
  if (settings.signal == Signal::kMarginal) {
    return refuse("signal 'marginal'; it has only the average");
  }
  // A code of a market party instead of an area is answered with "no data", not with an error.
  for (const auto& [zone, name] : settings.zone_names) {
    const auto known = zones.ZonesOf(kName);
    const bool is_known = std::ranges::any_of(known, [&](std::string_view key) {
      return zones.ProviderName(kName, Zone{std::string(key)}) == name;
    });
    if (name.size() != 16 || (name[2] != 'Y' && !is_known)) {
      return refuse(
          fmt::format("zone_names: '{}={}': an area code has 16 characters, the third of "
                      "them Y",
                      zone, name));
    }
  }
  return std::unique_ptr<Provider>(
      new Entsoe(kName, settings, kEndpoint, transport, zones, factors));
}

ProviderAbilities Entsoe::Abilities() const {
  return {.latest = true,
          .history = true,
          .forecast = false,
          .step = 900s,
          .horizon = std::nullopt,
          .signal = Signal::kAverage,
          .basis = Settings().basis == Basis::kDirect ? Basis::kDirect : Basis::kLifecycle};
}

Error Entsoe::StatusError(const HttpResponse& response, const Zone& zone) const {
  const auto parsed = ParseEntsoe(response.body);
  if (!parsed && parsed.error().code != Code::kDataLoss && response.status < 500) {
    return Failure(parsed.error().code, zone,
                   fmt::format("({}) {}", response.status, parsed.error().message));
  }
  if (response.status == 401) {
    return Failure(Code::kPermissionDenied, zone, "the key is not accepted (401)");
  }
  return ProviderBase::StatusError(response, zone);
}

Result<MixProvider::Mix> Entsoe::Fetch(const Zone& zone, const std::string& name, TimePoint from,
                                       TimePoint to) {
  const auto chunks = Chunks(FloorTo(from, 1h), CeilTo(to, 1h), kLongestRange);
  if (!chunks) return Failed(chunks.error(), zone);
  Mix out;
  std::optional<Error> nothing;
  for (const auto& [start, end] : *chunks) {
    HttpRequest request = Request(Settings().endpoint.ends_with("/api") ? "" : "/api");
    request.headers = {{"Accept", "application/xml, text/xml"}};
    request.secret_names.emplace_back("securityToken");
    request.query = {{"securityToken", Settings().key},
                     {"documentType", "A75"},
                     {"processType", "A16"},
                     {"in_Domain", name},
                     {"periodStart", Compact(start)},
                     {"periodEnd", Compact(end)}};
    auto body = Body(request, zone);
    auto part = body ? ParseEntsoe(*body) : std::unexpected(body.error());
    if (!part && part.error().code == Code::kNotFound) {
      nothing = body ? Failure(Code::kNotFound, zone, part.error().message) : part.error();
      continue;
    }
    if (!body) return std::unexpected(body.error());
    if (!part) return Failed(part.error(), zone);
    Payload answered;
    answered.zone = part->zone;
    LOWTIDE_TRY_STATUS(CheckZone(answered, zone, name));
    std::ranges::move(part->rows, std::back_inserter(out.rows));
  }
  if (out.rows.empty()) {
    return std::unexpected(nothing.value_or(Failure(Code::kNotFound, zone, "has no generation")));
  }
  if (nothing) out.notes.push_back(nothing->message);
  return out;
}

}  // namespace lowtide
