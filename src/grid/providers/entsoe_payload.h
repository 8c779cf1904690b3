// The answers of ENTSO-E's Transparency Platform to A75 (actual generation per type).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grid/providers/generation_mix.h"

namespace lowtide {

struct EntsoeGeneration {
  std::string zone;              // EIC of in- or outBiddingZone_Domain, which all series must share
  std::vector<Generation> rows;  // MW, in slots of each Period's own resolution
  std::optional<TimePoint> created_at;
};

// Every Period is read alone, with its own resolution (PT1M to PT60M, P1D), in UTC. Under curveType
// A03 a position that is left out repeats the one before it, to the end of its Period; under A01 it
// is absent. Series with an outBiddingZone_Domain (pumping, own use) and no inBiddingZone_Domain
// are left out. Types map to fuels as the reference page lists; an unknown one is "unknown".
// An Acknowledgement_MarketDocument is kNotFound for "No matching data found", kPermissionDenied
// for a token that is not accepted, else kUnavailable with its text. kDataLoss: anything else that
// is no such document, a unit other than MAW, a position outside its Period, a document of more
// than 2 million points.
Result<EntsoeGeneration> ParseEntsoe(std::string_view xml);

// "B04" -> "gas"; "unknown" for a type that is not in the table.
std::string_view EntsoeFuel(std::string_view psr_type);

}  // namespace lowtide
