#include "base/time.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace lowtide {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::sys_days;

TimePoint At(const char* text) {
  const auto t = ParseTime(text);
  EXPECT_TRUE(t.has_value()) << text;
  return t.value_or(TimePoint{});
}

TEST(ParseTime, ReadsTheUnixEpochAndLater) {
  EXPECT_EQ(UnixMillis(At("1970-01-01T00:00:00Z")), 0);
  EXPECT_EQ(UnixMillis(At("2001-09-09T01:46:40Z")), 1'000'000'000'000);
  EXPECT_EQ(UnixMillis(At("1969-12-31T23:59:59.999Z")), -1);
}

TEST(ParseTime, ReadsFractionsToTheMillisecondAndDropsTheRest) {
  EXPECT_EQ(At("2026-11-30T12:00:00.25Z") - At("2026-11-30T12:00:00Z"), milliseconds(250));
  EXPECT_EQ(At("2026-11-30T12:00:00.123999999Z") - At("2026-11-30T12:00:00Z"), milliseconds(123));
}

TEST(ParseTime, OffsetsAreSubtracted) {
  EXPECT_EQ(At("2021-03-28T03:30:00+02:00"), At("2021-03-28T01:30:00Z"));
  EXPECT_EQ(At("2021-03-27T20:00:00-05:30"), At("2021-03-28T01:30:00Z"));
  EXPECT_EQ(At("2021-03-28T01:30:00-00:00"), At("2021-03-28T01:30:00Z"));
}

TEST(ParseTime, ReadsTheShorterSpellings) {
  EXPECT_EQ(At("2021-07-01T00:00Z"), At("2021-07-01T00:00:00Z"));
  EXPECT_EQ(At("2021-07-01 00:00:00+00:00"), At("2021-07-01T00:00:00Z"));
  EXPECT_EQ(At("2021-07-01t00:00:00z"), At("2021-07-01T00:00:00Z"));
}

TEST(ParseTime, AnOffsetIsRequiredUnlessUtcIsAssumed) {
  EXPECT_FALSE(ParseTime("2021-07-01 00:00:00"));
  EXPECT_EQ(ParseTime("2021-07-01 00:00:00", Offset::kAssumeUtc).value(),
            At("2021-07-01T00:00:00Z"));
  EXPECT_EQ(ParseTime("2021-07-01T02:00:00+02:00", Offset::kAssumeUtc).value(),
            At("2021-07-01T00:00:00Z"));
}

TEST(ParseTime, KnowsLeapYears) {
  EXPECT_EQ(At("2024-03-01T00:00:00Z") - At("2024-02-29T00:00:00Z"), days(1));
  EXPECT_TRUE(ParseTime("2000-02-29T00:00:00Z"));
  EXPECT_FALSE(ParseTime("2023-02-29T00:00:00Z"));
  EXPECT_FALSE(ParseTime("1900-02-29T00:00:00Z"));
}

TEST(ParseTime, RefusesWhatIsNotRfc3339) {
  for (const char* text : {"",
                           "2026",
                           "2026-11-30",
                           "2026-11-30T12",
                           "2026-11-30T12:00:60Z",
                           "2026-11-30T24:00:00Z",
                           "2026-11-30T12:60:00Z",
                           "2026-13-01T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-04-31T00:00:00Z",
                           "2026-11-30T12:00:00.Z",
                           "2026-11-30T12:00:00.1234567890Z",
                           "2026-11-30T12:00:00+1",
                           "2026-11-30T12:00:00+0100",
                           "2026-11-30T12:00:00+24:00",
                           "2026-11-30T12:00:00+01:60",
                           "2026-11-30T12:00:00ZZ",
                           " 2026-11-30T12:00:00Z",
                           "2026-11-30T12:00:00Z ",
                           "2026-1-30T12:00:00Z",
                           "+026-11-30T12:00:00Z",
                           "2026-11-30X12:00:00Z",
                           "26-11-30T12:00:00Z",
                           "2026-11-30T12:00:-1Z",
                           "0000-01-01T00:00:00+23:59",
                           "9999-12-31T23:59:00-00:01"}) {
    const auto t = ParseTime(text);
    ASSERT_FALSE(t) << text;
    EXPECT_EQ(t.error().code, Code::kInvalidArgument);
    EXPECT_NE(t.error().message.find(std::string("'") + text + "'"), std::string::npos);
  }
}

TEST(ParseTime, AnErrorQuotesABoundedPartOfTheText) {
  EXPECT_LT(ParseTime(std::string(100'000, '7')).error().message.size(), 200U);
}

TEST(FormatTime, PrintsMillisecondsOnlyWhenThereAreSome) {
  EXPECT_EQ(FormatTime(At("2026-11-30T12:00:00Z")), "2026-11-30T12:00:00Z");
  EXPECT_EQ(FormatTime(At("2026-11-30T12:00:00.05Z")), "2026-11-30T12:00:00.050Z");
  EXPECT_EQ(FormatTime(At("0001-02-03T04:05:06Z")), "0001-02-03T04:05:06Z");
}

TEST(FormatTime, WhatItPrintsIsReadBack) {
  std::mt19937_64 random(7);  // NOLINT(bugprone-random-generator-seed)
  const std::int64_t first =
      TimePoint(sys_days(std::chrono::year(0) / 1 / 1)).time_since_epoch().count();
  const std::int64_t end =
      TimePoint(sys_days(std::chrono::year(10000) / 1 / 1)).time_since_epoch().count();
  std::uniform_int_distribution<std::int64_t> any(first, end - 1);
  for (int i = 0; i < 20'000; ++i) {
    const TimePoint t = FromUnixMillis(any(random));
    const auto back = ParseTime(FormatTime(t));
    ASSERT_TRUE(back) << FormatTime(t);
    ASSERT_EQ(*back, t);
  }
  EXPECT_TRUE(ParseTime(FormatTime(FromUnixMillis(first))));
  EXPECT_TRUE(ParseTime(FormatTime(FromUnixMillis(end - 1))));
}

TEST(ParseDuration, SumsNumbersWithUnits) {
  EXPECT_EQ(ParseDuration("90s").value(), Seconds(90));
  EXPECT_EQ(ParseDuration("1h30m").value(), Seconds(5400));
  EXPECT_EQ(ParseDuration("1.5h").value(), Seconds(5400));
  EXPECT_EQ(ParseDuration("250ms").value(), Seconds(0.25));
  EXPECT_EQ(ParseDuration("60d").value(), Seconds(60 * 86400.0));
  EXPECT_EQ(ParseDuration("15min").value(), Seconds(900));
  EXPECT_EQ(ParseDuration("0s").value(), Seconds(0));
}

TEST(ParseDuration, RefusesTheRest) {
  for (const char* text : {"", "90", "-5s", "s", "1e5s", "1 h", "1h ", "5 parsecs", "nans", "infs",
                           ".5h", "1h30", "0x10s", "1,5h", "37000d", "1H", "1w", "+1s"}) {
    const auto d = ParseDuration(text);
    ASSERT_FALSE(d) << text;
    EXPECT_EQ(d.error().code, Code::kInvalidArgument);
  }
  EXPECT_FALSE(ParseDuration(std::string(400, '9') + "s"));
}

TEST(FormatDuration, IsForPeople) {
  EXPECT_EQ(FormatDuration(Seconds(0)), "0.00s");
  EXPECT_EQ(FormatDuration(Seconds(0.25)), "0.25s");
  EXPECT_EQ(FormatDuration(Seconds(42.12)), "42.1s");
  EXPECT_EQ(FormatDuration(Seconds(185)), "3m05s");
  EXPECT_EQ(FormatDuration(Seconds(2 * 3600 + 14 * 60)), "2h14m");
  EXPECT_EQ(FormatDuration(Seconds(3 * 86400 + 4 * 3600)), "3d04h");
  EXPECT_EQ(FormatDuration(Seconds(-5)), "-5.00s");
}

TEST(FormatDuration, RoundsIntoTheNextUnitWithoutSixtieths) {
  EXPECT_EQ(FormatDuration(Seconds(9.996)), "10.0s");
  EXPECT_EQ(FormatDuration(Seconds(59.96)), "1m00s");
  EXPECT_EQ(FormatDuration(Seconds(3599.7)), "1h00m");
  EXPECT_EQ(FormatDuration(Seconds(86399)), "1d00h");
}

TEST(Nanoseconds, AreClampedSoThatSumsCannotOverflow) {
  EXPECT_EQ(ToNanoseconds(Seconds(1.5)), milliseconds(1500));
  EXPECT_EQ(ToNanoseconds(Seconds(1e300)), ToNanoseconds(Seconds(4e9)));
  EXPECT_EQ(ToNanoseconds(Seconds(-1e300)), -ToNanoseconds(Seconds(4e9)));
  EXPECT_GT(ToNanoseconds(Seconds(1e300)) + hours(24 * 365 * 100), hours(0));
}

}  // namespace
}  // namespace lowtide
