// Where a zone's counter value comes from: sysfs, or a test's script.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "base/result.h"

namespace lowtide {

class RaplReader {
 public:
  virtual ~RaplReader() = default;
  // Microjoules. kUnavailable for a passing fault (EIO) or a value that is no number,
  // kPermissionDenied, kNotFound.
  virtual Result<std::uint64_t> Read() = 0;
};

// Opens the energy_uj file at the path.
using RaplOpener =
    std::function<Result<std::unique_ptr<RaplReader>>(const std::filesystem::path& energy_uj)>;

// Keeps the file open, so that a poll is one pread; opens it again after a fault other than EIO
// (the driver was unloaded and came back).
Result<std::unique_ptr<RaplReader>> OpenSysfsRapl(const std::filesystem::path& energy_uj);

}  // namespace lowtide
