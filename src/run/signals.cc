#include "run/signals.h"

#include <sys/signalfd.h>

#include <cerrno>

#include "base/file.h"

namespace lowtide {

Result<SignalQueue> SignalQueue::Open() {
  sigset_t handled;
  sigemptyset(&handled);
  // SIGPIPE and SIGXFSZ are blocked so that neither a closed terminal or pipe nor a limit on the
  // size of files ends the run or its cleanup: the write fails instead.
  for (const int s : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT,
                      SIGPIPE, SIGXFSZ}) {
    sigaddset(&handled, s);
  }
  sigset_t original;
  if (const int error = pthread_sigmask(SIG_BLOCK, &handled, &original); error != 0) {
    return FailErrno(error, "cannot block signals");
  }
  for (const int s : {SIGPIPE, SIGXFSZ}) sigdelset(&handled, s);
  UniqueFd fd(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.Valid()) return FailErrno(errno, "cannot make a signalfd");
  return SignalQueue(std::move(fd), original);
}

std::vector<int> SignalQueue::Take() {
  std::vector<int> signals;
  signalfd_siginfo info{};
  while (::read(fd_.Get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    signals.push_back(static_cast<int>(info.ssi_signo));
  }
  return signals;
}

}  // namespace lowtide
