// What the clients of all providers share: sending a request, saying what went wrong without saying
// a secret, and checking that the answer is for what was asked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grid/provider.h"
#include "grid/providers/payload.h"
#include "grid/providers/provider_settings.h"
#include "grid/zone_table.h"
#include "http/http.h"

namespace lowtide {

// Requests that one call may send at most.
inline constexpr std::size_t kMostRequests = 200;

class ProviderBase : public Provider {
 public:
  std::string_view Name() const override { return name_; }

 protected:
  // `transport` and `zones` outlive the provider. `name` is the name in the settings.
  ProviderBase(std::string_view name, ProviderSettings settings, std::string_view endpoint,
               HttpTransport& transport, const ZoneTable& zones);

  const ProviderSettings& Settings() const { return settings_; }
  const ZoneTable& Zones() const { return zones_; }

  // A request for the endpoint with `path` behind it, which knows the secrets of the settings.
  HttpRequest Request(std::string_view path) const;

  // Sends and gives back whatever status; errors are those of the transport with the provider's
  // name before them.
  Result<HttpResponse> Send(const HttpRequest& request) const;
  // Sends and gives back the body of a 200; StatusError for any other status.
  Result<std::string> Body(const HttpRequest& request, const Zone& zone) const;

  // What a status other than 200 means unless the provider says otherwise:
  // 401, 403 kPermissionDenied; 404 kNotFound; everything else kUnavailable.
  virtual Error StatusError(const HttpResponse& response, const Zone& zone) const;

  // "electricity_maps: zone DE: <what>", without any secret.
  Error Failure(Code code, const Zone& zone, std::string_view what) const;
  // Puts provider and zone before the message of a parser's error.
  std::unexpected<Error> Failed(const Error& error, const Zone& zone) const;

  // From the settings, then from the table; kNotFound, naming the zones there are.
  Result<std::string> NameOf(const Zone& zone) const;

  // The name that `zone` was given in the settings; nothing when it was not.
  std::optional<std::string> NameInSettings(const Zone& zone) const;

  ProviderAnswer Answer(const Zone& zone, std::string provider_zone, IntensityKind kind,
                        TimePoint now, Payload payload) const;

  // kDataLoss unless the payload names no zone or the one that was asked for.
  Status CheckZone(const Payload& payload, const Zone& zone, std::string_view asked) const;

  // The newest slot that begins no later than `now`; kNotFound when there is none.
  Result<ProviderAnswer> Newest(ProviderAnswer answer, TimePoint now) const;

  // Without the secrets of the settings, nor `secret` (a token that was obtained).
  std::string Redacted(std::string text, std::string_view secret = {}) const;

 private:
  std::string name_;
  ProviderSettings settings_;
  HttpTransport& transport_;
  const ZoneTable& zones_;
};

using Interval = std::pair<TimePoint, TimePoint>;

// [from, to) cut into parts of at most `length`. kInvalidArgument when from >= to, or for more than
// kMostRequests parts.
Result<std::vector<Interval>> Chunks(TimePoint from, TimePoint to,
                                     std::chrono::milliseconds length);

// Rounded down and up to multiples of `step` since 1970.
TimePoint FloorTo(TimePoint t, std::chrono::milliseconds step);
TimePoint CeilTo(TimePoint t, std::chrono::milliseconds step);

// "2022-07-15T00:00:00Z" without milliseconds.
std::string WholeSeconds(TimePoint t);

}  // namespace lowtide
