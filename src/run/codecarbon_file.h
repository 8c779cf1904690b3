// Adds rows to a codecarbon CSV that others may be writing too.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace lowtide {

struct CodecarbonRowOf {
  std::string run_id;
  std::string row;  // from CodecarbonRow
};

// Makes the file with a header, or appends to one whose header is codecarbon's; runs that are in it
// already are left out. The rows go in whole or not at all, under a lock (flock) that is waited for
// at most 10 s. Returns how many rows were added. Errors: kInvalidArgument when the file has
// another header, naming the first difference; kDeadlineExceeded when the lock is held too long.
Result<std::size_t> AppendCodecarbon(const std::filesystem::path& path,
                                     const std::vector<CodecarbonRowOf>& rows, Clock& clock);

}  // namespace lowtide
