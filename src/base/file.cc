#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/fd.h"

namespace lowtide {
namespace {

Code CodeForErrno(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR: return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS: return Code::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE: return Code::kResourceExhausted;
    default: return Code::kUnavailable;
  }
}

Status WriteAll(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return FailErrno(errno, "cannot write " + path);
    }
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

std::filesystem::path FolderOf(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

// A temporary file of mode `mode` beside `path`, synced, then renamed over it.
Status ReplaceFile(const std::filesystem::path& path, std::string_view content, mode_t mode) {
  std::string temporary = path.string() + ".XXXXXX";
  UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));  // new, mode 0600
  if (!fd.Valid()) return FailErrno(errno, "cannot create " + temporary);
  const auto discard = [&](std::unexpected<Error> error) -> Status {
    ::unlink(temporary.c_str());
    return error;
  };
  if (auto written = WriteAll(fd.Get(), content, temporary); !written) {
    return discard(std::unexpected(written.error()));
  }
  if (::fchmod(fd.Get(), mode) != 0) {
    return discard(FailErrno(errno, "cannot set the permissions of " + temporary));
  }
  if (::fsync(fd.Get()) != 0) return discard(FailErrno(errno, "cannot sync " + temporary));
  fd.Reset();
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return discard(FailErrno(errno, "cannot rename " + temporary));
  }
  const std::filesystem::path folder = FolderOf(path);
  const UniqueFd dir(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir.Valid() || ::fsync(dir.Get()) != 0) {
    return FailErrno(errno, "cannot sync folder " + folder.string());
  }
  return {};
}

// What stands under a name that the user gave: a regular file or nothing (then `path` is where it
// really is), or something else.
struct Target {
  std::filesystem::path path;
  bool replaceable = true;
  mode_t mode = 0;
};

Target TargetOf(const std::filesystem::path& path) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  Target target{path, true, 0666 & ~mask};
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return target;
  target.replaceable = S_ISREG(info.st_mode);
  target.mode = info.st_mode & 0777;
  std::error_code error;
  if (auto real = std::filesystem::canonical(path, error); !error) target.path = std::move(real);
  return target;
}

}  // namespace

std::unexpected<Error> FailErrno(int error_number, std::string_view what) {
  return Fail(CodeForErrno(error_number), fmt::format("{}: {}", what, ::strerror(error_number)));
}

Result<std::string> ReadFile(const std::filesystem::path& path, std::size_t max_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.Valid()) return FailErrno(errno, "cannot read " + path.string());
  std::string content;
  std::array<char, 16384> buffer{};
  while (true) {
    const ssize_t n = ::read(fd.Get(), buffer.data(), buffer.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return FailErrno(errno, "cannot read " + path.string());
    }
    if (n == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(n));
    if (content.size() > max_bytes) {
      return Fail(Code::kResourceExhausted,
                  fmt::format("{} is larger than {} bytes", path.string(), max_bytes));
    }
  }
}

Status WriteFileDurably(const std::filesystem::path& path, std::string_view content) {
  return ReplaceFile(path, content, 0600);
}

Status WriteUserFile(const std::filesystem::path& path, std::string_view content) {
  const Target target = TargetOf(path);
  if (target.replaceable) return ReplaceFile(target.path, content, target.mode);
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.Valid()) return FailErrno(errno, "cannot write " + path.string());
  return WriteAll(fd.Get(), content, path.string());
}

Status CheckUserFile(const std::filesystem::path& path) {
  const Target target = TargetOf(path);
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return FailErrno(EISDIR, "cannot write " + path.string());
  }
  const std::filesystem::path needed = target.replaceable ? FolderOf(target.path) : path;
  if (::access(needed.c_str(), W_OK) != 0) return FailErrno(errno, "cannot write " + path.string());
  return {};
}

Status MakeDirectories(const std::filesystem::path& path) {
  std::filesystem::path partial;
  for (const auto& part : path) {
    partial /= part;
    if (::mkdir(partial.c_str(), 0700) == 0) continue;
    const int error_number = errno;
    struct stat info{};
    if (::stat(partial.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    return FailErrno(error_number == EEXIST ? ENOTDIR : error_number,
                     "cannot make folder " + partial.string());
  }
  return {};
}

}  // namespace lowtide
