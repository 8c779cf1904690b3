// What the power limits were before a run touched them, on disk before the first change, so that
// anyone who comes after a crash can put them back.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "device/power_device.h"
#include "store/records.h"

namespace lowtide {

struct JournaledLimit {
  std::string uuid;
  Watts original;              // found at the start of the run
  std::vector<Watts> applied;  // the limit being set and the one before it
};

struct LimitJournal {
  std::string run_id;
  ProcessIdentity owner;
  std::vector<JournaledLimit> limits;
};

// <folder>/<run id>.json, written durably.
std::filesystem::path JournalPath(const std::filesystem::path& folder, const std::string& run_id);
Status WriteJournal(const std::filesystem::path& path, const LimitJournal& journal);
// kDataLoss, naming `name`, for what is no journal.
Result<LimitJournal> ParseJournal(std::string_view text, const std::string& name);
std::string FormatJournal(const LimitJournal& journal);
Result<LimitJournal> ReadJournal(const std::filesystem::path& path);
// Every readable journal in the folder; unreadable ones are skipped (and named in `bad`).
std::vector<std::pair<std::filesystem::path, LimitJournal>> ListJournals(
    const std::filesystem::path& folder, std::vector<Error>* bad = nullptr);

// Held while journals are read and limits restored or taken: one at a time on this machine.
class JournalLock {
 public:
  // kDeadlineExceeded when another process holds it for longer than `patience`.
  static Result<JournalLock> Acquire(const std::filesystem::path& folder,
                                     Seconds patience = Seconds(5));

 private:
  explicit JournalLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// One line per device: what was done, or why not.
struct RestoreOutcome {
  std::string uuid;
  Status status;
  std::string message;
};

// Whether a limit in force is one of those that we have set, as the driver may have rounded it.
bool IsOurs(Watts now, std::span<const Watts> applied);

// Puts back the limits of one journal and removes it when every device is done with. A limit that
// somebody else has changed since is left alone; one that stands at the driver's default after a
// reboot was changed by the reboot, and is put back. The caller holds the JournalLock.
std::vector<RestoreOutcome> RestoreJournal(const std::filesystem::path& path,
                                           const LimitJournal& journal,
                                           std::span<PowerDevice* const> devices);

// RestoreJournal for every journal whose owner is gone.
std::vector<RestoreOutcome> RestoreAbandoned(const std::filesystem::path& folder,
                                             std::span<PowerDevice* const> devices);
// Whether there is any such journal (cheap: no device is opened).
bool HasAbandonedLimits(const std::filesystem::path& folder);

}  // namespace lowtide
