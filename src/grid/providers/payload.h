// What the payload parsers of all providers share. A parser is a pure function from the text of an
// answer to a Payload; it fills nothing in and reads no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "grid/provider.h"

namespace lowtide {

struct Payload {
  std::string zone;  // as the answer names it; empty where it does not
  std::vector<ProviderSlot> slots;
  std::int64_t missing = 0;     // null, no number, out of range: gaps now
  std::int64_t duplicates = 0;  // slots that another one of the same start replaced
  std::optional<TimePoint> issued_at;
  std::vector<std::string> notes;
};

// 1 lb/MWh in g/kWh: the international pound is 453.59237 g exactly.
inline constexpr double kGramsPerKwhInPoundsPerMwh = 0.45359237;

// Parses JSON as ParseJson does, without a byte-order mark. kDataLoss when it is no JSON.
Result<Json> ParsePayloadJson(std::string_view text, std::string_view what);

// A number, or a number written as a string; nothing for null, "", "NA" and everything else.
std::optional<double> TolerantNumber(const Json& value);
// TolerantNumber of the member; nothing when it is absent.
std::optional<double> TolerantMember(const Json& object, std::string_view key);

// The time in the member; kDataLoss, naming `what`, when it is absent or none. An offset is
// required: no provider that leaves it out is known, and local times differ by hours.
Result<TimePoint> TimeMember(const Json& object, std::string_view key, std::string_view what);

// An intensity that a grid can have: 0 to kHighestIntensity. Anything else is missing.
std::optional<GramsPerKwh> PlausibleIntensity(std::optional<double> g_per_kwh);

// Sorts by start, lets a later slot of the same start replace an earlier one (a measured one is
// never replaced by an estimate), cuts a slot where the next begins, and drops empty ones.
void Normalise(Payload& payload);

// The usual distance between ascending times: their median step (the lower of two); nothing for
// fewer than two.
std::optional<std::chrono::milliseconds> UsualStep(std::vector<TimePoint> times);

// True for two or more slots that are all exactly 0: no grid is that clean for long, but providers
// in trouble have said so.
bool AllZero(const std::vector<ProviderSlot>& slots);

// Slots that touch [from, to).
void KeepTouching(std::vector<ProviderSlot>& slots, TimePoint from, TimePoint to);

// What an error body says, in one line of at most 300 characters: the message of JSON in any of the
// shapes providers use, "an HTML page", or the beginning of the text. Empty for an empty body.
std::string ErrorText(std::string_view body);

// Adds the parts of a chunked answer; their zones must agree (kDataLoss). Normalise afterwards.
Status Append(Payload& whole, Payload part);

}  // namespace lowtide
