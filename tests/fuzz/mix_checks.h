// Generation becomes intensities that lie between its fuels' factors.
#pragma once

#include <vector>

#include "base/embedded/embedded.h"
#include "grid/providers/generation_mix.h"
#include "payload_checks.h"

namespace lowtide {

inline void CheckMix(const std::vector<Generation>& rows) {
  static const EmissionFactors factors =
      *EmissionFactors::Parse(*FindEmbedded("grid/emission_factors.csv"));
  for (const Basis basis : {Basis::kLifecycle, Basis::kDirect}) {
    const Payload out = IntensityFromMix(rows, factors, basis);
    CheckPayload(out);
    for (const ProviderSlot& slot : out.slots) {
      // A weighted mean of the factors, but for rounding.
      if (slot.value.v > 820.001) __builtin_trap();
    }
  }
}

}  // namespace lowtide
