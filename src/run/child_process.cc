#include "run/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/fd.h"
#include "base/file.h"

namespace lowtide {
namespace {

// The terminal of our session, or -1.
int OwnTerminal() {
  for (const int fd : {STDIN_FILENO, STDERR_FILENO, STDOUT_FILENO}) {
    if (::tcgetpgrp(fd) >= 0) return fd;
  }
  return -1;
}

// A background job must not take the terminal.
bool InForeground(int terminal_fd) { return ::tcgetpgrp(terminal_fd) == ::getpgrp(); }

// Whether the command has the terminal to itself. In a pipeline it does not: a pager beside it
// would be stopped for reading a terminal that is no longer its own group's. There the command gets
// it once it asks.
bool Interactive() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

// tcsetpgrp from a background group raises SIGTTOU unless it is blocked.
void SetForeground(int terminal_fd, pid_t group) {
  sigset_t ttou;
  sigset_t before;
  sigemptyset(&ttou);
  sigaddset(&ttou, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &ttou, &before);
  ::tcsetpgrp(terminal_fd, group);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::vector<std::string> MergedEnvironment(const SpawnOptions& options) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& added : options.added_environment) replaced = replaced || added.first == name;
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto& [name, value] : options.added_environment) {
    merged.push_back(fmt::format("{}={}", name, value));
  }
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  out.reserve(strings.size() + 1);
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Result<ChildProcess> ChildProcess::Spawn(const SpawnOptions& options) {
  // Everything that allocates happens before the fork: other threads exist.
  std::vector<std::string> arguments = options.argv;
  std::vector<std::string> environment = MergedEnvironment(options);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(environment);
  const int terminal = OwnTerminal();
  const bool gives = terminal >= 0 && Interactive() && InForeground(terminal);

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return FailErrno(errno, "cannot make a pipe");
  const UniqueFd failure_out(ends[0]);
  UniqueFd failure_in(ends[1]);

  const pid_t pid = ::fork();
  if (pid < 0) return FailErrno(errno, "cannot start a process");
  if (pid == 0) {
    ::setpgid(0, 0);
    if (gives) SetForeground(terminal, ::getpid());
    pthread_sigmask(SIG_SETMASK, &options.signal_mask, nullptr);
    ::execvpe(argv[0], argv.data(), envp.data());
    const int error_number = errno;
    [[maybe_unused]] const ssize_t n =
        ::write(failure_in.Get(), &error_number, sizeof(error_number));
    ::_exit(127);
  }
  ::setpgid(pid, pid);  // in both processes: whoever comes first
  failure_in.Reset();

  int error_number = 0;
  ssize_t n = 0;
  do {
    n = ::read(failure_out.Get(), &error_number, sizeof(error_number));
  } while (n < 0 && errno == EINTR);
  if (n == 0) return ChildProcess(pid, terminal);

  ::waitpid(pid, nullptr, 0);
  if (gives) SetForeground(terminal, ::getpgrp());
  const Code code = error_number == ENOENT ? Code::kNotFound : Code::kPermissionDenied;
  return Fail(code, fmt::format("{}: {}", options.argv[0], ::strerror(error_number)));
}

void ChildProcess::Signal(int signal_number) const { ::kill(-pid_, signal_number); }

bool ChildProcess::GiveTerminal() const {
  if (terminal_fd_ < 0 || !InForeground(terminal_fd_)) return false;
  SetForeground(terminal_fd_, pid_);
  return true;
}

bool ChildProcess::TakeTerminalBack() const {
  if (terminal_fd_ < 0) return false;
  // Also from a group that the command made and left; never from the shell or another job.
  const pid_t holder = ::tcgetpgrp(terminal_fd_);
  const bool gone = holder > 0 && ::kill(-holder, 0) != 0 && errno == ESRCH;
  if (holder != pid_ && !gone) return false;
  SetForeground(terminal_fd_, ::getpgrp());
  return true;
}

void ChildProcess::Stopped(int stop_signal) const {
  const bool wants_terminal = stop_signal == SIGTTIN || stop_signal == SIGTTOU;
  if (!wants_terminal && stop_signal != SIGTSTP) return;  // SIGSTOP: whoever sent it goes on
  if (!wants_terminal || !GiveTerminal()) {
    // Ctrl-Z went to the command's group alone; the rest of the job (a script, a pipe) stops too.
    // What of it is for us is discarded by the SIGCONT that lets us go on.
    if (TakeTerminalBack()) ::kill(0, stop_signal);
    ::raise(SIGSTOP);
    if (wants_terminal || Interactive()) GiveTerminal();
  }
  Signal(SIGCONT);
}

void ChildProcess::Continue() const {
  if (Interactive()) GiveTerminal();  // `fg` of a job that was started in the background
  Signal(SIGCONT);
}

int ExitCodeFromWaitStatus(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace lowtide
