#include "option_checks.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>

namespace lowtide::cli {
namespace {

TEST(OptionChecks, NumbersSayValueRangeAndUnit) {
  const OptionCheck check = NumberFrom(0.5, 2000, "W");
  EXPECT_EQ(check.problem("0.5"), "");
  EXPECT_EQ(check.problem("2e3"), "");
  EXPECT_EQ(check.problem("0"), "'0' is not allowed; give a number from 0.5 to 2000 W");
  EXPECT_EQ(check.problem("2000.1"), "'2000.1' is not allowed; give a number from 0.5 to 2000 W");
  EXPECT_EQ(check.problem("abc"), "'abc' is not a number; give a number from 0.5 to 2000 W");
  for (const char* bad : {"", "nan", "inf", "1e999", "0x10", "5 ", "5W"}) {
    EXPECT_NE(check.problem(bad).find("not a number"), std::string::npos) << bad;
  }
  EXPECT_EQ(check.allowed, "0.5 to 2000 W");
}

TEST(OptionChecks, WholeNumbersAreWhole) {
  const OptionCheck check = WholeNumberFrom(1, 1'000'000);
  EXPECT_EQ(check.problem("1"), "");
  EXPECT_EQ(check.problem("1000000"), "");
  EXPECT_EQ(check.problem("9999999999999999999"),
            "'9999999999999999999' is not allowed; give a whole number from 1 to 1000000");
  EXPECT_EQ(check.problem("1.5"), "'1.5' is not allowed; give a whole number from 1 to 1000000");
  EXPECT_EQ(check.problem("abc"), "'abc' is not a number; give a whole number from 1 to 1000000");
  EXPECT_NE(check.problem("0"), "");
  EXPECT_NE(check.problem("-1"), "");
  EXPECT_NE(check.problem(""), "");
}

TEST(OptionChecks, DurationsHaveBounds) {
  const OptionCheck check = DurationFrom("10ms", "1s");
  EXPECT_EQ(check.problem("10ms"), "");
  EXPECT_EQ(check.problem("1s"), "");
  EXPECT_EQ(check.problem("5s"), "'5s' is not allowed; give 10ms to 1s");
  EXPECT_NE(check.problem("5").find("is not a duration"), std::string::npos);
  EXPECT_EQ(AnyDuration().problem("0s"), "");
  EXPECT_EQ(PeriodText("1s").problem("epoch"), "");
  EXPECT_EQ(PeriodText("1s").problem("30m"), "");
  EXPECT_EQ(PeriodText("1s").problem("100ms"), "'100ms' is not allowed; give 1s to 3660d");
}

TEST(OptionChecks, WordsAreListedAndTheNearOneSuggested) {
  const OptionCheck check = OneOf({"json", "codecarbon"});
  EXPECT_EQ(check.problem("json"), "");
  EXPECT_EQ(check.problem("jsn"),
            "'jsn' is not allowed; did you mean json? give one of json, codecarbon");
  EXPECT_EQ(check.problem("csv"), "'csv' is not allowed; give one of json, codecarbon");
  EXPECT_EQ(check.problem(std::string(500, 'x')).size(),
            std::string("'' is not allowed; give one of json, codecarbon").size() + 67);
}

TEST(OptionChecks, PoliciesAndTheLikeByTheirOwnParsers) {
  EXPECT_EQ(PolicyText().problem("fixed:200"), "");
  EXPECT_NE(PolicyText().problem("zues").find("did you mean zeus?"), std::string::npos);
  EXPECT_EQ(SelectorText().problem("max-slowdown:1.2"), "");
  EXPECT_NE(SelectorText().problem("fast"), "");
  EXPECT_EQ(MaxCarbonIntensityText().problem("dynamic:60d"), "");
  EXPECT_NE(MaxCarbonIntensityText().problem("0"), "");
  EXPECT_EQ(AnyTime().problem("2022-07-01T06:00Z"), "");
  EXPECT_NE(AnyTime().problem("yesterday"), "");
}

TEST(OptionChecks, StandWhereCli11TakesOneOfItsOwn) {
  CLI::App app;
  double eta = 0;
  app.add_option("--eta", eta)->check(NumberFrom(0, 1));
  try {
    app.parse("--eta 2");
    FAIL() << "accepted";
  } catch (const CLI::ValidationError& e) {
    EXPECT_STREQ(e.what(), "--eta: '2' is not allowed; give a number from 0 to 1");
  }
  EXPECT_NE(app.help().find("0 to 1"), std::string::npos);
}

TEST(OptionChecks, OutputFilesThatCannotBeWrittenAreWrongUsage) {
  EXPECT_TRUE(CheckOutputFile("--html", ""));
  const auto status = CheckOutputFile("--html", "/nonexistent/folder/x.html");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kInvalidArgument);
  EXPECT_EQ(status.error().message.find("--html: cannot write /nonexistent"), 0U);
  EXPECT_FALSE(CheckOutputFile("--html", std::filesystem::temp_directory_path().string()));
}

}  // namespace
}  // namespace lowtide::cli
