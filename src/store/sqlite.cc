#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <climits>

namespace lowtide::sqlite {
namespace {

// No text of ours comes near; a damaged file cannot make us allocate more.
constexpr int kMaxValueBytes = 64 << 20;

Code CodeFor(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Code::kDeadlineExceeded;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY: return Code::kPermissionDenied;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG: return Code::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Code::kDataLoss;
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_PROTOCOL: return Code::kUnavailable;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH: return Code::kInvalidArgument;
    default: return Code::kInternal;
  }
}

const char* Remedy(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return " (another process is writing to it; try again)";
    case SQLITE_CORRUPT: return " (the file is damaged; move it away to start a new store)";
    case SQLITE_NOTADB: return " (not a Lowtide store)";
    case SQLITE_FULL: return " (free some space; what was committed before is kept)";
    default: return "";
  }
}

std::unexpected<Error> FailSqlite(sqlite3* db, int code, std::string_view file) {
  const int extended = db != nullptr ? sqlite3_extended_errcode(db) : code;
  const char* const text = db != nullptr && (extended & 0xff) == (code & 0xff)
                               ? sqlite3_errmsg(db)
                               : sqlite3_errstr(code);
  return Fail(CodeFor(code), fmt::format("store {}: {}{}", file, text, Remedy(code)));
}

}  // namespace

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Query::Note(int code) {
  if (code != SQLITE_OK && bind_error_ == SQLITE_OK) bind_error_ = code;
}

void Query::BindOne(std::int64_t value) {
  Note(sqlite3_bind_int64(statement_, next_parameter_++, value));
}

void Query::BindOne(double value) {
  Note(sqlite3_bind_double(statement_, next_parameter_++, value));
}

void Query::BindOne(std::string_view value) {
  Note(sqlite3_bind_text64(statement_, next_parameter_++, value.empty() ? "" : value.data(),
                           value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Query::BindNull() { Note(sqlite3_bind_null(statement_, next_parameter_++)); }

Result<bool> Query::Next() {
  if (bind_error_ != SQLITE_OK) return FailSqlite(db_, bind_error_, file_);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return FailSqlite(db_, code, file_);
}

Status Query::Run() {
  while (true) {
    LOWTIDE_TRY(const bool more, Next());
    if (!more) break;
  }
  sqlite3_reset(statement_);
  return {};
}

std::int64_t Query::Int(int column) const { return sqlite3_column_int64(statement_, column); }

double Query::Double(int column) const { return sqlite3_column_double(statement_, column); }

std::string Query::Text(int column) const {
  const unsigned char* const text = sqlite3_column_text(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (text == nullptr || size <= 0) return {};
  return std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
}

std::optional<std::int64_t> Query::OptionalInt(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return Int(column);
}

std::optional<double> Query::OptionalDouble(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return Double(column);
}

Result<std::unique_ptr<Database>> Database::Open(const std::filesystem::path& path,
                                                 Creation creation,
                                                 std::chrono::milliseconds busy_timeout) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (creation == Creation::kCreate ? SQLITE_OPEN_CREATE : 0);
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  // SQLite gives a handle even when it fails; it must be closed all the same.
  std::unique_ptr<Database> db(new Database(handle, path.string()));
  if (code != SQLITE_OK) return FailSqlite(handle, code, db->file_);
  sqlite3_busy_timeout(handle, static_cast<int>(busy_timeout.count()));
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  return db;
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

Status Database::Exec(const char* sql) {
  const int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return FailSqlite(db_, code, file_);
  return {};
}

Result<Query> Database::Prepare(std::string_view sql) {
  auto it = statements_.find(sql);
  if (it == statements_.end()) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) return FailSqlite(db_, code, file_);
    it = statements_.emplace(std::string(sql), statement).first;
  }
  return Query(db_, it->second, file_);
}

Result<std::int64_t> Database::Scalar(std::string_view sql) {
  LOWTIDE_TRY(Query query, Prepare(sql));
  LOWTIDE_TRY(const bool found, query.Next());
  if (!found) {
    return Fail(Code::kDataLoss, fmt::format("store {}: no answer to \"{}\"", file_, sql));
  }
  return query.Int(0);
}

std::int64_t Database::LastInsertRowId() const { return sqlite3_last_insert_rowid(db_); }

std::int64_t Database::Changes() const { return sqlite3_changes64(db_); }

bool Database::InTransaction() const { return sqlite3_get_autocommit(db_) == 0; }

Result<Transaction> Transaction::Begin(Database& db) {
  LOWTIDE_TRY_STATUS(db.Exec("BEGIN IMMEDIATE"));
  return Transaction(db);
}

Transaction::~Transaction() {
  // SQLite rolls back by itself on some errors (disk full, I/O).
  if (db_ == nullptr || !db_->InTransaction()) return;
  [[maybe_unused]] const Status done = db_->Exec("ROLLBACK");
}

Status Transaction::Commit() {
  if (auto done = db_->Exec("COMMIT"); !done) return done;
  db_ = nullptr;
  return {};
}

}  // namespace lowtide::sqlite
