#include "run/limit_guard.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/store.h"

namespace lowtide {

Result<std::unique_ptr<LimitGuard>> LimitGuard::Acquire(std::vector<PowerDevice*> devices,
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
    held.push_back({device, now, now});
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
    auto status = held_[i].device->SetLimit(limit);
    if (status) continue;
    for (std::size_t j = 0; j < i; ++j) {
      [[maybe_unused]] const auto back = held_[j].device->SetLimit(held_[j].now);
    }
    return std::unexpected(std::move(status).error());
  }
  for (Held& h : held_) h.now = limit;
  current_ = limit;
  return {};
}

std::vector<RestoreOutcome> LimitGuard::Restore() {
  std::vector<RestoreOutcome> outcomes;
  bool complete = true;
  for (Held& h : held_) {
    if (h.now == h.original) continue;
    auto status = h.device->SetLimit(h.original);
    if (status) h.now = h.original;
    complete = complete && status.has_value();
    std::string message =
        status
            ? fmt::format("{}: power limit back at {:.0f} W", h.device->Info().name, h.original.v)
            : fmt::format("{}: cannot set its power limit back to {:.0f} W: {}",
                          h.device->Info().name, h.original.v, status.error().message);
    outcomes.push_back({h.device->Info().uuid, std::move(status), std::move(message)});
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
