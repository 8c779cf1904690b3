#include "store/schema.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <map>
#include <string>

#include "base/fd.h"
#include "base/file.h"

namespace lowtide {
namespace {

struct Object {
  const char* name;
  const char* sql;
};

// Times are Unix milliseconds, except samples' (seconds). The key of `samples` starts with the time
// so that rows are appended at the right edge of the tree and pages fill up; no rowid, no second
// index: about 29 bytes a sample.
constexpr std::array kObjects = {
    Object{"runs",
           "CREATE TABLE runs(key INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, "
           "name TEXT NOT NULL, command TEXT NOT NULL, working_directory TEXT NOT NULL, "
           "host TEXT NOT NULL, started_at INTEGER NOT NULL, writer_pid INTEGER NOT NULL, "
           "writer_start_ticks INTEGER NOT NULL, writer_boot_id TEXT NOT NULL, "
           "zone TEXT NOT NULL, policy TEXT NOT NULL, settings TEXT NOT NULL, "
           "grid_start INTEGER NOT NULL, time_scale REAL NOT NULL, ended_at INTEGER, "
           "exit_code INTEGER, duration_s REAL NOT NULL DEFAULT 0, "
           "energy_j REAL NOT NULL DEFAULT 0, energy_known INTEGER NOT NULL DEFAULT 0, "
           "carbon_g REAL, energy_without_intensity_j REAL NOT NULL DEFAULT 0, "
           "energy_with_estimated_intensity_j REAL NOT NULL DEFAULT 0, "
           "compacted_until INTEGER NOT NULL DEFAULT 0) STRICT"},
    Object{"runs_by_name", "CREATE INDEX runs_by_name ON runs(name, run_id)"},
    Object{"components",
           "CREATE TABLE components(run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, "
           "idx INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, uuid TEXT NOT NULL, "
           "backend TEXT NOT NULL, driver TEXT NOT NULL, status TEXT NOT NULL, "
           "method TEXT NOT NULL, note TEXT NOT NULL, energy_j REAL, host_energy_j REAL, "
           "disagreement_pct REAL, gaps_s REAL NOT NULL, counted INTEGER NOT NULL, "
           "PRIMARY KEY(run, idx)) STRICT, WITHOUT ROWID"},
    Object{"samples",
           "CREATE TABLE samples(run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, "
           "unix_s INTEGER NOT NULL, component INTEGER NOT NULL, span_s INTEGER NOT NULL, "
           "energy_j REAL NOT NULL, limit_w REAL, "
           "PRIMARY KEY(run, unix_s, component)) STRICT, WITHOUT ROWID"},
    Object{"epochs",
           "CREATE TABLE epochs(run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, "
           "idx INTEGER NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER, "
           "duration_s REAL NOT NULL, energy_j REAL NOT NULL, carbon_g REAL, "
           "energy_without_intensity_j REAL NOT NULL, power_limit_w REAL, steps INTEGER NOT NULL, "
           "metrics TEXT NOT NULL, PRIMARY KEY(run, idx)) STRICT, WITHOUT ROWID"},
    Object{"decisions",
           "CREATE TABLE decisions(run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, "
           "seq INTEGER NOT NULL, at INTEGER NOT NULL, power_limit_w REAL, reason TEXT NOT NULL, "
           "forecast_g_per_kwh REAL, applied INTEGER NOT NULL, "
           "PRIMARY KEY(run, seq)) STRICT, WITHOUT ROWID"},
    Object{"intensity",
           "CREATE TABLE intensity(run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, "
           "from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL, value_g_per_kwh REAL NOT NULL, "
           "source TEXT NOT NULL, signal TEXT NOT NULL, basis TEXT NOT NULL, kind TEXT NOT NULL, "
           "PRIMARY KEY(run, from_ms)) STRICT, WITHOUT ROWID"},
    Object{"events",
           "CREATE TABLE events(run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, "
           "seq INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, message TEXT NOT NULL, "
           "PRIMARY KEY(run, seq)) STRICT, WITHOUT ROWID"},
    Object{"run_curves",
           "CREATE TABLE run_curves(run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, "
           "limit_w REAL NOT NULL, throughput_per_s REAL NOT NULL, draw_w REAL NOT NULL, "
           "PRIMARY KEY(run, limit_w)) STRICT, WITHOUT ROWID"},
    Object{"profiles",
           "CREATE TABLE profiles(gpu_model TEXT NOT NULL, driver TEXT NOT NULL, "
           "job_name TEXT NOT NULL, batch_size INTEGER NOT NULL, gpus INTEGER NOT NULL, "
           "limit_w REAL NOT NULL, throughput_per_s REAL NOT NULL, draw_w REAL NOT NULL, "
           "saved_at INTEGER NOT NULL, PRIMARY KEY(gpu_model, driver, job_name, batch_size, gpus, "
           "limit_w)) STRICT, WITHOUT ROWID"},
};

// Since schema 2: what providers have said (store/intensity_cache.h). `issued_at` is 0 for what is
// no forecast.
constexpr std::array kGridObjects = {
    Object{"grid_series",
           "CREATE TABLE grid_series(key INTEGER PRIMARY KEY, provider TEXT NOT NULL, "
           "zone TEXT NOT NULL, signal TEXT NOT NULL, basis TEXT NOT NULL, "
           "forecast INTEGER NOT NULL, UNIQUE(provider, zone, signal, basis, forecast)) STRICT"},
    Object{
        "grid_slots",
        "CREATE TABLE grid_slots(series INTEGER NOT NULL REFERENCES grid_series ON DELETE "
        "CASCADE, issued_at INTEGER NOT NULL, from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL, "
        "value_g_per_kwh REAL NOT NULL, estimated INTEGER NOT NULL, fetched_at INTEGER NOT NULL, "
        "PRIMARY KEY(series, issued_at, from_ms)) STRICT, WITHOUT ROWID"},
    Object{
        "grid_asked",
        "CREATE TABLE grid_asked(series INTEGER NOT NULL REFERENCES grid_series ON DELETE "
        "CASCADE, from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL, fetched_at INTEGER NOT NULL, "
        "PRIMARY KEY(series, from_ms)) STRICT, WITHOUT ROWID"},
};

enum class FileState : std::uint8_t { kFresh, kOurs, kForeign };

Result<FileState> StateOf(sqlite::Database& db) {
  // The mark last: another process that makes the store meanwhile commits it with the tables, so
  // whoever has seen tables sees the mark too.
  LOWTIDE_TRY(const auto objects, db.Scalar("SELECT count(*) FROM sqlite_schema"));
  LOWTIDE_TRY(const auto version, db.Scalar("PRAGMA user_version"));
  LOWTIDE_TRY(const auto application, db.Scalar("PRAGMA application_id"));
  if (application == kApplicationId) return FileState::kOurs;
  return application == 0 && objects == 0 && version == 0 ? FileState::kFresh : FileState::kForeign;
}

// Another process may switch to WAL at the same moment, which SQLite answers at once with "busy".
Status UseWal(sqlite::Database& db, std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kPause{10};
  for (auto waited = std::chrono::milliseconds(0);; waited += kPause) {
    auto done = db.Exec("PRAGMA journal_mode=WAL");
    if (done || done.error().code != Code::kDeadlineExceeded || waited >= timeout) return done;
    sqlite3_sleep(static_cast<int>(kPause.count()));
  }
}

Status CreateTables(sqlite::Database& db) {
  LOWTIDE_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(db));
  LOWTIDE_TRY(const FileState state, StateOf(db));
  if (state == FileState::kOurs) return {};  // another process was quicker
  for (const Object& object : kObjects) LOWTIDE_TRY_STATUS(db.Exec(object.sql));
  for (const Object& object : kGridObjects) LOWTIDE_TRY_STATUS(db.Exec(object.sql));
  const std::string marks = fmt::format("PRAGMA application_id={}; PRAGMA user_version={}",
                                        kApplicationId, kSchemaVersion);
  LOWTIDE_TRY_STATUS(db.Exec(marks.c_str()));
  return transaction.Commit();
}

Status AddGridTables(sqlite::Database& db) {
  LOWTIDE_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(db));
  LOWTIDE_TRY(const auto version, db.Scalar("PRAGMA user_version"));
  if (version != 1) return {};  // another process was quicker
  for (const Object& object : kGridObjects) LOWTIDE_TRY_STATUS(db.Exec(object.sql));
  LOWTIDE_TRY_STATUS(db.Exec("PRAGMA user_version=2"));
  return transaction.Commit();
}

// Brings an older store to kSchemaVersion, one transaction a step. Version 1 is the first.
Status Migrate(sqlite::Database& db) {
  LOWTIDE_TRY(const auto found, db.Scalar("PRAGMA user_version"));
  if (found == 1) LOWTIDE_TRY_STATUS(AddGridTables(db));
  LOWTIDE_TRY(const auto version, db.Scalar("PRAGMA user_version"));
  if (version == kSchemaVersion) return {};
  if (version > kSchemaVersion) {
    return Fail(Code::kUnimplemented,
                fmt::format("store {}: written by a newer Lowtide (schema {}; this one reads up to "
                            "{}); upgrade Lowtide or use another state folder",
                            db.File(), version, kSchemaVersion));
  }
  return Fail(Code::kDataLoss,
              fmt::format("store {}: unknown schema version {}", db.File(), version));
}

// The tables must be exactly ours: a view or trigger in their place would run as ours.
Status CheckTables(sqlite::Database& db) {
  std::map<std::string, std::string> expected;
  for (const Object& object : kObjects) expected.emplace(object.name, object.sql);
  for (const Object& object : kGridObjects) expected.emplace(object.name, object.sql);
  LOWTIDE_TRY(
      auto query,
      db.Prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
                 "ORDER BY name"));
  while (true) {
    LOWTIDE_TRY(const bool more, query.Next());
    if (!more) break;
    const std::string name = query.Text(0);
    const auto it = expected.find(name);
    if (it == expected.end() || it->second != query.Text(1)) {
      return Fail(Code::kDataLoss,
                  fmt::format("store {}: \"{}\" is not a table of Lowtide's schema {}", db.File(),
                              name, kSchemaVersion));
    }
    expected.erase(it);
  }
  if (!expected.empty()) {
    return Fail(Code::kDataLoss, fmt::format("store {}: table \"{}\" is not there", db.File(),
                                             expected.begin()->first));
  }
  return {};
}

// SQLite would make the file readable by all; commands in it may be private.
Status CreateFile(const std::filesystem::path& path) {
  if (path.has_parent_path()) {
    if (auto made = MakeDirectories(path.parent_path()); !made) {
      return Annotate(made.error(), fmt::format("store {}", path.string()));
    }
  }
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.Valid()) return FailErrno(errno, fmt::format("store {}: cannot open", path.string()));
  struct stat info{};
  if (::fstat(fd.Get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Fail(Code::kDataLoss, fmt::format("store {}: not a regular file", path.string()));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<sqlite::Database>> OpenDatabase(const std::filesystem::path& path,
                                                       const StoreOptions& options) {
  LOWTIDE_TRY_STATUS(CreateFile(path));
  LOWTIDE_TRY(auto db,
              sqlite::Database::Open(path, sqlite::Creation::kMustExist, options.busy_timeout));
  LOWTIDE_TRY_STATUS(db->Exec("PRAGMA cell_size_check=ON"));
  LOWTIDE_TRY(const FileState state, StateOf(*db));
  if (state == FileState::kForeign) {
    return Fail(Code::kDataLoss,
                fmt::format("store {}: an SQLite file, but not a Lowtide store", path.string()));
  }
  if (options.max_pages > 0) {
    LOWTIDE_TRY_STATUS(
        db->Exec(fmt::format("PRAGMA max_page_count={}", options.max_pages).c_str()));
  }
  if (state == FileState::kFresh) {
    // Has to come before the first table; lets Compact give pages back.
    LOWTIDE_TRY_STATUS(db->Exec("PRAGMA auto_vacuum=INCREMENTAL"));
    LOWTIDE_TRY_STATUS(UseWal(*db, options.busy_timeout));
    LOWTIDE_TRY_STATUS(CreateTables(*db));
  }
  LOWTIDE_TRY_STATUS(Migrate(*db));
  LOWTIDE_TRY_STATUS(CheckTables(*db));
  LOWTIDE_TRY_STATUS(UseWal(*db, options.busy_timeout));
  // FULL: each commit is synced, so a power loss costs what came after the last one. With NORMAL
  // it would cost what the kernel had not written yet, up to half a minute.
  LOWTIDE_TRY_STATUS(
      db->Exec("PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA journal_size_limit=4194304;"
               "PRAGMA temp_store=MEMORY"));
  return db;
}

}  // namespace lowtide
