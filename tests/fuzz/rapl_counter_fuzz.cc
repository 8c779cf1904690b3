// Any sequence of counter values and times: the total never falls, never rises faster than the
// bound, and stays where an interval is dropped. Input: 8 bytes of range (0: none), then 12 per
// value.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/rapl/rapl_zone.h"

namespace {

template <class T>
T Take(const std::uint8_t*& data, std::size_t& size) {
  T value{};
  const std::size_t n = std::min(size, sizeof value);
  if (n > 0) std::memcpy(&value, data, n);
  data += n;
  size -= n;
  return value;
}

void Check(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using lowtide::Seconds;
  const auto range = Take<std::uint64_t>(data, size);
  lowtide::RaplCounter counter(
      {range == 0 ? std::nullopt : std::optional(range), lowtide::kMaxPackagePower});
  lowtide::MonoTime at;
  lowtide::MonoTime last_at;
  double last = 0;
  bool is_first = true;
  while (size > 0) {
    const auto value = Take<std::uint64_t>(data, size);
    at += std::chrono::milliseconds(Take<std::uint32_t>(data, size));
    const auto step = counter.Advance(at, value);
    if (range != 0 && value > range) Check(!step);
    if (!step) continue;
    if (is_first || step->discontinuity) {
      Check(step->total.v == last);
    } else {
      Check(step->total.v >= last);
      const double allowed =
          (lowtide::kMaxPackagePower * (lowtide::ToSeconds(at - last_at) + lowtide::kStampSlack)).v;
      Check(step->total.v - last <= allowed * (1 + 1e-9) + last * 1e-12);
    }
    is_first = false;
    last = step->total.v;
    last_at = at;
  }
  return 0;
}
