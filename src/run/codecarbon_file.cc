#include "run/codecarbon_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/csv.h"
#include "base/fd.h"
#include "base/file.h"
#include "run/report_codecarbon.h"

namespace lowtide {
namespace {

constexpr std::chrono::seconds kLockTimeout{10};
constexpr std::chrono::milliseconds kLockPause{50};

Status Lock(int fd, const std::string& path, Clock& clock) {
  const MonoTime deadline = clock.Monotonic() + kLockTimeout;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return FailErrno(errno, "cannot lock " + path);
    if (clock.Monotonic() >= deadline) {
      return Fail(Code::kDeadlineExceeded,
                  fmt::format("{}: another process has held its lock for {} s", path,
                              kLockTimeout.count()));
    }
    clock.SleepUntil(clock.Monotonic() + kLockPause, {});
  }
  return {};
}

// The header of `text` against ours; names the first column that differs.
Status CheckHeader(const CsvTable& table) {
  LOWTIDE_TRY(const CsvTable ours, ParseCsv(CodecarbonHeader(), "header"));
  const auto& want = ours.header;
  const auto& have = table.header;
  for (std::size_t i = 0; i < std::max(want.size(), have.size()); ++i) {
    if (i < want.size() && i < have.size() && want[i] == have[i]) continue;
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{}: not codecarbon's 38 columns: column {} is {}, expected {}; "
                    "choose another file",
                    table.name, i + 1, i < have.size() ? fmt::format("\"{}\"", have[i]) : "absent",
                    i < want.size() ? fmt::format("\"{}\"", want[i]) : "none"));
  }
  return {};
}

Status AppendAll(int fd, const std::string& path, std::string_view text, off_t old_size) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t n = ::write(fd, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      (void)!::ftruncate(fd, old_size);  // nothing half done
      return FailErrno(error, "cannot write " + path);
    }
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  if (::fdatasync(fd) != 0 && errno != EINVAL) return FailErrno(errno, "cannot sync " + path);
  return {};
}

}  // namespace

Result<std::size_t> AppendCodecarbon(const std::filesystem::path& path,
                                     const std::vector<CodecarbonRowOf>& rows, Clock& clock) {
  const std::string name = path.string();
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!fd.Valid()) return FailErrno(errno, "cannot open " + name);
  LOWTIDE_TRY_STATUS(Lock(fd.Get(), name, clock));
  struct stat info{};
  if (::fstat(fd.Get(), &info) != 0) return FailErrno(errno, "cannot read " + name);
  if (!S_ISREG(info.st_mode)) {
    return Fail(Code::kInvalidArgument, name + ": not a regular file");
  }

  std::vector<std::string> present;
  std::string text;
  if (info.st_size == 0) {
    text = CodecarbonHeader();
  } else {
    LOWTIDE_TRY(const std::string content, ReadFile(path));
    LOWTIDE_TRY(const CsvTable table, ParseCsv(content, name));
    LOWTIDE_TRY_STATUS(CheckHeader(table));
    LOWTIDE_TRY(const std::size_t column, table.Require("run_id"));
    for (const CsvRow& row : table.rows) present.push_back(row.fields[column]);
    // A last line without its newline would run into ours.
    if (!content.ends_with('\n')) text = "\n";
  }
  std::size_t added = 0;
  for (const auto& row : rows) {
    if (std::ranges::find(present, row.run_id) != present.end()) continue;
    present.push_back(row.run_id);
    text += row.row;
    ++added;
  }
  if (added == 0 && info.st_size > 0) return added;
  LOWTIDE_TRY_STATUS(AppendAll(fd.Get(), name, text, info.st_size));
  return added;
}

}  // namespace lowtide
