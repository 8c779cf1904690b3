// Where a number comes from. A missing value is never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lowtide {

enum class Provenance : std::uint8_t { kMeasured, kModelled, kSimulated, kMissing };

constexpr std::string_view ProvenanceName(Provenance p) {
  switch (p) {
    case Provenance::kMeasured: return "measured";
    case Provenance::kModelled: return "modelled";
    case Provenance::kSimulated: return "simulated";
    case Provenance::kMissing: return "missing";
  }
  return "missing";
}

constexpr std::optional<Provenance> ParseProvenance(std::string_view name) {
  for (const auto p : {Provenance::kMeasured, Provenance::kModelled, Provenance::kSimulated,
                       Provenance::kMissing}) {
    if (ProvenanceName(p) == name) return p;
  }
  return std::nullopt;
}

}  // namespace lowtide
