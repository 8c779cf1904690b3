#include "store/intensity_cache.h"

#include <algorithm>

#include "store/schema.h"
#include "store/sqlite.h"

namespace lowtide {
namespace {

TimePoint Time(std::int64_t unix_ms) { return TimePoint(std::chrono::milliseconds(unix_ms)); }

std::int64_t IssueOf(const CachedSlot& slot) {
  return slot.issued_at ? std::int64_t{UnixMillis(*slot.issued_at)} : 0;
}

// [from, to) is asked for anew: what was known of it counts no longer.
Status NoteAsked(sqlite::Database& db, std::int64_t key, TimePoint from, TimePoint to,
                 TimePoint at) {
  struct Part {
    TimePoint from, to, at;
  };
  std::vector<Part> rest;
  {
    LOWTIDE_TRY(auto query, db.Prepare("SELECT from_ms, to_ms, fetched_at FROM grid_asked "
                                       "WHERE series = ? AND to_ms > ? AND from_ms < ?"));
    query.Bind(key, from, to);
    while (true) {
      LOWTIDE_TRY(const bool more, query.Next());
      if (!more) break;
      const Part old{Time(query.Int(0)), Time(query.Int(1)), Time(query.Int(2))};
      if (old.from < from) rest.push_back({old.from, from, old.at});
      if (old.to > to) rest.push_back({to, old.to, old.at});
    }
  }
  LOWTIDE_TRY(auto clear, db.Prepare("DELETE FROM grid_asked WHERE series = ? AND to_ms > ? "
                                     "AND from_ms < ?"));
  LOWTIDE_TRY_STATUS(clear.Bind(key, from, to).Run());
  rest.push_back({from, to, at});
  LOWTIDE_TRY(auto insert, db.Prepare("INSERT INTO grid_asked VALUES(?,?,?,?)"));
  for (const Part& p : rest) LOWTIDE_TRY_STATUS(insert.Bind(key, p.from, p.to, p.at).Run());
  return {};
}

}  // namespace

IntensityCache::IntensityCache(std::unique_ptr<sqlite::Database> db) : db_(std::move(db)) {}
IntensityCache::~IntensityCache() = default;

Result<std::unique_ptr<IntensityCache>> IntensityCache::Open(const std::filesystem::path& path,
                                                             std::chrono::milliseconds patience) {
  LOWTIDE_TRY(auto db, OpenDatabase(path, {.busy_timeout = patience}));
  return std::unique_ptr<IntensityCache>(new IntensityCache(std::move(db)));
}

Result<std::optional<std::int64_t>> IntensityCache::KeyOf(const CachedSeries& series) {
  LOWTIDE_TRY(auto query, db_->Prepare("SELECT key FROM grid_series WHERE provider = ? AND "
                                       "zone = ? AND signal = ? AND basis = ? AND forecast = ?"));
  LOWTIDE_TRY(const bool found,
              query.Bind(series.provider, series.zone, series.signal, series.basis, series.forecast)
                  .Next());
  if (!found) return std::optional<std::int64_t>();
  return std::optional(query.Int(0));
}

Status IntensityCache::Put(const CachedSeries& series, const std::vector<CachedSlot>& slots,
                           TimePoint asked_from, TimePoint asked_to, TimePoint fetched_at) {
  const std::scoped_lock lock(mutex_);
  LOWTIDE_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(*db_));
  {
    LOWTIDE_TRY(auto add, db_->Prepare("INSERT OR IGNORE INTO grid_series(provider, zone, signal, "
                                       "basis, forecast) VALUES(?,?,?,?,?)"));
    LOWTIDE_TRY_STATUS(
        add.Bind(series.provider, series.zone, series.signal, series.basis, series.forecast).Run());
  }
  LOWTIDE_TRY(const auto found, KeyOf(series));
  if (!found) return Fail(Code::kInternal, "the intensity cache lost a series");
  const std::int64_t key = *found;
  // Of history, what the answer does not repeat has become a gap.
  LOWTIDE_TRY(auto clear, db_->Prepare("DELETE FROM grid_slots WHERE series = ? AND issued_at = ? "
                                       "AND to_ms > ? AND from_ms < ?"));
  if (!series.forecast) LOWTIDE_TRY_STATUS(clear.Bind(key, 0, asked_from, asked_to).Run());
  LOWTIDE_TRY(auto insert, db_->Prepare("INSERT OR REPLACE INTO grid_slots VALUES(?,?,?,?,?,?,?)"));
  for (const CachedSlot& slot : slots) {
    const std::int64_t issue = series.forecast ? IssueOf(slot) : 0;
    // A slot of another length in the same place.
    LOWTIDE_TRY_STATUS(clear.Bind(key, issue, slot.from, slot.to).Run());
    LOWTIDE_TRY_STATUS(
        insert.Bind(key, issue, slot.from, slot.to, slot.value, slot.estimated, fetched_at).Run());
  }
  LOWTIDE_TRY_STATUS(NoteAsked(*db_, key, asked_from, asked_to, fetched_at));
  return transaction.Commit();
}

Result<std::vector<CachedSlot>> IntensityCache::Slots(const CachedSeries& series, TimePoint from,
                                                      TimePoint to, TimePoint as_of) {
  const std::scoped_lock lock(mutex_);
  std::vector<CachedSlot> out;
  LOWTIDE_TRY(const auto key, KeyOf(series));
  if (!key) return out;
  std::int64_t issue = 0;
  if (series.forecast) {
    LOWTIDE_TRY(auto newest, db_->Prepare("SELECT max(issued_at) FROM grid_slots WHERE series = ? "
                                          "AND issued_at <= ? AND to_ms > ? AND from_ms < ?"));
    LOWTIDE_TRY(const bool found, newest.Bind(*key, as_of, from, to).Next());
    const auto at = found ? newest.OptionalInt(0) : std::nullopt;
    if (!at) return out;
    issue = *at;
  }
  LOWTIDE_TRY(auto query, db_->Prepare("SELECT from_ms, to_ms, value_g_per_kwh, estimated, "
                                       "fetched_at FROM grid_slots WHERE series = ? AND "
                                       "issued_at = ? AND to_ms > ? AND from_ms < ? "
                                       "ORDER BY from_ms"));
  query.Bind(*key, issue, from, to);
  while (true) {
    LOWTIDE_TRY(const bool more, query.Next());
    if (!more) return out;
    CachedSlot slot;
    slot.from = Time(query.Int(0));
    slot.to = Time(query.Int(1));
    slot.value = GramsPerKwh(query.Double(2));
    slot.estimated = query.Int(3) != 0;
    slot.fetched_at = Time(query.Int(4));
    if (series.forecast) slot.issued_at = Time(issue);
    out.push_back(slot);
  }
}

Result<std::vector<TimePoint>> IntensityCache::Issues(const CachedSeries& series, TimePoint from,
                                                      TimePoint to) {
  const std::scoped_lock lock(mutex_);
  std::vector<TimePoint> out;
  LOWTIDE_TRY(const auto key, KeyOf(series));
  if (!key) return out;
  LOWTIDE_TRY(
      auto query,
      db_->Prepare("SELECT DISTINCT issued_at FROM grid_slots WHERE series = ? AND "
                   "issued_at > 0 AND issued_at >= ? AND issued_at < ? ORDER BY issued_at"));
  query.Bind(*key, from, to);
  while (true) {
    LOWTIDE_TRY(const bool more, query.Next());
    if (!more) return out;
    out.push_back(Time(query.Int(0)));
  }
}

Result<std::optional<TimePoint>> IntensityCache::AskedAt(const CachedSeries& series, TimePoint from,
                                                         TimePoint to) {
  const std::scoped_lock lock(mutex_);
  LOWTIDE_TRY(const auto key, KeyOf(series));
  if (!key) return std::optional<TimePoint>();
  LOWTIDE_TRY(auto query,
              db_->Prepare("SELECT from_ms, to_ms, fetched_at FROM grid_asked WHERE "
                           "series = ? AND to_ms > ? AND from_ms < ? ORDER BY from_ms"));
  query.Bind(*key, from, to);
  std::optional<TimePoint> oldest;
  TimePoint covered_to = from;
  while (true) {
    LOWTIDE_TRY(const bool more, query.Next());
    if (!more) break;
    if (Time(query.Int(0)) > covered_to) return std::optional<TimePoint>();
    covered_to = std::max(covered_to, Time(query.Int(1)));
    const TimePoint at = Time(query.Int(2));
    oldest = oldest ? std::min(*oldest, at) : at;
  }
  if (covered_to < to) return std::optional<TimePoint>();
  return oldest;
}

Status IntensityCache::Prune(TimePoint history, TimePoint forecasts) {
  const std::scoped_lock lock(mutex_);
  LOWTIDE_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(*db_));
  LOWTIDE_TRY(auto old_slots,
              db_->Prepare("DELETE FROM grid_slots WHERE issued_at = 0 AND to_ms < ?"));
  LOWTIDE_TRY_STATUS(old_slots.Bind(history).Run());
  LOWTIDE_TRY(auto old_issues,
              db_->Prepare("DELETE FROM grid_slots WHERE issued_at > 0 AND issued_at < ?"));
  LOWTIDE_TRY_STATUS(old_issues.Bind(forecasts).Run());
  LOWTIDE_TRY(auto old_asked, db_->Prepare("DELETE FROM grid_asked WHERE to_ms < ?"));
  LOWTIDE_TRY_STATUS(old_asked.Bind(history).Run());
  return transaction.Commit();
}

}  // namespace lowtide
