#include "run/limit_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "store/store.h"

namespace lowtide {
namespace {

constexpr std::size_t kMaxJournalBytes = 1U << 20U;
constexpr double kSameLimitWatts = 0.5;
// Drivers may round what was set to whole watts.
constexpr double kRoundingWatts = 1.0;

bool SameLimit(Watts a, Watts b) { return std::abs(a.v - b.v) < kSameLimitWatts; }

Error Malformed(const std::string& name, std::string_view what) {
  return {Code::kDataLoss, fmt::format("{}: {}", name, what)};
}

Result<JournaledLimit> ParseLimit(const std::string& name, const Json& item) {
  const auto uuid = JsonString(item, "uuid");
  const auto original = JsonNumber(item, "original_w");
  if (!uuid || !original) {
    return std::unexpected(Malformed(name, "an entry lacks uuid or original_w"));
  }
  JournaledLimit limit{*uuid, Watts(*original), {}};
  if (const auto it = item.find("applied_w"); it != item.end() && it->is_array()) {
    for (const Json& watts : *it) {
      if (watts.is_number()) limit.applied.emplace_back(watts.get<double>());
    }
  }
  return limit;
}

enum class Boot : std::uint8_t { kSame, kAnother };

// Whether the machine has been started anew since the journal was written.
Boot BootSince(const LimitJournal& journal) {
  const auto self = ThisProcess();
  return self && self->boot_id == journal.owner.boot_id ? Boot::kSame : Boot::kAnother;
}

// A limit that stands where the run, or a reboot after it, has put it.
bool IsOurDoing(const JournaledLimit& limit, Watts now, PowerDevice& device, Boot boot) {
  if (IsOurs(now, limit.applied)) return true;
  const auto limits = device.Limits();
  return boot == Boot::kAnother && limits && SameLimit(limits->preset, now);
}

RestoreOutcome RestoreOne(const JournaledLimit& limit, std::span<PowerDevice* const> devices,
                          Boot boot) {
  const auto it = std::ranges::find_if(
      devices, [&](const PowerDevice* d) { return d->Info().uuid == limit.uuid; });
  if (it == devices.end()) {
    return {limit.uuid, Fail(Code::kNotFound, "no such device"),
            fmt::format("{}: not found; its power limit was {:.0f} W before", limit.uuid,
                        limit.original.v)};
  }
  PowerDevice& device = **it;
  if (const auto now = device.Limit()) {
    if (SameLimit(*now, limit.original)) {
      return {limit.uuid, {}, fmt::format("{}: at {:.0f} W already", limit.uuid, now->v)};
    }
    if (!IsOurDoing(limit, *now, device, boot)) {
      return {limit.uuid,
              {},
              fmt::format("{}: left at {:.0f} W, which somebody else has set since", limit.uuid,
                          now->v)};
    }
  }
  Status status = device.SetLimit(limit.original);
  std::string message =
      status ? fmt::format("{}: power limit back at {:.0f} W", limit.uuid, limit.original.v)
             : fmt::format("{}: cannot set its power limit back to {:.0f} W: {}", limit.uuid,
                           limit.original.v, status.error().message);
  return {limit.uuid, std::move(status), std::move(message)};
}

}  // namespace

bool IsOurs(Watts now, std::span<const Watts> applied) {
  return std::ranges::any_of(applied,
                             [&](Watts w) { return std::abs(w.v - now.v) <= kRoundingWatts; });
}

std::filesystem::path JournalPath(const std::filesystem::path& folder, const std::string& run_id) {
  return folder / (run_id + ".json");
}

std::string FormatJournal(const LimitJournal& journal) {
  Json limits = Json::array();
  for (const JournaledLimit& limit : journal.limits) {
    Json applied = Json::array();
    for (const Watts w : limit.applied) applied.push_back(w.v);
    limits.push_back(Json{
        {"uuid", limit.uuid}, {"original_w", limit.original.v}, {"applied_w", std::move(applied)}});
  }
  const Json document{{"run_id", journal.run_id},
                      {"pid", journal.owner.pid},
                      {"start_ticks", journal.owner.start_ticks},
                      {"boot_id", journal.owner.boot_id},
                      {"limits", std::move(limits)}};
  return DumpJsonPretty(document) + "\n";
}

Status WriteJournal(const std::filesystem::path& path, const LimitJournal& journal) {
  return WriteFileDurably(path, FormatJournal(journal));
}

Result<LimitJournal> ReadJournal(const std::filesystem::path& path) {
  LOWTIDE_TRY(const std::string text, ReadFile(path, kMaxJournalBytes));
  return ParseJournal(text, path.string());
}

Result<LimitJournal> ParseJournal(std::string_view text, const std::string& name) {
  LOWTIDE_TRY(const Json document, ParseJson(text, name));
  const auto run_id = JsonString(document, "run_id");
  const auto pid = JsonNumber(document, "pid");
  const auto start = JsonNumber(document, "start_ticks");
  const auto boot = JsonString(document, "boot_id");
  const auto limits = document.is_object() ? document.find("limits") : document.end();
  if (!run_id || !pid || !start || !boot || limits == document.end() || !limits->is_array() ||
      std::abs(*pid) > 1e9 || std::abs(*start) > 1e17) {
    return std::unexpected(Malformed(name, "not a journal of power limits"));
  }
  LimitJournal journal;
  journal.run_id = *run_id;
  journal.owner = {static_cast<std::int64_t>(*pid), static_cast<std::int64_t>(*start), *boot};
  for (const Json& item : *limits) {
    LOWTIDE_TRY(JournaledLimit limit, ParseLimit(name, item));
    journal.limits.push_back(std::move(limit));
  }
  return journal;
}

std::vector<std::pair<std::filesystem::path, LimitJournal>> ListJournals(
    const std::filesystem::path& folder, std::vector<Error>* bad) {
  std::vector<std::pair<std::filesystem::path, LimitJournal>> journals;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".json") continue;
    auto journal = ReadJournal(entry.path());
    if (journal) {
      journals.emplace_back(entry.path(), *std::move(journal));
    } else if (bad != nullptr) {
      bad->push_back(std::move(journal).error());
    }
  }
  return journals;
}

Result<JournalLock> JournalLock::Acquire(const std::filesystem::path& folder, Seconds patience) {
  LOWTIDE_TRY_STATUS(MakeDirectories(folder));
  const std::filesystem::path path = folder / "lock";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.Valid()) return FailErrno(errno, "cannot open " + path.string());
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(patience);
  while (::flock(fd.Get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return FailErrno(errno, "cannot lock " + path.string());
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return Fail(Code::kDeadlineExceeded,
                  fmt::format("{} is held by another process for more than {}", path.string(),
                              FormatDuration(patience)));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return JournalLock(std::move(fd));
}

std::vector<RestoreOutcome> RestoreJournal(const std::filesystem::path& path,
                                           const LimitJournal& journal,
                                           std::span<PowerDevice* const> devices) {
  const Boot boot = BootSince(journal);
  std::vector<RestoreOutcome> outcomes;
  outcomes.reserve(journal.limits.size());
  for (const JournaledLimit& limit : journal.limits) {
    outcomes.push_back(RestoreOne(limit, devices, boot));
  }
  // A limit that could not be put back keeps its journal: the next start tries again.
  if (std::ranges::all_of(outcomes, [](const auto& o) { return o.status.has_value(); })) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  return outcomes;
}

std::vector<RestoreOutcome> RestoreAbandoned(const std::filesystem::path& folder,
                                             std::span<PowerDevice* const> devices) {
  std::vector<RestoreOutcome> outcomes;
  if (!HasAbandonedLimits(folder)) return outcomes;
  const auto lock = JournalLock::Acquire(folder);
  if (!lock) {
    outcomes.push_back({"", std::unexpected(lock.error()), lock.error().message});
    return outcomes;
  }
  for (const auto& [path, journal] : ListJournals(folder)) {
    if (IsAlive(journal.owner)) continue;
    std::ranges::move(RestoreJournal(path, journal, devices), std::back_inserter(outcomes));
  }
  return outcomes;
}

bool HasAbandonedLimits(const std::filesystem::path& folder) {
  return std::ranges::any_of(ListJournals(folder),
                             [](const auto& entry) { return !IsAlive(entry.second.owner); });
}

}  // namespace lowtide
