#include "run/watchdog.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>

#include "base/file.h"

namespace lowtide {
namespace {

constexpr int kWatchFd = 3;
constexpr int kAttempts = 20;
constexpr auto kBetweenAttempts = std::chrono::milliseconds(250);

// In the forked child: only async-signal-safe calls.
[[noreturn]] void BecomeWatchdog(int read_end, char* const* argv) {
  ::setsid();
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  // Asked to end with the job (a group-wide signal, a closed terminal), it stays: it ends by
  // itself.
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(s, SIG_IGN);
  const int null_fd = ::open("/dev/null", O_RDWR);
  if (null_fd >= 0) {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null_fd, fd);
  }
  if (read_end == kWatchFd) {
    ::fcntl(kWatchFd, F_SETFD, 0);
  } else {
    ::dup2(read_end, kWatchFd);
  }
  ::execv(argv[0], argv);
  ::_exit(127);
}

}  // namespace

Result<UniqueFd> StartWatchdog(const std::filesystem::path& program,
                               const std::filesystem::path& journal) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return FailErrno(errno, "cannot make the watchdog's pipe");
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  std::vector<std::string> arguments = {program.string(),         "restore",   "--watch-fd",
                                        std::to_string(kWatchFd), "--journal", journal.string()};
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);

  const pid_t pid = ::fork();
  if (pid < 0) return FailErrno(errno, "cannot start the watchdog");
  if (pid == 0) BecomeWatchdog(read_end.Get(), argv.data());
  return write_end;
}

std::vector<RestoreOutcome> WatchAndRestore(const UniqueFd& watch_fd,
                                            const std::filesystem::path& journal,
                                            std::span<PowerDevice* const> devices) {
  char byte = 0;
  while (true) {
    const ssize_t n = ::read(watch_fd.Get(), &byte, 1);
    if (n == 0 || (n < 0 && errno != EINTR)) break;
  }
  std::vector<RestoreOutcome> outcomes;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(kBetweenAttempts);
    const auto lock = JournalLock::Acquire(journal.parent_path());
    if (!lock) continue;
    const auto content = ReadJournal(journal);
    if (!content) return outcomes;  // removed: the run, or the next one, has restored
    outcomes = RestoreJournal(journal, *content, devices);
    if (std::ranges::all_of(outcomes, [](const auto& o) { return o.status.has_value(); })) break;
  }
  return outcomes;
}

}  // namespace lowtide
