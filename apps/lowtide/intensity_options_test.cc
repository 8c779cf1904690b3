#include "intensity_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "grid/make_source.h"

namespace lowtide::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Result<std::unique_ptr<Source>> FromArguments(std::vector<std::string> arguments) {
  CLI::App app;
  IntensityFlags flags;
  AddIntensityOptions(app, flags);
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ValidationError& e) {
    return Fail(Code::kInvalidArgument, e.what());
  }
  SimulatedClock clock(*ParseTime("2026-12-01T06:10:00Z"));
  LOWTIDE_TRY(GridAccess access, OpenGrid(flags, clock));
  return std::move(access.fixed);
}

std::string ErrorOf(std::vector<std::string> arguments, Code code = Code::kInvalidArgument) {
  const auto source = FromArguments(std::move(arguments));
  EXPECT_FALSE(source);
  if (source) return "";
  EXPECT_EQ(source.error().code, code);
  return source.error().message;
}

TEST(IntensityOptionsTest, NothingGivenIsNoIntensity) {
  const auto source = FromArguments({});
  ASSERT_TRUE(source);
  EXPECT_TRUE(WhyNoIntensity(**source));
}

TEST(IntensityOptionsTest, EachOptionMakesItsSource) {
  EXPECT_EQ((*FromArguments({"--intensity", "412.5"}))->Origin().source, "constant:412.5");
  EXPECT_EQ((*FromArguments({"--intensity=0"}))->Origin().source, "constant:0");
  EXPECT_EQ((*FromArguments({"--trace", "data/traces/CISO.csv:ci_direct"}))->Origin().source,
            "trace:CISO.csv:ci_direct");
  EXPECT_EQ((*FromArguments({"--zone", "SE"}))->Origin().source,
            "yearly:SWE:2023 (Our World in Data / Ember)");
}

TEST(IntensityOptionsTest, TheLastOfARepeatedOptionCounts) {
  const auto source = FromArguments({"--intensity", "100", "--intensity", "200"});
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->Origin().source, "constant:200");
}

TEST(IntensityOptionsTest, ErrorsNameOptionValueAndWhatIsAllowed) {
  for (const char* bad : {"-1", "nan", "inf", "5001", "4OO", "400g"}) {
    EXPECT_THAT(ErrorOf({std::string("--intensity=") + bad}),
                AllOf(HasSubstr("--intensity"), HasSubstr(bad), HasSubstr("5000")));
  }
  EXPECT_THAT(ErrorOf({"--zone", "D/E"}), AllOf(HasSubstr("--zone"), HasSubstr("D/E")));
  EXPECT_THAT(ErrorOf({"--zone", "XX"}, Code::kNotFound),
              AllOf(HasSubstr("--zone"), HasSubstr("'XX'"), HasSubstr("lowtide zones")));
  EXPECT_THAT(ErrorOf({"--trace", "none.csv"}, Code::kNotFound),
              AllOf(HasSubstr("--trace"), HasSubstr("none.csv")));
  EXPECT_THAT(ErrorOf({"--trace", "a.csv:"}), AllOf(HasSubstr("--trace"), HasSubstr("a.csv:")));
}

TEST(IntensityOptionsTest, AConstantAndATraceExcludeEachOther) {
  EXPECT_THROW(FromArguments({"--trace", "a.csv", "--intensity", "1"}), CLI::ExcludesError);
  EXPECT_THROW(FromArguments({"--intensity", "1", "--trace", "a.csv"}), CLI::ExcludesError);
}

}  // namespace
}  // namespace lowtide::cli
