#include "grid/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"

namespace lowtide {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

TimePoint At(std::string_view text) { return *ParseTime(text); }

Result<IntensitySeries> Parse(std::string_view text, std::string_view column = "",
                              std::string_view zone = "") {
  return ParseTrace(text, "t.csv", column, Zone{std::string(zone)});
}

std::string ErrorOf(std::string_view text, std::string_view column = "",
                    std::string_view zone = "") {
  const auto series = Parse(text, column, zone);
  EXPECT_FALSE(series) << text;
  return series ? "" : series.error().message;
}

// "HH:MM-HH:MM=value" of each slot.
std::vector<std::string> Slots(const IntensitySeries& series) {
  std::vector<std::string> out;
  for (const auto& slot : series.slots) {
    const std::string value = std::to_string(static_cast<int>(slot.value.v));
    out.push_back(FormatTime(slot.from).substr(11, 5) + "-" + FormatTime(slot.to).substr(11, 5) +
                  "=" + value);
  }
  return out;
}

using Strings = std::vector<std::string>;

TEST(SplitTraceArgumentTest, SplitsAtTheLastColonOfTheFileName) {
  EXPECT_EQ(SplitTraceArgument("a.csv")->path, "a.csv");
  EXPECT_EQ(SplitTraceArgument("a.csv")->column, "");
  EXPECT_EQ(SplitTraceArgument("d/a.csv:ci_direct")->path, "d/a.csv");
  EXPECT_EQ(SplitTraceArgument("d/a.csv:ci_direct")->column, "ci_direct");
  EXPECT_EQ(SplitTraceArgument("12:30/a.csv")->path, "12:30/a.csv");
  EXPECT_EQ(SplitTraceArgument("a:b.csv:DE")->path, "a:b.csv");
  EXPECT_EQ(SplitTraceArgument("a:b.csv:DE")->column, "DE");
}

TEST(SplitTraceArgumentTest, RefusesEmptyParts) {
  for (const char* bad : {"", ":", ":DE", "a.csv:"}) {
    const auto split = SplitTraceArgument(bad);
    ASSERT_FALSE(split) << bad;
    EXPECT_EQ(split.error().code, Code::kInvalidArgument);
  }
}

TEST(ParseTraceTest, ARowHoldsUntilTheNextAndTheLastAsLongAsTheOneBefore) {
  const auto series = Parse("t,v\n2022-01-01T00:00Z,1\n2022-01-01T01:00Z,2\n2022-01-01T02:00Z,3\n");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(Slots(*series), (Strings{"00:00-01:00=1", "01:00-02:00=2", "02:00-03:00=3"}));
}

TEST(ParseTraceTest, AcceptsTheTimeFormsOfPublishedTraces) {
  for (const char* time :
       {"2021-07-01 00:00:00", "2021-07-01T00:00Z", "2021-07-01 00:00:00+00:00",
        "2021-07-01T02:00:00+02:00", "2021-07-01 00:00", " 2021-07-01T00:00:00.000Z "}) {
    const auto series = Parse("t,v\n" + std::string(time) + ",5\n2021-07-01 00:30:00,6\n");
    ASSERT_TRUE(series) << series.error().message;
    EXPECT_EQ(series->slots[0].from, At("2021-07-01T00:00:00Z")) << time;
  }
}

TEST(ParseTraceTest, AByteOrderMarkCrLfAndEmptyLinesAreFine) {
  const auto series =
      Parse("\xEF\xBB\xBF\r\nt,v\r\n2022-01-01T00:00Z,1\r\n\r\n2022-01-01T01:00Z,2\r\n\r\n");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(Slots(*series), (Strings{"00:00-01:00=1", "01:00-02:00=2"}));
}

TEST(ParseTraceTest, EmptyAndNanCellsAreGaps) {
  const auto series = Parse(
      "t,v\n2022-01-01T00:00Z,1\n2022-01-01T01:00Z,\n2022-01-01T02:00Z,NaN\n"
      "2022-01-01T03:00Z, nan \n2022-01-01T04:00Z,0\n2022-01-01T05:00Z,  \n");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(Slots(*series), (Strings{"00:00-01:00=1", "04:00-05:00=0"}));
}

TEST(ParseTraceTest, AMissingRowLeavesAGapOfTheUsualStep) {
  const auto series = Parse(
      "t,v\n2022-01-01T00:00Z,1\n2022-01-01T01:00Z,2\n2022-01-01T04:00Z,5\n2022-01-01T05:00Z,6\n");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(Slots(*series),
            (Strings{"00:00-01:00=1", "01:00-02:00=2", "04:00-05:00=5", "05:00-06:00=6"}));
}

TEST(ParseTraceTest, TheLastRowOfAFileIsNotStretchedByAGapBeforeIt) {
  const auto series = Parse("t,v\n2022-01-01T00:00Z,1\n2022-01-01T01:00Z,2\n2022-01-01T09:00Z,3\n");
  ASSERT_TRUE(series);
  EXPECT_EQ(Slots(*series), (Strings{"00:00-01:00=1", "01:00-02:00=2", "09:00-10:00=3"}));
}

TEST(ParseTraceTest, MixedQuarterAndHalfHoursAreEachCoveredByTheirRow) {
  const auto series = Parse(
      "t,v\n2020-10-31T00:00Z,1\n2020-10-31T00:30Z,2\n2020-10-31T01:00Z,3\n2020-10-31T01:15Z,4\n"
      "2020-10-31T01:30Z,5\n2020-10-31T02:00Z,6\n");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(Slots(*series), (Strings{"00:00-00:30=1", "00:30-01:00=2", "01:00-01:15=3",
                                     "01:15-01:30=4", "01:30-02:00=5", "02:00-02:30=6"}));
}

TEST(ParseTraceTest, EveryHourOfADayOnWhichClocksChangeIsThere) {
  // UTC has no daylight saving: Europe's 2022-03-27 has 24 hours like every day.
  const auto text = ReadFile("data/traces/ERCO.csv");
  ASSERT_TRUE(text) << text.error().message;
  const auto series = ParseTrace(*text, "ERCO.csv", "ci_lifecycle", Zone{});
  ASSERT_TRUE(series);
  for (const char* day : {"2022-03-13", "2022-03-27", "2022-10-30", "2022-11-06"}) {
    const TimePoint from = At(std::string(day) + "T00:00Z");
    EXPECT_EQ(MeanOver(series->slots, from, from + 24h).coverage, 1) << day;
  }
}

TEST(ParseTraceTest, BundledErcotTraceHasItsPublishedValues) {
  const auto text = ReadFile("data/traces/ERCO.csv");
  ASSERT_TRUE(text) << text.error().message;
  const auto life = ParseTrace(*text, "ERCO.csv", "ci_lifecycle", Zone{"US-TEX-ERCO"});
  ASSERT_TRUE(life);
  EXPECT_EQ(life->origin.source, "trace:ERCO.csv:ci_lifecycle");
  EXPECT_EQ(life->origin.zone.key, "US-TEX-ERCO");
  EXPECT_EQ(life->origin.basis, Basis::kLifecycle);
  EXPECT_EQ(life->origin.signal, Signal::kAverage);
  EXPECT_EQ(life->origin.kind, IntensityKind::kMeasured);
  ASSERT_EQ(life->slots.size(), 426U * 24U);
  EXPECT_TRUE(IsWellFormed(life->slots));
  EXPECT_EQ(life->slots.front().from, At("2021-11-01T00:00Z"));
  EXPECT_EQ(life->slots.back().to, At("2023-01-01T00:00Z"));
  EXPECT_EQ(SlotAt(life->slots, At("2022-07-01T12:59:59Z"))->value, GramsPerKwh(360.09));
  EXPECT_EQ(SlotAt(life->slots, At("2022-07-01T13:00:00Z"))->value, GramsPerKwh(366.03));
  EXPECT_NEAR(MeanOver(life->slots, At("2021-11-01T00:00Z"), At("2023-01-01T00:00Z")).value->v,
              345.7019, 1e-4);
  const auto direct = ParseTrace(*text, "ERCO.csv", "ci_direct", Zone{});
  EXPECT_EQ(direct->origin.basis, Basis::kDirect);
  EXPECT_EQ(SlotAt(direct->slots, At("2022-07-01T12:00:00Z"))->value, GramsPerKwh(294.23));
}

TEST(ParseTraceTest, AFrozenStretchStaysAsItIs) {
  std::string text = "t,v\n";
  for (int h = 10; h < 20; ++h) text += "2022-01-01T" + std::to_string(h) + ":00Z,24\n";
  const auto series = Parse(text);
  ASSERT_TRUE(series);
  EXPECT_EQ(series->slots.size(), 10U);
}

TEST(ParseTraceTest, ChoosesTheColumnByNameThenZoneThenTheOnlyOne) {
  const std::string two = "t, DE ,FR\n2022-01-01T00:00Z,1,2\n2022-01-01T01:00Z,3,4\n";
  EXPECT_EQ(Parse(two, "FR", "DE")->slots[0].value, GramsPerKwh(2));
  EXPECT_EQ(Parse(two, "", "DE")->slots[0].value, GramsPerKwh(1));
  EXPECT_EQ(Parse(two, "", "DE")->origin.source, "trace:t.csv:DE");
  const std::string one = "t,value\n2022-01-01T00:00Z,1\n2022-01-01T01:00Z,3\n";
  EXPECT_EQ(Parse(one, "", "DE")->slots[0].value, GramsPerKwh(1));
  EXPECT_THAT(ErrorOf(two), AllOf(HasSubstr("t.csv"), HasSubstr("DE, FR")));
  EXPECT_THAT(ErrorOf(two, "", "SE"), AllOf(HasSubstr("'SE'"), HasSubstr("DE, FR")));
  EXPECT_THAT(ErrorOf(two, "SE", "DE"), AllOf(HasSubstr("'SE'"), HasSubstr("FR")));
  EXPECT_THAT(ErrorOf(two, "t"), HasSubstr("time"));
  EXPECT_THAT(ErrorOf("t,DE,DE\n2022-01-01T00:00Z,1,2\n2022-01-01T01:00Z,3,4\n", "DE"),
              HasSubstr("more than once"));
  EXPECT_THAT(ErrorOf("t\n2022-01-01T00:00Z\n"), HasSubstr("no series"));
}

TEST(ParseTraceTest, ReadsSignalBasisAndKindFromTheColumnsName) {
  const auto origin = [](const std::string& column) {
    return Parse("t," + column + "\n2022-01-01T00:00Z,1\n2022-01-01T01:00Z,3\n")->origin;
  };
  EXPECT_EQ(origin("DE").basis, Basis::kUnstated);
  EXPECT_EQ(origin("Lifecycle_CI").basis, Basis::kLifecycle);
  EXPECT_EQ(origin("marginal-direct").signal, Signal::kMarginal);
  EXPECT_EQ(origin("marginal-direct").basis, Basis::kDirect);
  EXPECT_EQ(origin("moer").signal, Signal::kMarginal);
  EXPECT_EQ(origin("carbon_from_src_forecasts").kind, IntensityKind::kForecast);
  EXPECT_EQ(origin("ci_estimated").kind, IntensityKind::kEstimated);
  EXPECT_EQ(origin("indirect").basis, Basis::kUnstated);
}

TEST(ParseTraceTest, ErrorsNameFileLineAndColumn) {
  const std::string head = "time,v\n2022-01-01T00:00Z,1\n";
  EXPECT_THAT(ErrorOf(head + "\n2022-01-01T01:00Z,x1\n"),
              AllOf(HasSubstr("t.csv:4"), HasSubstr("'v'"), HasSubstr("'x1'"), HasSubstr("5000")));
  EXPECT_THAT(ErrorOf(head + "2022-01-01T01:00Z,-0.5\n"), HasSubstr("'-0.5'"));
  EXPECT_THAT(ErrorOf(head + "2022-01-01T01:00Z,5000.1\n"), HasSubstr("5000.1"));
  EXPECT_THAT(ErrorOf(head + "2022-01-01T01:00Z,inf\n"), HasSubstr("'inf'"));
  EXPECT_THAT(ErrorOf(head + "2022-01-01T01:00Z,1e999\n"), HasSubstr("1e999"));
  EXPECT_THAT(ErrorOf(head + "2022-13-01T01:00Z,1\n"),
              AllOf(HasSubstr("t.csv:3"), HasSubstr("'time'"), HasSubstr("2022-13-01")));
  EXPECT_THAT(ErrorOf(head + "2022-01-01T01:00Z,1,2\n"),
              AllOf(HasSubstr("t.csv:3"), HasSubstr("3 fields")));
  EXPECT_THAT(ErrorOf(head + "2022-01-01T01:00Z\n"), HasSubstr("1 fields"));
}

TEST(ParseTraceTest, RepeatedAndDisorderedTimesNameBothLines) {
  EXPECT_THAT(ErrorOf("t,v\n2022-01-01T00:00Z,1\n2022-01-01 00:00,1\n"),
              AllOf(HasSubstr("t.csv:3"), HasSubstr("repeats line 2")));
  EXPECT_THAT(ErrorOf("t,v\n2022-01-01T05:00Z,1\n\n2022-01-01T04:00Z,1\n"),
              AllOf(HasSubstr("t.csv:4"), HasSubstr("before line 2")));
}

TEST(ParseTraceTest, RefusesWhatHasNoSlotLengthOrNoValue) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("no header"));
  EXPECT_THAT(ErrorOf("t,v\n"), HasSubstr("at least 2"));
  EXPECT_THAT(ErrorOf("t,v\n2022-01-01T00:00Z,1"), HasSubstr("at least 2"));
  const auto empty = Parse("t,v\n2022-01-01T00:00Z,\n2022-01-01T01:00Z,\n");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, Code::kDataLoss);
}

TEST(ParseTraceTest, QuotedFilesReadTheSame) {
  const auto series = Parse(
      "\"time, UTC\",\"a \"\"b\"\"\",DE\n\"2022-01-01T00:00Z\",\"x\ny\",\"1\"\n"
      "2022-01-01T01:00Z,z,2\n",
      "DE");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(Slots(*series), (Strings{"00:00-01:00=1", "01:00-02:00=2"}));
}

}  // namespace
}  // namespace lowtide
