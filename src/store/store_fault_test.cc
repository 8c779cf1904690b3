// What the store does with bad files, full disks, several processes and sudden death.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>

#include "base/file.h"
#include "store/sqlite_store.h"
#include "store/store_test_data.h"

namespace lowtide {
namespace {

using testing::HasSubstr;

class StoreFaultTest : public testing::Test {
 protected:
  std::filesystem::path Path() const { return folder_.Path() / "lowtide.db"; }
  void WriteBytes(std::string_view bytes) const {
    std::ofstream(Path(), std::ios::binary) << bytes;
  }
  void MakeSqlite(const char* sql) const {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(Path().c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
  void MakeStoreWithRuns(int runs) const {
    auto store = Store::Open(Path());
    ASSERT_TRUE(store);
    for (int i = 0; i < runs; ++i) {
      const std::string id = "01A" + std::to_string(100 + i);
      ASSERT_TRUE((*store)->BeginRun(SomeRun(id)));
      ASSERT_TRUE((*store)->Update(id, SomeUpdate()));
    }
  }
  Error OpenError() const {
    auto store = Store::Open(Path());
    EXPECT_FALSE(store);
    if (store) return {};
    EXPECT_THAT(store.error().message, HasSubstr(Path().string()));
    return store.error();
  }
  TemporaryFolder folder_;
};

// Runs `body` in a child process and returns its exit status; the child never returns here.
template <class Body>
pid_t InChild(Body body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  return pid;
}

int Wait(pid_t pid) {
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

TEST_F(StoreFaultTest, AFileOfSomethingElseIsRefusedAndLeftAlone) {
  const std::string text(10000, 'x');
  WriteBytes(text);
  EXPECT_EQ(OpenError().code, Code::kDataLoss);
  EXPECT_EQ(*ReadFile(Path()), text);
}

TEST_F(StoreFaultTest, AnotherProgramsDatabaseIsRefusedAndLeftAlone) {
  MakeSqlite("CREATE TABLE runs(key INTEGER)");
  const std::string before = *ReadFile(Path());
  const Error error = OpenError();
  EXPECT_EQ(error.code, Code::kDataLoss);
  EXPECT_THAT(error.message, HasSubstr("not a Lowtide store"));
  EXPECT_EQ(*ReadFile(Path()), before);
}

TEST_F(StoreFaultTest, ANewerStoreIsRefused) {
  MakeStoreWithRuns(1);
  MakeSqlite("PRAGMA user_version=99");
  const Error error = OpenError();
  EXPECT_EQ(error.code, Code::kUnimplemented);
  EXPECT_THAT(error.message, HasSubstr("schema 99"));
}

TEST_F(StoreFaultTest, ChangedTablesAreRefused) {
  MakeStoreWithRuns(1);
  MakeSqlite("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END");
  EXPECT_THAT(OpenError().message, HasSubstr("\"t\" is not a table"));
  MakeSqlite("DROP TRIGGER t; DROP TABLE events");
  EXPECT_THAT(OpenError().message, HasSubstr("\"events\" is not there"));
}

TEST_F(StoreFaultTest, AnEmptyFileBecomesAStore) {
  WriteBytes("");
  MakeStoreWithRuns(1);
  EXPECT_EQ((*Store::Open(Path()))->ListRuns("", 9)->size(), 1U);
}

TEST_F(StoreFaultTest, FoldersAndMissingParentsAreNamed) {
  std::filesystem::create_directory(Path());
  EXPECT_THAT(OpenError().message, HasSubstr("cannot open"));
  std::ofstream(folder_.Path() / "file") << "x";
  const auto store = Store::Open(folder_.Path() / "file" / "lowtide.db");
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr("file"));
}

// Truncation and overwriting at any place gives the rows or an error, never a crash.
TEST_F(StoreFaultTest, DamageIsAnErrorNotACrash) {
  MakeStoreWithRuns(30);
  const std::string whole = *ReadFile(Path());
  ASSERT_GT(whole.size(), 40960U);
  int damaged = 0;
  for (std::size_t at = 0; at < whole.size(); at += 1531) {
    for (const bool truncate : {false, true}) {
      std::string bytes = whole;
      if (truncate) {
        bytes.resize(at);
      } else {
        for (std::size_t i = at; i < std::min(at + 300, bytes.size()); ++i) bytes[i] = '\xa5';
      }
      std::filesystem::remove(Path().string() + "-wal");
      std::filesystem::remove(Path().string() + "-shm");
      WriteBytes(bytes);
      auto store = Store::Open(Path());
      if (!store) {
        ++damaged;
        continue;
      }
      const auto runs = (*store)->ListRuns("", 100);
      if (!runs) {
        ++damaged;
        continue;
      }
      for (const auto& run : *runs) (void)(*store)->LoadRun(run.record.run_id);
    }
  }
  EXPECT_GT(damaged, 10);
}

TEST_F(StoreFaultTest, AReadOnlyFolderIsAPermissionError) {
  std::filesystem::permissions(folder_.Path(), std::filesystem::perms(0555));
  const auto path = Path();
  const int status = Wait(InChild([&path] {
    // Root may write anywhere: be nobody.
    if (::geteuid() == 0 && ::seteuid(65534) != 0) return 9;
    auto store = Store::Open(path);
    if (store) return 1;
    return store.error().code == Code::kPermissionDenied ? 0 : 2;
  }));
  std::filesystem::permissions(folder_.Path(), std::filesystem::perms(0755));
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 9) GTEST_SKIP() << "cannot give up the rights of root here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(StoreFaultTest, AFullDiskKeepsWhatWasCommitted) {
  StoreOptions options;
  options.max_pages = 60;
  auto store = SqliteStore::Open(Path(), options);
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE((*store)->BeginRun(SomeRun("01A")));
  std::int64_t second = 0;
  std::size_t committed = 0;
  Status full;
  while (full && second < 1'000'000) {
    RunUpdate update;
    for (int i = 0; i < 500; ++i) update.samples.push_back({0, second++, 1, 1.1, 300});
    full = (*store)->Update("01A", update);
    if (full) committed += update.samples.size();
  }
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::kResourceExhausted);
  EXPECT_THAT(full.error().message, HasSubstr("full"));
  EXPECT_GT(committed, 1000U);
  EXPECT_EQ((*store)->LoadRun("01A")->samples.size(), committed);
  // A small change still goes in, and the run can be ended.
  EXPECT_TRUE((*store)->EndRun("01A", {At("2026-11-30T12:00:00Z"), 0}));
  EXPECT_EQ((*Store::Open(Path()))->LoadRun("01A")->samples.size(), committed);
}

TEST_F(StoreFaultTest, ALockedStoreGivesUpAfterItsTimeout) {
  MakeStoreWithRuns(1);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(Path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  StoreOptions options;
  options.busy_timeout = std::chrono::milliseconds(20);
  auto store = SqliteStore::Open(Path(), options);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->Update("01A100", SomeUpdate()).error().code, Code::kDeadlineExceeded);
  EXPECT_TRUE((*store)->LoadRun("01A100"));  // readers do not wait for writers
  sqlite3_close(other);
  EXPECT_TRUE((*store)->Update("01A100", SomeUpdate()));
}

TEST_F(StoreFaultTest, SeveralProcessesCreateAndWriteAtOnce) {
  constexpr int kProcesses = 6;
  constexpr int kUpdates = 15;
  const auto path = Path();
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    children.push_back(InChild([&path, p] {
      auto store = Store::Open(path);
      if (!store) return 1;
      const std::string id = "01A" + std::to_string(p);
      if (!(*store)->BeginRun(SomeRun(id))) return 2;
      for (int i = 0; i < kUpdates; ++i) {
        RunUpdate update;
        update.samples = {{0, i, 1, 1.0, std::nullopt}};
        if (!(*store)->Update(id, update)) return 3;
      }
      return (*store)->EndRun(id, {At("2026-11-30T12:00:00Z"), p}) ? 0 : 4;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(Wait(child), 0);
  auto store = Store::Open(path);
  ASSERT_TRUE(store);
  ASSERT_EQ((*store)->ListRuns("", 99)->size(), std::size_t{kProcesses});
  for (int p = 0; p < kProcesses; ++p) {
    const auto run = (*store)->LoadRun("01A" + std::to_string(p));
    ASSERT_TRUE(run);
    EXPECT_EQ(run->samples.size(), std::size_t{kUpdates});
    EXPECT_EQ(run->end->exit_code, p);
  }
}

TEST_F(StoreFaultTest, ThreadsShareOneStore) {
  auto store = Store::Open(Path());
  ASSERT_TRUE(store);
  ASSERT_TRUE((*store)->BeginRun(SomeRun("01A")));
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&store, t] {
        for (int i = 0; i < 10; ++i) {
          RunUpdate update;
          update.samples = {{t, i, 1, 1.0, std::nullopt}};
          EXPECT_TRUE((*store)->Update("01A", update));
          EXPECT_TRUE((*store)->LoadRun("01A"));
        }
      });
    }
  }
  EXPECT_EQ((*store)->LoadRun("01A")->samples.size(), 40U);
}

// The child says each commit on a pipe and is killed while it goes on: all that it said is there.
TEST_F(StoreFaultTest, WhatWasCommittedSurvivesSigkill) {
  const auto path = Path();
  for (int round = 0; round < 3; ++round) {
    const std::string id = "01A" + std::to_string(round);
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = InChild([&] {
      auto store = Store::Open(path);
      if (!store || !(*store)->BeginRun(SomeRun(id))) return 1;
      for (std::int64_t i = 0;; ++i) {
        RunUpdate update;
        update.samples = {{0, i, 1, 2.0, 300}, {1, i, 1, 1.0, std::nullopt}};
        update.events = {{At("2026-11-30T12:00:00Z"), "info", std::to_string(i)}};
        if (!(*store)->Update(id, update)) return 2;
        if (::write(pipe_ends[1], "x", 1) != 1) return 3;
      }
    });
    ::close(pipe_ends[1]);
    std::size_t said = 0;
    char byte = 0;
    while (said < 20U + 7U * static_cast<unsigned>(round) && ::read(pipe_ends[0], &byte, 1) == 1) {
      ++said;
    }
    EXPECT_EQ((*Store::Open(path))->LoadRun(id)->state, RunState::kRunning);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    EXPECT_TRUE(WIFSIGNALED(Wait(child)));
    while (::read(pipe_ends[0], &byte, 1) == 1) ++said;
    ::close(pipe_ends[0]);

    auto store = Store::Open(path);
    ASSERT_TRUE(store) << store.error().message;
    const auto run = (*store)->LoadRun(id);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->state, RunState::kInterrupted);
    EXPECT_GE(run->events.size(), said);
    EXPECT_LE(run->events.size(), said + 1);  // committed, killed before saying so
    EXPECT_EQ(run->samples.size(), 2 * run->events.size());
  }
}

}  // namespace
}  // namespace lowtide
