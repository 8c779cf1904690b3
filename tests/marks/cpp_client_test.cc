#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <clocale>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "lowtide/marks.h"
#include "marks_host.h"

namespace lowtide {
namespace {

using marks::Client;
using marks::Outcome;
using ::testing::ElementsAre;
using namespace std::chrono_literals;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

marks::Options OptionsFor(const std::string& socket) {
  marks::Options options;
  options.socket = socket;
  return options;
}

double SecondsOf(const std::function<void()>& work) {
  const auto started = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

TEST(CppClient, MarksATrainingLoop) {
  MarksHost host;
  Client client(OptionsFor(host.Path()));
  EXPECT_TRUE(client.Active());
  client.TotalEpochs(2);
  client.BatchSize(128);
  for (int epoch = 0; epoch < 2; ++epoch) {
    const marks::Epoch turn(client, epoch, 2);
    client.Step();
    client.Step(3);
    client.Log({{"loss", 0.1}, {"diverged", kNan}, {"tiny", 5e-324}});
  }
  client.EpochBegin(2);
  client.EpochEnd(2, {{"val/\"accuracy\"", 0.97}});
  EXPECT_THAT(
      Brief(host.Counted()),
      ElementsAre("total_epochs 2", "batch_size 128", "epoch_begin 0/2", "step 1", "step 3",
                  "metrics diverged=null loss=0.1 tiny=5e-324", "epoch_end 0", "epoch_begin 1/2",
                  "step 1", "step 3", "metrics diverged=null loss=0.1 tiny=5e-324", "epoch_end 1",
                  "epoch_begin 2", "epoch_end 2 val/\"accuracy\"=0.97"));
  ASSERT_EQ(host.Hellos().size(), 1U);
  const auto hello = host.Hellos()[0].second;
  EXPECT_EQ(hello.client, "c++/0.1.0");
  EXPECT_EQ(hello.pid, ::getpid());
  EXPECT_EQ(hello.local_rank, std::nullopt);
}

TEST(CppClient, AnEpochEndsWhenAnExceptionLeavesIt) {
  MarksHost host;
  Client client(OptionsFor(host.Path()));
  EXPECT_THROW(
      {
        const marks::Epoch turn(client, 0);
        throw std::runtime_error("theirs");
      },
      std::runtime_error);
  EXPECT_THAT(Brief(host.Counted()), ElementsAre("epoch_begin 0", "epoch_end 0"));
}

TEST(CppClient, SaysWhatWasRefusedAndGoesOn) {
  MarksHost host;
  Client client(OptionsFor(host.Path()));
  const auto refused = client.EpochEnd(3);
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_EQ(refused.error, "epoch_end for epoch 3, but no epoch is running");
  EXPECT_EQ(client.Step(0).error, "step: count must be an integer from 1 to 1000000000, not 0");
  EXPECT_EQ(client.Step().outcome, Outcome::kOk);
  EXPECT_TRUE(client.Active());
}

TEST(CppClient, LeavesOutMetricsThatTheProtocolRefuses) {
  MarksHost host;
  Client client(OptionsFor(host.Path()));
  client.EpochBegin(0);
  EXPECT_EQ(client
                .Log({{"", 1},
                      {"a\nb", 1},
                      {"\xff", 1},
                      {"\xed\xa0\x80", 1},
                      {std::string(129, 'n'), 1},
                      {"same", 1},
                      {"same", 2},
                      {"é", std::numeric_limits<double>::infinity()}})
                .outcome,
            Outcome::kOk);
  EXPECT_EQ(Brief(host.Counted().back()), "metrics same=1 é=null");

  marks::Metrics many;
  many.reserve(1000);
  for (int i = 0; i < 1000; ++i) many.emplace_back(std::string(120, '"') + std::to_string(i), 0.1);
  EXPECT_EQ(client.Log(many).outcome, Outcome::kOk);
  const auto counted = host.Counted();
  const auto sent = std::get<MetricsMark>(counted.back()).metrics.size();
  EXPECT_GT(sent, 200U);
  EXPECT_LE(sent, 256U);
}

TEST(CppClient, SaysOnceWhichMetricsAreMissing) {
  MarksHost host;
  marks::Options options = OptionsFor(host.Path());
  options.debug = true;
  Client client(std::move(options));
  client.EpochBegin(0);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) client.Log({{"loss", 0.1}, {"", 1}, {"diverged", kNan}});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2) << said;
  EXPECT_NE(said.find("metrics: metrics are left out"), std::string::npos) << said;
  EXPECT_NE(said.find("not finite"), std::string::npos) << said;
}

TEST(CppClient, SleepsTheDelay) {
  MarksHost host;
  host.SetDelay(Seconds(0.05));
  Client client(OptionsFor(host.Path()));
  double delay = 0;
  EXPECT_GE(SecondsOf([&] { delay = client.Step().delay_s; }), 0.05);
  EXPECT_DOUBLE_EQ(delay, 0.05);
}

TEST(CppClient, OutsideARunNothingHappens) {
  Client client(marks::Options{});
  EXPECT_FALSE(client.Active());
  EXPECT_EQ(client.Step().outcome, Outcome::kInactive);
}

TEST(CppClient, NobodyListens) {
  Client client(OptionsFor("/tmp/lowtide-nobody.sock"));
  EXPECT_LT(SecondsOf([&] {
              EXPECT_EQ(client.Step().outcome, Outcome::kLost);
              EXPECT_EQ(client.Step().outcome, Outcome::kInactive);
            }),
            0.5);
  EXPECT_FALSE(client.Active());
  Client nowhere(OptionsFor("/" + std::string(500, 'x')));
  EXPECT_EQ(nowhere.Step().outcome, Outcome::kLost);
}

TEST(CppClient, AStuckRunCostsTheBudgetOnce) {
  EXPECT_EQ(marks::Options{}.budget, 2s);
  MarksHost host;
  auto options = OptionsFor(host.Path());
  options.budget = 200ms;
  Client client(options);
  EXPECT_EQ(client.Step().outcome, Outcome::kOk);
  host.SetStuck(true);
  const double seconds = SecondsOf([&] {
    for (int i = 0; i < 100; ++i) client.Step();
  });
  EXPECT_GT(seconds, 0.15);
  EXPECT_LT(seconds, 1.0);
  EXPECT_FALSE(client.Active());
}

TEST(CppClient, TheEndOfTheRunRaisesNoSignal) {
  ASSERT_NE(std::signal(SIGPIPE, SIG_DFL), SIG_ERR);
  auto host = std::make_unique<MarksHost>();
  Client client(OptionsFor(host->Path()));
  EXPECT_EQ(client.Step().outcome, Outcome::kOk);
  host.reset();
  EXPECT_EQ(client.Step().outcome, Outcome::kLost);
  EXPECT_EQ(client.Step().outcome, Outcome::kInactive);
}

TEST(CppClient, ThreadsShareOneConnection) {
  MarksHost host;
  Client client(OptionsFor(host.Path()));
  {
    std::vector<std::jthread> threads;
    threads.reserve(8);
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&client] {
        for (int i = 0; i < 50; ++i) client.Step();
      });
    }
  }
  EXPECT_EQ(host.Counted().size(), 400U);
  EXPECT_EQ(host.Hellos().size(), 1U);
}

TEST(CppClient, AForkedChildUsesItsOwnConnection) {
  MarksHost host;
  Client client(OptionsFor(host.Path()));
  client.Step(1);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(client.Step(7).outcome == Outcome::kOk ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(client.Step(2).outcome, Outcome::kOk);
  EXPECT_THAT(Brief(host.Counted()), ElementsAre("step 1", "step 7", "step 2"));
  ASSERT_EQ(host.Hellos().size(), 2U);
  EXPECT_EQ(host.Hellos()[1].second.pid, child);
  EXPECT_NE(host.Hellos()[0].first, host.Hellos()[1].first);
}

TEST(CppClient, AForkWhileTheConnectionIsInUse) {
  MarksHost host;
  auto options = OptionsFor(host.Path());
  options.budget = 1s;
  Client client(options);
  client.Step(1);
  host.SetStuck(true);
  std::thread waiting([&client] { client.Step(99); });
  std::this_thread::sleep_for(50ms);  // now it holds the lock
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);  // kills a child that waits for ever
    ::_exit(client.Step(7).outcome == Outcome::kOk ? 0 : 1);
  }
  host.SetStuck(false);
  waiting.join();
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(CppClientJson, ReadsRepliesOfOtherVersions) {
  const auto parse = marks::json::ParseReply;
  const auto rich = parse(
      R"( {"later":{"delay_s":[1,{"ok":false}],"x":"}"},"ok":true,"pause":true,"delay_s":1.25e-2} )");
  ASSERT_TRUE(rich);
  EXPECT_TRUE(rich->ok);
  EXPECT_DOUBLE_EQ(rich->delay_s, 0.0125);
  const auto refused = parse(R"({"ok":false,"error":"a \"b\"\n\u0041\u00e9"})");
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->ok);
  EXPECT_EQ(refused->error, "a \"b\" A?");
  EXPECT_EQ(parse(R"({"ok":true,"delay_s":"x"})")->delay_s, 0);
  EXPECT_EQ(parse(R"({"ok":true,"delay_s":1e999})")->delay_s, 0);
  EXPECT_EQ(parse(R"({"ok":true,"delay_s":-5})")->delay_s, -5);
  EXPECT_FALSE(parse(R"({"ok":"true"})")->ok);
  for (const char* bad : {"", "[]", "{", "{}", "{\"ok\"}", "{\"ok\":}", "{\"ok\":true", "nonsense",
                          "{\"ok\":true}}", "{\"ok\":true,}", "{\"ok\":true,\"x\":\"\\q\"}",
                          "{\"ok\":true,\"x\":\"\\u12\"}", "{\"ok\":true \"x\":1}"}) {
    EXPECT_FALSE(parse(bad)) << bad;
  }
  EXPECT_FALSE(parse("{\"ok\":true,\"x\":" + std::string(1000, '[')));
}

TEST(CppClientJson, WritesNumbersThatReadBack) {
  for (const double x : {0.0, -0.0, 0.1, 1.0 / 3, 1e300, -5e-324, 123456789.0, 1e22}) {
    EXPECT_EQ(ParseJson(marks::json::FormatNumber(x), "number")->get<double>(), x);
  }
  EXPECT_EQ(marks::json::FormatNumber(0.1), "0.1");
  EXPECT_EQ(marks::json::FormatNumber(kNan), "null");
}

TEST(CppClientJson, DoesNotFollowTheLocale) {
  if (std::setlocale(LC_NUMERIC, "de_DE.UTF-8") == nullptr) GTEST_SKIP() << "no de_DE.UTF-8 here";
  EXPECT_EQ(marks::json::FormatNumber(0.5), "0.5");
  EXPECT_DOUBLE_EQ(marks::json::ParseReply(R"({"ok":true,"delay_s":0.5})")->delay_s, 0.5);
  std::setlocale(LC_NUMERIC, "C");
}

TEST(CppClientOptions, ReadsTheEnvironment) {
  ::setenv("LOWTIDE_SOCKET", "/x", 1);
  ::setenv("SLURM_LOCALID", "1", 1);
  ::setenv("LOCAL_RANK", "2", 1);
  ::setenv("RANK", "-3", 1);
  ::setenv("PMI_RANK", "4", 1);
  const auto options = marks::Options::FromEnvironment();
  for (const char* name : {"LOWTIDE_SOCKET", "SLURM_LOCALID", "LOCAL_RANK", "RANK", "PMI_RANK"}) {
    ::unsetenv(name);
  }
  EXPECT_EQ(options.socket, "/x");
  EXPECT_EQ(options.local_rank, 2);
  EXPECT_EQ(options.rank, 4);
}

}  // namespace
}  // namespace lowtide
