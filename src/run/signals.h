// Signals as something to poll: blocked for the whole process, read from a descriptor.
#pragma once

#include <signal.h>

#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace lowtide {

class SignalQueue {
 public:
  // Blocks the signals that a run handles; call before any thread starts. Dispositions are left
  // alone, so that what was ignored (nohup) stays ignored here and in the child.
  static Result<SignalQueue> Open();

  int PollFd() const { return fd_.Get(); }
  // The signals that have come; empty when none.
  std::vector<int> Take();
  // The mask as it was before Open.
  const sigset_t& OriginalMask() const { return original_; }

 private:
  SignalQueue(UniqueFd fd, sigset_t original) : fd_(std::move(fd)), original_(original) {}

  UniqueFd fd_;
  sigset_t original_;
};

}  // namespace lowtide
