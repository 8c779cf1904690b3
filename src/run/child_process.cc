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

// The terminal whose foreground group we are, or -1: a background job must not take it.
int OwnTerminal() {
  for (const int fd : {STDIN_FILENO, STDERR_FILENO, STDOUT_FILENO}) {
    if (::isatty(fd) == 1 && ::tcgetpgrp(fd) == ::getpgrp()) return fd;
  }
  return -1;
}

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
  for (const auto& [name, value] : options.added_environment) merged.push_back(name + "=" + value);
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

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return FailErrno(errno, "cannot make a pipe");
  const UniqueFd failure_out(ends[0]);
  UniqueFd failure_in(ends[1]);

  const pid_t pid = ::fork();
  if (pid < 0) return FailErrno(errno, "cannot start a process");
  if (pid == 0) {
    ::setpgid(0, 0);
    if (terminal >= 0) SetForeground(terminal, ::getpid());
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
  if (terminal >= 0) SetForeground(terminal, ::getpgrp());
  const Code code = error_number == ENOENT ? Code::kNotFound : Code::kPermissionDenied;
  return Fail(code, fmt::format("{}: {}", options.argv[0], ::strerror(error_number)));
}

void ChildProcess::Signal(int signal_number) const { ::kill(-pid_, signal_number); }

void ChildProcess::MoveTerminal(Terminal to) const {
  if (terminal_fd_ >= 0) SetForeground(terminal_fd_, to == Terminal::kToChild ? pid_ : ::getpgrp());
}

int ExitCodeFromWaitStatus(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace lowtide
