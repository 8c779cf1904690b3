#include "store/sqlite_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "store/read.h"
#include "store/write.h"

namespace lowtide {
namespace {

constexpr std::int64_t kDaySeconds = 86400;
constexpr std::int64_t kMostGpus = 1'000'000;

Result<RunKey> KeyOf(sqlite::Database& db, std::string_view run_id) {
  LOWTIDE_TRY(auto query, db.Prepare("SELECT key, compacted_until FROM runs WHERE run_id = ?"));
  LOWTIDE_TRY(const bool found, query.Bind(run_id).Next());
  if (!found) {
    return Fail(Code::kNotFound, fmt::format("store {}: no run \"{}\"", db.File(), run_id));
  }
  return RunKey{query.Int(0), query.Int(1)};
}

Status InsertRun(sqlite::Database& db, const RunRecord& run) {
  Json command = Json::array();
  for (const auto& word : run.command) command.push_back(word);
  LOWTIDE_TRY(auto query,
              db.Prepare("INSERT INTO runs(run_id, name, command, working_directory, host, "
                         "started_at, writer_pid, writer_start_ticks, writer_boot_id, zone, "
                         "policy, settings, grid_start, time_scale) "
                         "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  return query
      .Bind(run.run_id, run.name, DumpJson(command), run.working_directory, run.host,
            run.started_at, run.writer.pid, run.writer.start_ticks, run.writer.boot_id, run.zone,
            run.policy, run.settings_json, run.grid_start, run.time_scale)
      .Run();
}

struct Minute {
  double energy_j = 0;
  std::optional<double> limit_w;
  int component = 0;
  std::int64_t unix_s = 0;
};

// The samples of `run` in [from, to) as minutes, in the order of the key. The last limit wins.
Result<std::vector<Minute>> MinutesOf(sqlite::Database& db, std::int64_t run, std::int64_t from,
                                      std::int64_t to) {
  std::map<std::pair<std::int64_t, int>, Minute> minutes;
  LOWTIDE_TRY(auto query, db.Prepare("SELECT component, unix_s, energy_j, limit_w FROM samples "
                                     "WHERE run = ? AND unix_s >= ? AND unix_s < ?"));
  query.Bind(run, from, to);
  while (true) {
    LOWTIDE_TRY(const bool more, query.Next());
    if (!more) break;
    const auto component = static_cast<int>(query.Int(0));
    const std::int64_t start = MinuteOf(query.Int(1));
    Minute& minute = minutes[{start, component}];
    minute.component = component;
    minute.unix_s = start;
    minute.energy_j += query.Double(2);
    if (const auto limit = query.OptionalDouble(3)) minute.limit_w = limit;
  }
  std::vector<Minute> out;
  out.reserve(minutes.size());
  for (const auto& [key, minute] : minutes) out.push_back(minute);
  return out;
}

// One day of one run in one transaction, so that writers never wait long.
Status CompactRange(sqlite::Database& db, std::int64_t run, std::int64_t from, std::int64_t to) {
  LOWTIDE_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(db));
  LOWTIDE_TRY(const auto minutes, MinutesOf(db, run, from, to));
  LOWTIDE_TRY(auto clear,
              db.Prepare("DELETE FROM samples WHERE run = ? AND unix_s >= ? AND unix_s < ?"));
  LOWTIDE_TRY_STATUS(clear.Bind(run, from, to).Run());
  LOWTIDE_TRY(auto insert, db.Prepare("INSERT INTO samples VALUES(?,?,?,?,?,?)"));
  for (const Minute& m : minutes) {
    LOWTIDE_TRY_STATUS(
        insert.Bind(run, m.unix_s, m.component, kMinuteSpan, m.energy_j, m.limit_w).Run());
  }
  LOWTIDE_TRY(auto mark, db.Prepare("UPDATE runs SET compacted_until = ? WHERE key = ?"));
  LOWTIDE_TRY_STATUS(mark.Bind(to, run).Run());
  return transaction.Commit();
}

// Runs that have seconds older than `cutoff`.
Result<std::vector<RunKey>> RunsToCompact(sqlite::Database& db, std::int64_t cutoff) {
  std::vector<RunKey> out;
  LOWTIDE_TRY(auto query,
              db.Prepare("SELECT key, compacted_until FROM runs WHERE compacted_until < ?1 AND "
                         "(SELECT min(unix_s) FROM samples WHERE run = key AND "
                         "unix_s >= compacted_until) < ?1"));
  query.Bind(cutoff);
  while (true) {
    LOWTIDE_TRY(const bool more, query.Next());
    if (!more) return out;
    out.push_back({query.Int(0), query.Int(1)});
  }
}

Status CompactRun(sqlite::Database& db, RunKey run, std::int64_t cutoff) {
  while (true) {
    std::int64_t from = 0;
    {
      LOWTIDE_TRY(auto query, db.Prepare("SELECT unix_s FROM samples WHERE run = ? AND "
                                         "unix_s >= ? AND unix_s < ? ORDER BY unix_s LIMIT 1"));
      LOWTIDE_TRY(const bool found, query.Bind(run.key, run.compacted_until, cutoff).Next());
      if (!found) return {};
      from = MinuteOf(query.Int(0));
    }
    const std::int64_t to = std::min(from + kDaySeconds, cutoff);
    LOWTIDE_TRY_STATUS(CompactRange(db, run.key, from, to));
    run.compacted_until = to;
  }
}

Status ClearCurve(sqlite::Database& db, const CurveKey& key) {
  LOWTIDE_TRY(auto clear, db.Prepare("DELETE FROM profiles WHERE gpu_model = ? AND driver = ? "
                                     "AND job_name = ? AND batch_size = ? AND gpus = ?"));
  return clear.Bind(key.gpu_model, key.driver, key.job_name, key.batch_size, key.gpus).Run();
}

// Gives pages back once an eighth of the file is unused; what is left is reused by new samples.
Status Shrink(sqlite::Database& db) {
  LOWTIDE_TRY(const auto pages, db.Scalar("PRAGMA page_count"));
  LOWTIDE_TRY(const auto unused, db.Scalar("PRAGMA freelist_count"));
  if (unused * 8 > pages) {
    LOWTIDE_TRY_STATUS(db.Exec("PRAGMA incremental_vacuum"));
  }
  // Others may be reading: then the log is emptied another time.
  return db.Exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace

Result<std::unique_ptr<Store>> Store::Open(const std::filesystem::path& path,
                                           std::chrono::milliseconds patience) {
  LOWTIDE_TRY(std::unique_ptr<Store> store, SqliteStore::Open(path, {.busy_timeout = patience}));
  return store;
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(const std::filesystem::path& path,
                                                       const StoreOptions& options) {
  LOWTIDE_TRY(auto db, OpenDatabase(path, options));
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(db)));
}

Status SqliteStore::BeginRun(const RunRecord& run) {
  const std::scoped_lock lock(mutex_);
  LOWTIDE_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(*db_));
  if (KeyOf(*db_, run.run_id)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("store {}: run \"{}\" is there already", db_->File(), run.run_id));
  }
  LOWTIDE_TRY_STATUS(InsertRun(*db_, run));
  return transaction.Commit();
}

Status SqliteStore::Update(std::string_view run_id, const RunUpdate& update) {
  const std::scoped_lock lock(mutex_);
  LOWTIDE_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(*db_));
  LOWTIDE_TRY(const RunKey run, KeyOf(*db_, run_id));
  LOWTIDE_TRY_STATUS(WriteComponents(*db_, run, update.components));
  LOWTIDE_TRY_STATUS(WriteSamples(*db_, run, update.samples));
  LOWTIDE_TRY_STATUS(WriteEpochs(*db_, run, update.epochs));
  LOWTIDE_TRY_STATUS(WriteDecisions(*db_, run, update.decisions));
  LOWTIDE_TRY_STATUS(WriteIntensity(*db_, run, update.intensity));
  LOWTIDE_TRY_STATUS(WriteEvents(*db_, run, update.events));
  LOWTIDE_TRY_STATUS(WriteCurve(*db_, run, update.curve));
  if (update.totals) LOWTIDE_TRY_STATUS(WriteTotals(*db_, run, *update.totals));
  return transaction.Commit();
}

Status SqliteStore::EndRun(std::string_view run_id, const RunEnd& end) {
  const std::scoped_lock lock(mutex_);
  LOWTIDE_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(*db_));
  LOWTIDE_TRY(const RunKey run, KeyOf(*db_, run_id));
  LOWTIDE_TRY(auto query, db_->Prepare("UPDATE runs SET ended_at = ?2, exit_code = ?3 "
                                       "WHERE key = ?1 AND ended_at IS NULL"));
  LOWTIDE_TRY_STATUS(query.Bind(run.key, end.ended_at, end.exit_code).Run());
  if (db_->Changes() == 0) {
    return Fail(Code::kInvalidArgument,
                fmt::format("store {}: run \"{}\" has ended already", db_->File(), run_id));
  }
  return transaction.Commit();
}

Result<std::vector<RunData>> SqliteStore::ListRuns(std::string_view name, std::size_t limit) {
  const std::scoped_lock lock(mutex_);
  LOWTIDE_TRY(auto rows, ReadRuns(*db_, name, limit));
  std::vector<RunData> out;
  out.reserve(rows.size());
  for (RunRow& row : rows) {
    LOWTIDE_TRY(row.data.components, ReadComponents(*db_, row.key));
    LOWTIDE_TRY(row.data.epochs, ReadEpochs(*db_, row.key));
    LOWTIDE_TRY(row.data.decisions, ReadDecisions(*db_, row.key));
    LOWTIDE_TRY(row.data.curve, ReadCurve(*db_, row.key));
    out.push_back(std::move(row.data));
  }
  return out;
}

Result<RunData> SqliteStore::LoadRun(std::string_view id) {
  const std::scoped_lock lock(mutex_);
  // One read transaction: a run that is being written is seen at one moment.
  LOWTIDE_TRY_STATUS(db_->Exec("BEGIN"));
  const auto load = [&]() -> Result<RunData> {
    LOWTIDE_TRY(RunRow row, FindRun(*db_, id));
    LOWTIDE_TRY(row.data.components, ReadComponents(*db_, row.key));
    LOWTIDE_TRY(row.data.samples, ReadSamples(*db_, row.key));
    LOWTIDE_TRY(row.data.epochs, ReadEpochs(*db_, row.key));
    LOWTIDE_TRY(row.data.decisions, ReadDecisions(*db_, row.key));
    LOWTIDE_TRY(row.data.intensity, ReadIntensity(*db_, row.key));
    LOWTIDE_TRY(row.data.events, ReadEvents(*db_, row.key));
    LOWTIDE_TRY(row.data.curve, ReadCurve(*db_, row.key));
    return std::move(row.data);
  };
  auto out = load();
  [[maybe_unused]] const Status ended = db_->Exec("ROLLBACK");  // nothing was written
  return out;
}

Result<std::vector<std::string>> SqliteStore::DeleteRuns(std::span<const std::string> ids) {
  const std::scoped_lock lock(mutex_);
  LOWTIDE_TRY_STATUS(db_->Exec("PRAGMA secure_delete=ON"));
  LOWTIDE_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(*db_));
  std::vector<std::string> deleted;
  std::vector<std::int64_t> keys;
  for (const std::string& id : ids) {
    LOWTIDE_TRY(const RunRow row, FindRun(*db_, id));
    const RunRecord& record = row.data.record;
    if (row.data.state == RunState::kRunning) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("run {} still goes on (process {}): nothing is deleted",
                              record.run_id, record.writer.pid));
    }
    if (std::ranges::find(keys, row.key) != keys.end()) continue;
    keys.push_back(row.key);
    deleted.push_back(record.run_id);
  }
  for (const std::int64_t key : keys) {
    LOWTIDE_TRY(auto query, db_->Prepare("DELETE FROM runs WHERE key = ?"));
    LOWTIDE_TRY_STATUS(query.Bind(key).Run());
  }
  LOWTIDE_TRY_STATUS(transaction.Commit());
  // The log still has what they held, until it is emptied; when others are reading, another time.
  [[maybe_unused]] const Status emptied =
      db_->Exec("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)");
  return deleted;
}

Status SqliteStore::SaveCurve(const CurveKey& key, const std::vector<CurvePointRecord>& points,
                              TimePoint now) {
  const std::scoped_lock lock(mutex_);
  LOWTIDE_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(*db_));
  LOWTIDE_TRY_STATUS(ClearCurve(*db_, key));
  LOWTIDE_TRY(auto insert, db_->Prepare("INSERT INTO profiles VALUES(?,?,?,?,?,?,?,?,?)"));
  for (const auto& p : points) {
    LOWTIDE_TRY_STATUS(insert
                           .Bind(key.gpu_model, key.driver, key.job_name, key.batch_size, key.gpus,
                                 p.limit_w, p.throughput_per_s, p.draw_w, now)
                           .Run());
  }
  return transaction.Commit();
}

Result<std::vector<CurvePointRecord>> SqliteStore::LoadCurve(const CurveKey& key) {
  const std::scoped_lock lock(mutex_);
  LOWTIDE_TRY(auto query, db_->Prepare("SELECT limit_w, throughput_per_s, draw_w FROM profiles "
                                       "WHERE gpu_model = ? AND driver = ? AND job_name = ? AND "
                                       "batch_size = ? AND gpus = ? ORDER BY limit_w DESC"));
  query.Bind(key.gpu_model, key.driver, key.job_name, key.batch_size, key.gpus);
  std::vector<CurvePointRecord> out;
  while (true) {
    LOWTIDE_TRY(const bool more, query.Next());
    if (!more) return out;
    out.push_back({query.Double(0), query.Double(1), query.Double(2)});
  }
}

Result<std::vector<StoredCurve>> SqliteStore::ListCurves(std::string_view job_name) {
  const std::scoped_lock lock(mutex_);
  LOWTIDE_TRY(auto query,
              db_->Prepare("SELECT job_name, gpu_model, driver, batch_size, gpus, saved_at, "
                           "limit_w, throughput_per_s, draw_w FROM profiles "
                           "WHERE ?1 = '' OR job_name = ?1 ORDER BY job_name, gpu_model, driver, "
                           "batch_size, gpus, limit_w DESC"));
  query.Bind(job_name);
  std::vector<StoredCurve> out;
  while (true) {
    LOWTIDE_TRY(const bool more, query.Next());
    if (!more) return out;
    CurveKey key{query.Text(1), query.Text(2), query.Text(0), query.Int(3),
                 static_cast<int>(std::clamp<std::int64_t>(query.Int(4), 0, kMostGpus))};
    if (out.empty() || out.back().key != key) {
      out.push_back({std::move(key), ReadTime(query, 5), {}});
    }
    out.back().points.push_back({query.Double(6), query.Double(7), query.Double(8)});
  }
}

Status SqliteStore::DeleteCurve(const CurveKey& key) {
  const std::scoped_lock lock(mutex_);
  LOWTIDE_TRY_STATUS(ClearCurve(*db_, key));
  if (db_->Changes() > 0) return {};
  return Fail(
      Code::kNotFound,
      fmt::format("store {}: no power curve of \"{}\" on {} (driver {}, batch size {}, "
                  "GPUs: {})",
                  db_->File(), key.job_name, key.gpu_model, key.driver, key.batch_size, key.gpus));
}

Status SqliteStore::Compact(TimePoint now) {
  const std::scoped_lock lock(mutex_);
  const std::int64_t now_s =
      std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  const std::int64_t cutoff = MinuteOf(now_s - kDaySeconds);
  LOWTIDE_TRY(const auto runs, RunsToCompact(*db_, cutoff));
  for (const RunKey& run : runs) LOWTIDE_TRY_STATUS(CompactRun(*db_, run, cutoff));
  return Shrink(*db_);
}

}  // namespace lowtide
