// A thin RAII layer over SQLite's C API: connections, cached statements, transactions. Errors name
// the file and carry SQLite's own text.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace lowtide::sqlite {

// A borrowed prepared statement: reset when this goes out of scope. Parameters are bound in order;
// the first error in binding is reported by the next Run() or Next(). Columns count from 0.
class Query {
 public:
  Query(sqlite3* db, sqlite3_stmt* statement, std::string_view file)
      : db_(db), statement_(statement), file_(file) {}
  ~Query();
  Query(Query&& o) noexcept
      : db_(o.db_),
        statement_(std::exchange(o.statement_, nullptr)),
        file_(o.file_),
        next_parameter_(o.next_parameter_),
        bind_error_(o.bind_error_) {}
  Query& operator=(Query&&) = delete;
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // Binds all of `values` to the parameters 1, 2, ...
  template <class... T>
  Query& Bind(const T&... values) {
    next_parameter_ = 1;
    (BindOne(values), ...);
    return *this;
  }

  // Steps to the end and resets, so that the query can be bound and run again.
  Status Run();
  // True while there is a row to read.
  Result<bool> Next();

  std::int64_t Int(int column) const;
  double Double(int column) const;
  std::string Text(int column) const;
  std::optional<std::int64_t> OptionalInt(int column) const;
  std::optional<double> OptionalDouble(int column) const;

 private:
  void BindOne(std::int64_t value);
  void BindOne(int value) { BindOne(static_cast<std::int64_t>(value)); }
  void BindOne(bool value) { BindOne(static_cast<std::int64_t>(value)); }
  void BindOne(double value);
  void BindOne(std::string_view value);
  void BindOne(const std::string& value) { BindOne(std::string_view(value)); }
  void BindOne(const char* value) { BindOne(std::string_view(value)); }
  void BindOne(TimePoint value) { BindOne(std::int64_t{UnixMillis(value)}); }
  void BindOne(Seconds value) { BindOne(value.count()); }
  template <class Tag>
  void BindOne(Quantity<Tag> value) {
    BindOne(value.v);
  }
  template <class T>
  void BindOne(const std::optional<T>& value) {
    if (value) {
      BindOne(*value);
    } else {
      BindNull();
    }
  }
  void BindNull();
  void Note(int code);

  sqlite3* db_;
  sqlite3_stmt* statement_;
  std::string_view file_;
  int next_parameter_ = 1;
  int bind_error_ = 0;
};

enum class Creation : std::uint8_t { kCreate, kMustExist };

// One connection. Not thread-safe.
class Database {
 public:
  // Waits at most `busy_timeout` for other processes, at each statement. The schema of the file is
  // not trusted.
  static Result<std::unique_ptr<Database>> Open(const std::filesystem::path& path,
                                                Creation creation,
                                                std::chrono::milliseconds busy_timeout);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs statements that return nothing of interest.
  Status Exec(const char* sql);
  // Prepares `sql` once and lends it; one borrower of a text at a time.
  Result<Query> Prepare(std::string_view sql);
  // The first column of the first row; an error when there is no row.
  Result<std::int64_t> Scalar(std::string_view sql);

  std::int64_t LastInsertRowId() const;
  // Rows changed by the latest statement.
  std::int64_t Changes() const;
  bool InTransaction() const;
  const std::string& File() const { return file_; }

 private:
  Database(sqlite3* db, std::string file) : db_(db), file_(std::move(file)) {}

  sqlite3* db_;
  std::string file_;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

// A write transaction, taken at once (BEGIN IMMEDIATE): rolled back unless committed.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& db);
  ~Transaction();
  Transaction(Transaction&& o) noexcept : db_(std::exchange(o.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  Status Commit();

 private:
  explicit Transaction(Database& db) : db_(&db) {}
  Database* db_;
};

}  // namespace lowtide::sqlite
