// A journal of power limits: what is read can be written and read again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "run/limit_journal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto journal = lowtide::ParseJournal(text, "journal");
  if (!journal) return 0;
  const auto again = lowtide::ParseJournal(lowtide::FormatJournal(*journal), "again");
  if (!again || again->limits.size() != journal->limits.size() ||
      again->owner.pid != journal->owner.pid) {
    __builtin_trap();
  }
  return 0;
}
