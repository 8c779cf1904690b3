// Names the calling thread, as top -H, gdb and /proc/PID/task/TID/comm show it.
#pragma once

#include <sys/prctl.h>

namespace lowtide {

// At most 15 characters; the kernel cuts what is longer.
inline void NameThisThread(const char* name) { ::prctl(PR_SET_NAME, name); }

}  // namespace lowtide
