#include "fakes/sysfs/temp_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "base/fd.h"

namespace lowtide::fakes {
namespace {

[[noreturn]] void Throw(const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), path.string());
}

void WriteAt0(const std::filesystem::path& path, std::string_view text, int flags) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644));
  if (!fd.Valid()) Throw(path);
  if (::pwrite(fd.Get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    Throw(path);
  }
}

}  // namespace

TempFolder::TempFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lowtide-fake-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) Throw(pattern);
  path_ = pattern;
  // Readable to all, so that a test may give up its rights.
  std::filesystem::permissions(
      path_, std::filesystem::perms::others_read | std::filesystem::perms::others_exec,
      std::filesystem::perm_options::add);
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void WriteText(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  WriteAt0(path, text, O_TRUNC);
}

void WriteNumber(const std::filesystem::path& path, std::uint64_t value) {
  constexpr std::size_t kWidth = 24;
  std::string text = std::to_string(value);
  text.resize(kWidth, '\n');
  WriteAt0(path, text, 0);
}

}  // namespace lowtide::fakes
