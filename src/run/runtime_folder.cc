#include "run/runtime_folder.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>
#include <vector>

namespace lowtide {
namespace {

std::string Prefix(uid_t user) { return fmt::format("lowtide-{}-", user); }

bool IsGone(pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

}  // namespace

std::filesystem::path RuntimeFolder(const std::filesystem::path& parent, uid_t user,
                                    pid_t process) {
  return parent / (Prefix(user) + std::to_string(process));
}

void RemoveAbandonedFolders(const std::filesystem::path& parent, uid_t user) {
  std::error_code error;
  std::vector<std::filesystem::path> abandoned;
  const std::string prefix = Prefix(user);
  for (std::filesystem::directory_iterator it(parent, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    pid_t process = 0;
    const auto [stop, bad] =
        std::from_chars(name.data() + prefix.size(), name.data() + name.size(), process);
    if (bad != std::errc{} || stop != name.data() + name.size() || process <= 0) continue;
    struct stat status{};
    if (::lstat(it->path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    if (status.st_uid == user && IsGone(process)) abandoned.push_back(it->path());
  }
  for (const auto& folder : abandoned) {
    ::unlink((folder / "marks.sock").c_str());
    ::rmdir(folder.c_str());
  }
}

}  // namespace lowtide
