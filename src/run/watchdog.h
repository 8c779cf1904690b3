// A second process that outlives a killed lowtide just long enough to put power limits back.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "run/limit_journal.h"

namespace lowtide {

// Starts `program restore --watch-fd 3 --journal <journal>` in a session of its own, with its
// streams on /dev/null. The returned descriptor must stay open as long as the limits are held;
// the kernel closes it when this process ends, however it ends.
Result<UniqueFd> StartWatchdog(const std::filesystem::path& program,
                               const std::filesystem::path& journal);

// The watchdog's side: waits until the other end of `watch_fd` is closed, then restores whatever
// the journal still names (nothing, when the run ended in an orderly way). Tries again for a few
// seconds when a driver refuses.
std::vector<RestoreOutcome> WatchAndRestore(const UniqueFd& watch_fd,
                                            const std::filesystem::path& journal,
                                            std::span<PowerDevice* const> devices);

}  // namespace lowtide
