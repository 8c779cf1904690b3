// Starts the training command so that it notices nothing: same terminal, streams, environment and
// signal state, but a process group of its own.
#pragma once

#include <sys/types.h>

#include <signal.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace lowtide {

struct SpawnOptions {
  std::vector<std::string> argv;  // at least the program
  std::vector<std::pair<std::string, std::string>> added_environment;
  sigset_t signal_mask{};  // the child's: what lowtide itself found at its start
};

class ChildProcess {
 public:
  // kNotFound when there is no such program (a shell's 127), kPermissionDenied when it cannot be
  // executed (126).
  static Result<ChildProcess> Spawn(const SpawnOptions& options);

  pid_t Pid() const { return pid_; }
  // To the whole process group. Nothing happens once it is gone.
  void Signal(int signal_number) const;

  // The child was stopped by this signal. Asked for the terminal, it gets it and goes on where we
  // have it; otherwise we stop with it, so that the shell takes the terminal back, until we are
  // continued.
  void Stopped(int stop_signal) const;
  // We were continued: so is the child.
  void Continue() const;
  // From the child, where it has the terminal. Call when it has ended.
  bool TakeTerminalBack() const;

 private:
  bool GiveTerminal() const;

  ChildProcess(pid_t pid, int terminal_fd) : pid_(pid), terminal_fd_(terminal_fd) {}

  pid_t pid_;
  int terminal_fd_;  // of our session; -1: none
};

// The exit code a shell gives for a wait status: the code itself, or 128 + the signal.
int ExitCodeFromWaitStatus(int status);

}  // namespace lowtide
