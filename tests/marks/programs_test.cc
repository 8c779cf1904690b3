// Programs as users start them, against the real server: `lowtide mark`, the Python package, the
// examples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <memory>
#include <string>

#include "marks_host.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Ended {
  int exit_code = -1;
  std::string output;  // both streams
};

// The repository's root is the working directory of the tests.
Ended RunShell(const std::string& command) {
  Ended ended;
  std::FILE* const pipe = ::popen(("( " + command + " ) 2>&1").c_str(), "r");
  if (pipe == nullptr) return ended;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    ended.output.append(buffer, n);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  return ended;
}

Ended RunInside(const MarksHost& host, const std::string& command) {
  return RunShell("export LOWTIDE_SOCKET='" + host.Path() + "' PYTHONPATH=python; " + command);
}

Ended MarkInside(const MarksHost& host, const std::string& arguments) {
  return RunInside(host, std::string("'") + LOWTIDE_PROGRAM + "' mark " + arguments);
}

TEST(MarkVerb, SendsEachMarkOverItsOwnConnection) {
  MarksHost host;
  for (const char* arguments :
       {"total-epochs 12", "batch-size 128", "epoch-begin 3 --total 12", "step", "step --count 20",
        "metrics loss=1e-3 a=b=2", "epoch-end 3 loss=0.12 accuracy=0.9 ratio=nan"}) {
    const auto ended = MarkInside(host, arguments);
    EXPECT_EQ(ended.exit_code, 0) << arguments;
    EXPECT_EQ(ended.output, "") << arguments;
  }
  EXPECT_THAT(
      Brief(host.Counted()),
      ElementsAre("total_epochs 12", "batch_size 128", "epoch_begin 3/12", "step 1", "step 20",
                  "metrics a=b=2 loss=0.001", "epoch_end 3 accuracy=0.9 loss=0.12 ratio=null"));
  EXPECT_EQ(host.Hellos().size(), 7U);
  EXPECT_EQ(host.Hellos()[0].second.client, "lowtide-mark/0.1.0");
}

TEST(MarkVerb, ARefusalExitsWithItsText) {
  MarksHost host;
  const auto ended = MarkInside(host, "epoch-end 3");
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.output, HasSubstr("epoch_end for epoch 3, but no epoch is running"));
  const auto json = MarkInside(host, "epoch-end 3 --json 2>/dev/null");
  EXPECT_EQ(json.output,
            "{\"outcome\":\"refused\",\"error\":\"epoch_end for epoch 3, but no epoch is "
            "running\"}\n");
}

TEST(MarkVerb, SleepsTheDelayAndSaysIt) {
  MarksHost host;
  host.SetDelay(Seconds(0.01));
  EXPECT_EQ(MarkInside(host, "step --json").output, "{\"outcome\":\"ok\",\"delay_s\":0.01}\n");
}

TEST(MarkVerb, OutsideARunItDoesNothing) {
  const std::string mark = std::string("unset LOWTIDE_SOCKET; '") + LOWTIDE_PROGRAM + "' mark ";
  const auto ended = RunShell(mark + "epoch-end 3");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.output, "");
  EXPECT_EQ(RunShell(mark + "step --json").output, "{\"outcome\":\"outside_a_run\"}\n");
}

TEST(MarkVerb, AfterTheEndOfTheRunItIsNoError) {
  auto host = std::make_unique<MarksHost>();
  const std::string path = host->Path();
  host.reset();
  const auto ended =
      RunShell("LOWTIDE_SOCKET='" + path + "' '" + LOWTIDE_PROGRAM + "' mark step --json");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.output, "{\"outcome\":\"lost\"}\n");
}

TEST(MarkVerb, RefusesBadArguments) {
  MarksHost host;
  for (const char* arguments :
       {"", "nonsense", "epoch-begin", "epoch-begin -1", "epoch-begin 0 --total 0",
        "step --count 0", "step --count 2000000000", "metrics", "metrics loss", "metrics =1",
        "metrics loss=x", "metrics loss=1 loss=2", "total-epochs 0", "batch-size 1.5"}) {
    const auto ended = MarkInside(host, arguments);
    EXPECT_EQ(ended.exit_code, 2) << arguments;
    EXPECT_NE(ended.output, "") << arguments;
  }
  EXPECT_TRUE(host.Counted().empty());
  EXPECT_THAT(MarkInside(host, "metrics loss=x").output, HasSubstr("'x' is not a number"));
}

TEST(PythonClient, SpeaksWithTheRealServer) {
  MarksHost host;
  const auto ended = RunInside(host, std::string("LOCAL_RANK=0 RANK=8 '") + PYTHON + R"(' -c '
import lowtide
size = lowtide.batch_size(64)
for epoch in lowtide.epochs(range(3)):
    lowtide.step(2)
    lowtide.log({"val/loss": 0.1, "\u00e9\"\\": float("nan")}, accuracy=epoch)
    if epoch == 1:
        break
lowtide.epoch_end(7)
assert lowtide.active()
')");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.output, "");
  EXPECT_THAT(
      Brief(host.Counted()),
      ElementsAre("batch_size 64", "epoch_begin 0/3", "step 2",
                  "metrics accuracy=0 val/loss=0.1 é\"\\=null", "epoch_end 0", "epoch_begin 1/3",
                  "step 2", "metrics accuracy=1 val/loss=0.1 é\"\\=null", "epoch_end 1"));
  EXPECT_THAT(host.Refusals(), ElementsAre("epoch_end for epoch 7, but no epoch is running"));
  ASSERT_EQ(host.Hellos().size(), 1U);
  EXPECT_EQ(host.Hellos()[0].second.rank, 8);
}

TEST(PythonClient, OnlyTheFirstLocalRankCounts) {
  MarksHost host;
  const std::string train = std::string("'") + PYTHON +
                            "' -c 'import lowtide\nfor e in lowtide.epochs(1): lowtide.step()'";
  EXPECT_EQ(RunInside(host, "LOCAL_RANK=1 " + train + "; LOCAL_RANK=0 " + train).exit_code, 0);
  EXPECT_THAT(Brief(host.Counted()), ElementsAre("epoch_begin 0/1", "step 1", "epoch_end 0"));
  EXPECT_EQ(host.Hellos().size(), 2U);
}

TEST(Examples, ShellTrainingMarks) {
  MarksHost host;
  const auto ended = RunInside(
      host, std::string("LOWTIDE='") + LOWTIDE_PROGRAM + "' sh examples/shell_training.sh 2");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.output, HasSubstr("epoch 1: y = 1."));
  const auto marks = Brief(host.Counted());
  ASSERT_EQ(marks.size(), 7U);
  EXPECT_EQ(marks[0], "batch_size 200");
  EXPECT_EQ(marks[1], "epoch_begin 0/2");
  EXPECT_EQ(marks[2], "step 40");
  EXPECT_THAT(marks[3], HasSubstr("epoch_end 0 a=1."));
  EXPECT_TRUE(host.Refusals().empty());
  const auto without = RunShell("LOWTIDE=/nowhere/lowtide sh examples/shell_training.sh 1");
  EXPECT_EQ(without.exit_code, 0);
}

TEST(Examples, TrainLoopLearnsAndMarks) {
  MarksHost host;
  const auto ended = RunInside(host, std::string("'") + TRAIN_LOOP + "' 3");
  EXPECT_EQ(ended.exit_code, 0);
  const auto counted = host.Counted();
  ASSERT_EQ(counted.size(), 1U + 3U * (64U + 3U));
  EXPECT_EQ(Brief(counted[0]), "batch_size 32");
  EXPECT_EQ(Brief(counted[1]), "epoch_begin 0/3");
  const auto& last = std::get<MetricsMark>(counted[counted.size() - 2]).metrics;
  EXPECT_GT(*last.at("accuracy"), 0.9);
  EXPECT_TRUE(host.Refusals().empty());
}

}  // namespace
}  // namespace lowtide
