#include <array>
#include <cstdint>
#include <random>

#include "store/store.h"

namespace lowtide {
namespace {

// Crockford's base 32: no I, L, O, U. https://www.crockford.com/base32.html
constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t kTimeCharacters = 10;    // 48 bits in 50
constexpr std::size_t kRandomCharacters = 16;  // 80 bits

}  // namespace

std::string NewRunId(TimePoint now) {
  std::string id(kTimeCharacters + kRandomCharacters, '0');
  auto millis = static_cast<std::uint64_t>(UnixMillis(now)) & ((std::uint64_t{1} << 48U) - 1);
  for (std::size_t i = kTimeCharacters; i-- > 0; millis >>= 5U) id[i] = kAlphabet[millis & 31U];
  std::random_device random;  // the kernel's generator
  for (std::size_t i = 0; i < kRandomCharacters; ++i) {
    id[kTimeCharacters + i] = kAlphabet[random() & 31U];
  }
  return id;
}

}  // namespace lowtide
