#include "run/codecarbon_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/csv.h"
#include "base/fd.h"
#include "base/file.h"
#include "run/report_codecarbon.h"
#include "run/report_test_data.h"

namespace lowtide {
namespace {

using testing::HasSubstr;

class CodecarbonFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "lowtide-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path Path() const { return folder_ / "emissions.csv"; }

  static CodecarbonRowOf Row(const std::string& id) {
    RunData run = SteeredRun();
    run.record.run_id = id;
    return {id,
            CodecarbonRow(BuildReport(std::move(run), {}), LocalTimeAt(std::chrono::minutes(0)))};
  }

  std::filesystem::path folder_;
  SimulatedClock clock_{TimeOf("2026-11-30T12:00:00Z")};
};

TEST_F(CodecarbonFileTest, MakesTheFileAndAppends) {
  EXPECT_EQ(*AppendCodecarbon(Path(), {Row("01A"), Row("01B")}, clock_), 2U);
  EXPECT_EQ(*AppendCodecarbon(Path(), {Row("01B"), Row("01C")}, clock_), 1U);
  const auto table = ParseCsv(*ReadFile(Path()), "x");
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 3U);
  EXPECT_EQ(table->rows[2].fields[2], "01C");
}

TEST_F(CodecarbonFileTest, AMissingLastNewlineDoesNotSpoilARow) {
  std::string text = CodecarbonHeader() + Row("01A").row;
  text.pop_back();
  std::ofstream(Path()) << text;
  ASSERT_EQ(*AppendCodecarbon(Path(), {Row("01B")}, clock_), 1U);
  EXPECT_EQ(ParseCsv(*ReadFile(Path()), "x")->rows.size(), 2U);
}

TEST_F(CodecarbonFileTest, AnotherHeaderIsRefusedAndTheFileLeftAlone) {
  std::string header = CodecarbonHeader();
  header.replace(header.find("experiment_id,"), 14, "");
  std::ofstream(Path()) << header;
  const auto result = AppendCodecarbon(Path(), {Row("01A")}, clock_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kInvalidArgument);
  EXPECT_THAT(result.error().message, HasSubstr(Path().string()));
  EXPECT_THAT(result.error().message,
              HasSubstr("column 4 is \"duration\", expected \"experiment_id\""));
  EXPECT_EQ(*ReadFile(Path()), header);
}

TEST_F(CodecarbonFileTest, KeepsTheModeAndContentOfAFile) {
  std::ofstream(Path()) << CodecarbonHeader();
  ASSERT_EQ(::chmod(Path().c_str(), 0640), 0);
  ASSERT_TRUE(AppendCodecarbon(Path(), {Row("01A")}, clock_));
  struct stat info{};
  ASSERT_EQ(::stat(Path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0640U);
}

TEST_F(CodecarbonFileTest, ManyWritersLoseNothing) {
  std::vector<pid_t> children;
  for (int p = 0; p < 4; ++p) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      RealClock clock;
      int failures = 0;
      for (int i = 0; i < 5; ++i) {
        const auto added =
            AppendCodecarbon(Path(), {Row("01" + std::to_string(p) + std::to_string(i))}, clock);
        failures += added && *added == 1 ? 0 : 1;
      }
      ::_exit(failures);
    }
    children.push_back(pid);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const auto table = ParseCsv(*ReadFile(Path()), "x");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->rows.size(), 20U);
}

// A clock whose sleeps pass at once.
class ImpatientClock final : public Clock {
 public:
  TimePoint Now() const override { return {}; }
  MonoTime Monotonic() const override { return now_; }
  std::chrono::nanoseconds SuspendedTime() const override { return {}; }
  bool SleepUntil(MonoTime deadline, std::stop_token) override {
    now_ = deadline;
    return true;
  }

 private:
  MonoTime now_;
};

TEST_F(CodecarbonFileTest, WaitsForTheLockOnlySoLong) {
  std::ofstream(Path()) << CodecarbonHeader();
  const UniqueFd holder(::open(Path().c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(holder.Get(), LOCK_EX), 0);
  ImpatientClock clock;
  const auto result = AppendCodecarbon(Path(), {Row("01A")}, clock);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kDeadlineExceeded);
}

// The limit on the size of files stands in for a full disk.
TEST_F(CodecarbonFileTest, AFullDiskLeavesTheFileAsItWas) {
  ASSERT_TRUE(AppendCodecarbon(Path(), {Row("01A")}, clock_));
  const std::string before = *ReadFile(Path());
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{before.size() + 100, before.size() + 100};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(1);
    RealClock clock;
    ::_exit(AppendCodecarbon(Path(), {Row("01B")}, clock) ? 2 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*ReadFile(Path()), before);
}

TEST_F(CodecarbonFileTest, ADeviceIsNotAFile) {
  const int full = ::open("/dev/full", O_RDWR);
  if (full < 0) GTEST_SKIP() << "no /dev/full here";
  ::close(full);
  const auto result = AppendCodecarbon("/dev/full", {Row("01A")}, clock_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kInvalidArgument);  // not a regular file
}

}  // namespace
}  // namespace lowtide
