#include "base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace lowtide {
namespace {

class LogTest : public testing::Test {
 protected:
  void TearDown() override { ConfigureLog(LogLevel::kWarning, LogFormat::kText); }

  template <class F>
  static std::string Captured(const F& body) {
    testing::internal::CaptureStderr();
    body();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(LogTest, WarningsAndErrorsShowByDefault) {
  EXPECT_EQ(Captured([] {
              LogDebug("a");
              LogInfo("b");
              LogWarning("c");
              LogError("d");
            }),
            "lowtide: warning: c\nlowtide: error: d\n");
}

TEST_F(LogTest, OffIsSilentAndDebugShowsAll) {
  ConfigureLog(LogLevel::kOff, LogFormat::kText);
  EXPECT_EQ(Captured([] { LogError("x"); }), "");
  ConfigureLog(LogLevel::kDebug, LogFormat::kText);
  EXPECT_EQ(Captured([] { LogDebug("x"); }), "lowtide: debug: x\n");
}

TEST_F(LogTest, AMessageIsOneLineWithoutControlCharacters) {
  EXPECT_EQ(Captured([] { LogWarning("a\nb\x1b[31mc"); }), "lowtide: warning: a b?[31mc\n");
}

TEST_F(LogTest, JsonLinesHaveTimeLevelAndMessage) {
  ConfigureLog(LogLevel::kInfo, LogFormat::kJson);
  const std::string line = Captured([] { LogInfo("say \"x\"\n\xFF"); });
  const auto object = ParseJson(line, "log").value();
  EXPECT_TRUE(ParseTime(JsonString(object, "ts").value()));
  EXPECT_EQ(JsonString(object, "level"), "info");
  EXPECT_EQ(JsonString(object, "msg"), "say \"x\"\n\xEF\xBF\xBD");
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST_F(LogTest, LinesOfSeveralThreadsStayWhole) {
  const std::string out = Captured([] {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 100; ++i) LogWarning("0123456789");
      });
    }
  });
  std::string expected;
  for (int i = 0; i < 400; ++i) expected += "lowtide: warning: 0123456789\n";
  EXPECT_EQ(out, expected);
}

TEST(ParseLogLevel, KnowsFiveNames) {
  EXPECT_EQ(ParseLogLevel("debug").value(), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("off").value(), LogLevel::kOff);
  const auto bad = ParseLogLevel("loud");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "log level 'loud'; allowed are debug, info, warning, error, off");
}

// Standard error is `fd` while `body` runs.
template <class F>
void WithStandardError(int fd, const F& body) {
  const int kept = ::dup(STDERR_FILENO);
  ::dup2(fd, STDERR_FILENO);
  body();
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
}

TEST_F(LogTest, AReaderThatHasStoppedReadingHoldsNobodyUp) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string much(1U << 20U, 'x');  // more than a pipe holds
  const auto begun = std::chrono::steady_clock::now();
  WithStandardError(ends[1], [&] { WriteToStandardError(much, WhenBlocked::kDrop); });
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(LogTest, LongTextIsWrittenWhole) {
  const std::string text(20000, 'y');
  EXPECT_EQ(Captured([&] { WriteToStandardError(text); }), text);
}

TEST_F(LogTest, AFullDeviceIsNoError) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  WithStandardError(full, [] { WriteToStandardError("nobody sees this\n"); });
  ::close(full);
}

}  // namespace
}  // namespace lowtide
