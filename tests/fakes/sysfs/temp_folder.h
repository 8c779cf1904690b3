// A new folder in the system's temporary folder, removed at the end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace lowtide::fakes {

class TempFolder {
 public:
  TempFolder();  // throws std::system_error
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& Path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Creates or overwrites a file, and the folders above it. Throws std::system_error.
void WriteText(const std::filesystem::path& path, std::string_view text);

// Overwrites a file of a number in place with one write, as sysfs would look to a reader that holds
// the file open. The number is followed by line ends, so that the length stays the same.
void WriteNumber(const std::filesystem::path& path, std::uint64_t value);

}  // namespace lowtide::fakes
