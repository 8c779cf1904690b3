#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "base/fd.h"

namespace lowtide {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string folder = fs::temp_directory_path() / "lowtide-file-XXXXXX";
    folder_ = ::mkdtemp(folder.data());
  }
  ~FileTest() override {
    std::error_code ignored;
    fs::permissions(folder_, fs::perms::owner_all, ignored);
    fs::remove_all(folder_, ignored);
  }
  FileTest(const FileTest&) = delete;
  FileTest& operator=(const FileTest&) = delete;

  std::size_t Entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(FileTest, WhatIsWrittenIsReadBack) {
  const std::string content("line\n\0binary\xFF", 13);
  ASSERT_TRUE(WriteFileDurably(folder_ / "a", content));
  EXPECT_EQ(ReadFile(folder_ / "a").value(), content);
  ASSERT_TRUE(WriteFileDurably(folder_ / "a", "shorter"));
  EXPECT_EQ(ReadFile(folder_ / "a").value(), "shorter");
  EXPECT_EQ(Entries(), 1U);  // no temporary file is left
}

TEST_F(FileTest, DurableFilesArePrivate) {
  ASSERT_TRUE(WriteFileDurably(folder_ / "a", "x"));
  struct stat info{};
  ASSERT_EQ(::stat((folder_ / "a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(FileTest, AFailedWriteLeavesTheOldContentAndNoTemporary) {
  ASSERT_TRUE(MakeDirectories(folder_ / "a" / "b"));
  const auto written = WriteFileDurably(folder_ / "a", "x");  // a folder is in the way
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("cannot rename"));
  EXPECT_EQ(Entries(), 1U);
}

TEST_F(FileTest, MissingFilesAndFoldersAreNamed) {
  const auto read = ReadFile(folder_ / "none");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kNotFound);
  EXPECT_THAT(read.error().message, HasSubstr("none: No such file"));
  EXPECT_EQ(WriteFileDurably(folder_ / "none" / "x", "").error().code, Code::kNotFound);
  EXPECT_EQ(ReadFile(folder_).error().code, Code::kUnavailable);
}

TEST_F(FileTest, ReadingIsBounded) {
  ASSERT_TRUE(WriteFileDurably(folder_ / "a", "12345"));
  EXPECT_EQ(ReadFile(folder_ / "a", 5).value(), "12345");
  EXPECT_EQ(ReadFile(folder_ / "a", 4).error().code, Code::kResourceExhausted);
  EXPECT_EQ(ReadFile("/dev/zero", 100'000).error().code, Code::kResourceExhausted);
}

TEST_F(FileTest, UnreadableFilesAreAPermissionError) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  ASSERT_TRUE(WriteFileDurably(folder_ / "a", "x"));
  fs::permissions(folder_ / "a", fs::perms::none);
  EXPECT_EQ(ReadFile(folder_ / "a").error().code, Code::kPermissionDenied);
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(WriteFileDurably(folder_ / "b", "x").error().code, Code::kPermissionDenied);
}

TEST_F(FileTest, MakesFoldersAndTheirParentsOnce) {
  EXPECT_TRUE(MakeDirectories(folder_ / "a" / "b" / "c"));
  EXPECT_TRUE(MakeDirectories(folder_ / "a" / "b" / "c" / ""));
  EXPECT_TRUE(fs::is_directory(folder_ / "a" / "b" / "c"));
  struct stat info{};
  ASSERT_EQ(::stat((folder_ / "a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
}

TEST_F(FileTest, AFileInTheWayOfAFolderIsAnError) {
  ASSERT_TRUE(WriteFileDurably(folder_ / "a", "x"));
  EXPECT_FALSE(MakeDirectories(folder_ / "a"));
  const auto made = MakeDirectories(folder_ / "a" / "b");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("cannot make folder"));
}

TEST_F(FileTest, WriteUserFileFollowsALinkAndKeepsTheModeOfTheFile) {
  std::ofstream(folder_ / "real.txt") << "old";
  fs::permissions(folder_ / "real.txt", fs::perms(0640));
  fs::create_symlink("real.txt", folder_ / "link.txt");
  ASSERT_TRUE(WriteUserFile(folder_ / "link.txt", "new"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.txt"));
  EXPECT_EQ(ReadFile(folder_ / "real.txt").value(), "new");
  EXPECT_EQ(fs::status(folder_ / "real.txt").permissions(), fs::perms(0640));
}

TEST_F(FileTest, WriteUserFileANewFileHasTheModeThatTheUmaskSays) {
  const mode_t before = ::umask(027);
  const auto status = WriteUserFile(folder_ / "new.txt", "x");
  ::umask(before);
  ASSERT_TRUE(status);
  EXPECT_EQ(fs::status(folder_ / "new.txt").permissions(), fs::perms(0640));
}

TEST_F(FileTest, WriteUserFileWhatIsNoRegularFileIsWrittenToNotReplaced) {
  const auto path = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const UniqueFd reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(WriteUserFile(path, "through"));
  std::array<char, 16> buffer{};
  EXPECT_EQ(::read(reader.Get(), buffer.data(), buffer.size()), 7);
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST_F(FileTest, CheckUserFileKnowsWhatCannotBeWritten) {
  EXPECT_TRUE(CheckUserFile(folder_ / "new.txt"));
  EXPECT_TRUE(CheckUserFile("/dev/null"));
  EXPECT_FALSE(CheckUserFile(folder_));
  const auto missing = CheckUserFile(folder_ / "missing" / "new.txt");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("missing/new.txt"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST(FailErrno, MapsTheNumberToACode) {
  EXPECT_EQ(FailErrno(ENOENT, "x").error().code, Code::kNotFound);
  EXPECT_EQ(FailErrno(EACCES, "x").error().code, Code::kPermissionDenied);
  EXPECT_EQ(FailErrno(ENOSPC, "x").error().code, Code::kResourceExhausted);
  EXPECT_EQ(FailErrno(EIO, "cannot read y").error().message, "cannot read y: Input/output error");
}

TEST(UniqueFd, ClosesOnceAndMoves) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  UniqueFd reader(fds[0]);
  {
    UniqueFd writer(fds[1]);
    UniqueFd moved(std::move(writer));
    EXPECT_FALSE(writer.Valid());  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
    EXPECT_EQ(moved.Get(), fds[1]);
  }
  char byte = 0;
  EXPECT_EQ(::read(reader.Get(), &byte, 1), 0);  // the writing end is closed
  const int raw = reader.Release();
  EXPECT_FALSE(reader.Valid());
  EXPECT_EQ(::close(raw), 0);
}

}  // namespace
}  // namespace lowtide
