#include "run/limit_guard.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "store/store.h"

namespace lowtide {

Result<std::unique_ptr<LimitGuard>> LimitGuard::Acquire(const std::vector<PowerDevice*>& devices,
                                                        LimitGuardOptions options) {
  if (devices.empty()) {
    return Fail(Code::kUnimplemented, "no GPU whose power limit could be set");
  }
  std::vector<Held> held;
  PowerLimits range{Watts(0), Watts(1e9), Watts(1e9)};
  for (PowerDevice* const device : devices) {
    LOWTIDE_TRY(const PowerLimits limits, device->Limits());
    LOWTIDE_TRY(const Watts now, device->Limit());
    range.min = std::max(range.min, limits.min);
    range.max = std::min(range.max, limits.max);
    range.preset = std::min(range.preset, limits.preset);
    held.push_back({device, now, now, std::nullopt});
  }
  if (range.min > range.max) {
    return Fail(Code::kUnimplemented,
                fmt::format("the GPUs have no power limit in common: one needs at least {:.0f} W, "
                            "another at most {:.0f} W",
                            range.min.v, range.max.v));
  }
  return std::unique_ptr<LimitGuard>(new LimitGuard(std::move(held), range, std::move(options)));
}

LimitGuard::LimitGuard(std::vector<Held> held, PowerLimits range, LimitGuardOptions options)
    : held_(std::move(held)), range_(range), options_(std::move(options)) {
  current_ = std::ranges::min_element(held_, {}, &Held::original)->original;
  persistent_ = std::ranges::any_of(
      held_, [](const Held& h) { return h.device->Info().provenance != Provenance::kSimulated; });
}

LimitGuard::~LimitGuard() { Restore(); }

Status LimitGuard::WriteApplied(Watts next) const {
  LimitJournal journal;
  journal.run_id = options_.run_id;
  LOWTIDE_TRY(journal.owner, ThisProcess());
  for (const Held& h : held_) {
    journal.limits.push_back({h.device->Info().uuid, h.original, {h.now, next}});
  }
  return WriteJournal(JournalPath(options_.folder, options_.run_id), journal);
}

// Before the first change: nobody else steers these devices, and what they had is on disk.
Status LimitGuard::Prepare() {
  LOWTIDE_TRY(const JournalLock lock, JournalLock::Acquire(options_.folder));
  for (const auto& [path, journal] : ListJournals(options_.folder)) {
    for (const JournaledLimit& limit : journal.limits) {
      const bool same = std::ranges::any_of(
          held_, [&](const Held& h) { return h.device->Info().uuid == limit.uuid; });
      if (same) {
        return Fail(Code::kPermissionDenied,
                    fmt::format("the power limit of {} is held by run {} (pid {})", limit.uuid,
                                journal.run_id, journal.owner.pid));
      }
    }
  }
  LOWTIDE_TRY_STATUS(WriteApplied(current_));
  journaled_ = true;
  if (options_.start_watchdog) {
    auto watchdog = options_.start_watchdog(JournalPath(options_.folder, options_.run_id));
    if (!watchdog) return std::unexpected(std::move(watchdog).error());
    watchdog_ = *std::move(watchdog);
  }
  return {};
}

std::optional<std::string> LimitGuard::KeepWatched() {
  if (!watchdog_.Valid()) return std::nullopt;
  // A pipe without a reader.
  pollfd pipe{watchdog_.Get(), 0, 0};
  if (::poll(&pipe, 1, 0) <= 0 || (pipe.revents & POLLERR) == 0) return std::nullopt;
  auto again = options_.start_watchdog(JournalPath(options_.folder, options_.run_id));
  if (again) {
    watchdog_ = *std::move(again);
    return "the watchdog over the power limits had died; it has been started anew";
  }
  watchdog_ = UniqueFd();
  return "the watchdog over the power limits has died and cannot be started anew: " +
         again.error().message + "; a killed run would leave them until the next one starts";
}

Status LimitGuard::Set(Watts limit) {
  if (limit < range_.min || limit > range_.max) {
    return Fail(Code::kInvalidArgument,
                fmt::format("power limit {:.0f} W; allowed are {:.0f} to {:.0f} W", limit.v,
                            range_.min.v, range_.max.v));
  }
  if (persistent_) {
    if (!journaled_) LOWTIDE_TRY_STATUS(Prepare());
    LOWTIDE_TRY_STATUS(WriteApplied(limit));
  }
  for (std::size_t i = 0; i < held_.size(); ++i) {
    held_[i].unsure = limit;
    auto status = held_[i].device->SetLimit(limit);
    if (status) continue;
    // The one that failed may have failed after the change.
    for (std::size_t j = 0; j <= i; ++j) {
      if (held_[j].device->SetLimit(held_[j].now)) held_[j].unsure.reset();
    }
    return std::unexpected(std::move(status).error());
  }
  for (Held& h : held_) {
    h.now = limit;
    h.unsure.reset();
  }
  current_ = limit;
  return {};
}

// Nothing where there is nothing to put back.
std::optional<RestoreOutcome> LimitGuard::RestoreOne(Held& held) {
  if (held.now == held.original && !held.unsure) return std::nullopt;
  const DeviceInfo& info = held.device->Info();
  std::vector<Watts> ours = {held.original, held.now, held.unsure.value_or(held.now)};
  // What a reset of the GPU or a reload of its driver during the run has put there.
  if (const auto limits = held.device->Limits()) ours.push_back(limits->preset);
  const auto found = held.device->Limit();
  const bool changed_by_others = found && !IsOurs(*found, ours);
  const bool was_changed = !found || *found != held.original;
  Status status;
  if (was_changed && !changed_by_others) status = held.device->SetLimit(held.original);
  if (status) {
    held.now = held.original;
    held.unsure.reset();
  }
  std::string message;
  if (changed_by_others) {
    message = fmt::format("{}: power limit left at {:.0f} W, which somebody else has set since",
                          info.name, found->v);
  } else if (status) {
    message = fmt::format("{}: power limit back at {:.0f} W", info.name, held.original.v);
  } else {
    message = fmt::format("{}: cannot set its power limit back to {:.0f} W: {}", info.name,
                          held.original.v, status.error().message);
  }
  return RestoreOutcome{info.uuid, std::move(status), std::move(message)};
}

std::vector<RestoreOutcome> LimitGuard::Restore() {
  std::vector<RestoreOutcome> outcomes;
  bool complete = true;
  for (Held& h : held_) {
    auto outcome = RestoreOne(h);
    if (!outcome) continue;
    complete = complete && outcome->status.has_value();
    outcomes.push_back(*std::move(outcome));
  }
  if (journaled_ && complete) {
    std::error_code ignored;
    std::filesystem::remove(JournalPath(options_.folder, options_.run_id), ignored);
    journaled_ = false;
  }
  watchdog_.Reset();  // closing tells the watchdog; without a journal it has nothing to do
  current_ = std::ranges::min_element(held_, {}, &Held::now)->now;
  return outcomes;
}

}  // namespace lowtide
