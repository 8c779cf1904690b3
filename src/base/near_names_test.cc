#include "base/near_names.h"

#include <gtest/gtest.h>

namespace lowtide {
namespace {

const std::vector<std::string> kVerbs = {"run", "runs", "plan", "zones", "config", "intensity"};

TEST(EditDistance, CountsChangesAndSwaps) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("abc", ""), 3U);
  EXPECT_EQ(EditDistance("zones", "zones"), 0U);
  EXPECT_EQ(EditDistance("zone", "zones"), 1U);
  EXPECT_EQ(EditDistance("rnu", "run"), 1U);
  EXPECT_EQ(EditDistance("ca", "abc"), 3U);  // restricted: what was swapped stays
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
}

TEST(NearNames, FindsSpellingsNearestFirst) {
  EXPECT_EQ(NearNames("rnu", kVerbs), (std::vector<std::string>{"run"}));
  EXPECT_EQ(NearNames("pln", kVerbs), (std::vector<std::string>{"plan"}));
  EXPECT_EQ(NearNames("CONFG", kVerbs), (std::vector<std::string>{"config"}));
  EXPECT_EQ(NearNames("un", kVerbs), (std::vector<std::string>{"run", "runs"}));
  EXPECT_EQ(NearNames("runns", kVerbs), (std::vector<std::string>{"runs", "run"}));
}

TEST(NearNames, LeavesOutWhatIsFarOff) {
  EXPECT_TRUE(NearNames("", kVerbs).empty());
  EXPECT_TRUE(NearNames("x", kVerbs).empty());
  EXPECT_TRUE(NearNames("xn", std::vector<std::string>{"in", "on"}).empty());
  EXPECT_TRUE(NearNames("train", kVerbs).empty());
  EXPECT_TRUE(NearNames("intenxyz", kVerbs).empty());
  EXPECT_TRUE(NearNames(std::string(1'000'000, 'r'), kVerbs).empty());
  EXPECT_TRUE(NearNames("run", {}).empty());
}

TEST(NearNames, NamesSixAtMost) {
  const std::vector<std::string> many(10, "zone");
  EXPECT_EQ(NearNames("zone", many).size(), 6U);
}

TEST(DidYouMean, ReadsAsAQuestion) {
  EXPECT_EQ(DidYouMean("rnu", kVerbs), "did you mean run?");
  EXPECT_EQ(DidYouMean("runns", kVerbs), "did you mean runs or run?");
  EXPECT_EQ(DidYouMean("xyzzy", kVerbs), "");
  const std::vector<std::string> three = {"aab", "abb", "abc"};
  EXPECT_EQ(DidYouMean("ab", three), "did you mean aab, abb or abc?");
}

}  // namespace
}  // namespace lowtide
