// What must hold of whatever a payload parser accepts.
#pragma once

#include <cmath>

#include "grid/providers/payload.h"

namespace lowtide {

inline void CheckPayload(const Payload& payload) {
  for (std::size_t i = 0; i < payload.slots.size(); ++i) {
    const ProviderSlot& slot = payload.slots[i];
    if (slot.from >= slot.to) __builtin_trap();
    if (i > 0 && payload.slots[i - 1].to > slot.from) __builtin_trap();
    if (!(slot.value.v >= 0 && slot.value.v <= kHighestIntensity.v)) __builtin_trap();
  }
  if (payload.missing < 0 || payload.duplicates < 0) __builtin_trap();
}

// Errors are told to people: they are short and of the kinds that a parser may have.
template <class T>
void CheckError(const Result<T>& result) {
  if (result) return;
  const Code code = result.error().code;
  if (code != Code::kDataLoss && code != Code::kNotFound && code != Code::kUnavailable &&
      code != Code::kPermissionDenied) {
    __builtin_trap();
  }
  if (result.error().message.empty()) __builtin_trap();
}

}  // namespace lowtide
