#include "run/mark_rules.h"

#include <gtest/gtest.h>

namespace lowtide {
namespace {

Mark Begin(std::int64_t epoch) { return EpochBeginMark{epoch, std::nullopt}; }
Mark End(std::int64_t epoch) { return EpochEndMark{epoch, {}}; }

Mark Hello(std::optional<std::int64_t> local_rank) {
  HelloMark hello;
  hello.local_rank = local_rank;
  return hello;
}

MarkVerdict Verdict(MarkRules& rules, ConnectionId connection, const Mark& mark) {
  const auto verdict = rules.Judge(connection, mark);
  EXPECT_TRUE(verdict) << verdict.error().message;
  return verdict.value_or(MarkVerdict::kIgnore);
}

std::string ErrorOf(MarkRules& rules, const Mark& mark) {
  const auto verdict = rules.Judge(1, mark);
  return verdict ? "accepted" : verdict.error().message;
}

TEST(MarkRules, FollowsEpochsOverConnections) {
  MarkRules rules;
  EXPECT_EQ(Verdict(rules, 1, Begin(0)), MarkVerdict::kCount);
  EXPECT_EQ(rules.RunningEpoch(), 0);
  rules.Forget(1);
  EXPECT_EQ(Verdict(rules, 2, StepMark{1}), MarkVerdict::kCount);
  EXPECT_EQ(Verdict(rules, 3, End(0)), MarkVerdict::kCount);
  EXPECT_EQ(rules.RunningEpoch(), std::nullopt);
  EXPECT_EQ(Verdict(rules, 3, MetricsMark{}), MarkVerdict::kCount);
}

TEST(MarkRules, RefusesAnEndOutOfOrder) {
  MarkRules rules;
  EXPECT_EQ(ErrorOf(rules, End(3)), "epoch_end for epoch 3, but no epoch is running");
  EXPECT_EQ(ErrorOf(rules, Begin(2)), "accepted");
  EXPECT_EQ(ErrorOf(rules, End(3)), "epoch_end for epoch 3, but epoch 2 is running");
  EXPECT_EQ(rules.RunningEpoch(), 2);
  EXPECT_EQ(ErrorOf(rules, End(2)), "accepted");
  EXPECT_EQ(ErrorOf(rules, End(2)), "epoch_end for epoch 2, but no epoch is running");
}

TEST(MarkRules, RefusesMetricsBeforeAnyEpoch) {
  MarkRules rules;
  EXPECT_EQ(ErrorOf(rules, MetricsMark{}), "metrics, but no epoch has begun");
}

TEST(MarkRules, ARestartedTrainingBeginsAnew) {
  MarkRules rules;
  EXPECT_EQ(Verdict(rules, 1, Begin(5)), MarkVerdict::kCount);
  EXPECT_EQ(Verdict(rules, 2, Begin(5)), MarkVerdict::kIgnore);
  EXPECT_EQ(Verdict(rules, 2, Begin(4)), MarkVerdict::kCount);
  EXPECT_EQ(rules.RunningEpoch(), 4);
}

TEST(MarkRules, OnlyTheFirstProcessOfANodeCounts) {
  MarkRules rules;
  EXPECT_EQ(Verdict(rules, 1, Hello(0)), MarkVerdict::kCount);
  EXPECT_EQ(Verdict(rules, 2, Hello(1)), MarkVerdict::kCount);
  EXPECT_EQ(Verdict(rules, 3, Hello(std::nullopt)), MarkVerdict::kCount);
  EXPECT_EQ(Verdict(rules, 1, Begin(0)), MarkVerdict::kCount);
  EXPECT_EQ(Verdict(rules, 2, Begin(0)), MarkVerdict::kIgnore);
  EXPECT_EQ(Verdict(rules, 2, StepMark{7}), MarkVerdict::kIgnore);
  EXPECT_EQ(Verdict(rules, 1, End(0)), MarkVerdict::kCount);
  EXPECT_EQ(Verdict(rules, 2, End(0)), MarkVerdict::kIgnore);
  EXPECT_EQ(Verdict(rules, 3, StepMark{7}), MarkVerdict::kCount);
  rules.Forget(2);
  EXPECT_EQ(Verdict(rules, 2, StepMark{7}), MarkVerdict::kCount);
}

}  // namespace
}  // namespace lowtide
