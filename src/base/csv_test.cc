#include "base/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lowtide {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CsvTable Table(std::string_view text) {
  auto table = ParseCsv(text, "t.csv");
  EXPECT_TRUE(table.has_value()) << table.error().message;
  return table.value_or(CsvTable{});
}

std::string ErrorOf(std::string_view text) {
  const auto table = ParseCsv(text, "t.csv");
  EXPECT_FALSE(table.has_value()) << text;
  return table ? "" : table.error().message;
}

TEST(ParseCsv, ReadsLfCrlfAndALastLineWithoutEither) {
  for (const auto* text : {"a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4\r\n", "a,b\n1,2\r\n3,4"}) {
    const CsvTable table = Table(text);
    EXPECT_THAT(table.header, ElementsAre("a", "b"));
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_THAT(table.rows[1].fields, ElementsAre("3", "4"));
    EXPECT_EQ(table.rows[1].line, 3U);
  }
}

TEST(ParseCsv, QuotedFieldsHoldCommasQuotesAndLines) {
  const CsvTable table =
      Table("name,note\n\"x, y\",\"says \"\"hi\"\"\"\r\n\"two\nlines\",z\nlast,\n");
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_THAT(table.rows[0].fields, ElementsAre("x, y", "says \"hi\""));
  EXPECT_THAT(table.rows[1].fields, ElementsAre("two\nlines", "z"));
  EXPECT_EQ(table.rows[1].line, 3U);
  EXPECT_EQ(table.rows[2].line, 5U);
  EXPECT_THAT(table.rows[2].fields, ElementsAre("last", ""));
}

TEST(ParseCsv, SkipsAByteOrderMarkAndEmptyLines) {
  const CsvTable table = Table("\xEF\xBB\xBF\n a ,b\n\n1,2\r\n\r\n");
  EXPECT_EQ(table.Find("a"), 0U);
  EXPECT_EQ(table.rows.size(), 1U);
}

TEST(ParseCsv, ErrorsNameFileAndLine) {
  EXPECT_THAT(ErrorOf("a,b\n1,2\n\n1,2,3\n"), HasSubstr("t.csv:4: 3 fields, but the header has 2"));
  EXPECT_THAT(ErrorOf("a,b\n1,2\n1,\"open\nnever\n"), HasSubstr("t.csv:3: quoted field"));
  EXPECT_THAT(ErrorOf("a,b\n\"x\"y,2\n"), HasSubstr("t.csv:2: text after a closing quote"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("t.csv: no header line"));
  EXPECT_THAT(ErrorOf("\n\r\n"), HasSubstr("t.csv: no header line"));
}

TEST(CsvTable, RequireNamesTheColumnsThereAre) {
  const CsvTable table = Table("datetime_utc,ci_direct,x,x\n");
  EXPECT_EQ(table.Require("ci_direct").value(), 1U);
  EXPECT_THAT(table.Require("ci").error().message,
              HasSubstr("t.csv: no column 'ci'; the columns are: datetime_utc, ci_direct"));
  EXPECT_THAT(table.Require("x").error().message, HasSubstr("'x' appears more than once"));
}

TEST(CsvNumber, ErrorsNameFileLineColumnAndValue) {
  const CsvTable table = Table("t,ci\na, 12.5 \nb,NaN\nc,\n");
  EXPECT_EQ(CsvNumber(table, table.rows[0], 1).value(), 12.5);
  EXPECT_EQ(CsvNumber(table, table.rows[1], 1).error().message,
            "t.csv:3: column 'ci': 'NaN' is not a number");
  EXPECT_THAT(CsvNumber(table, table.rows[2], 1).error().message,
              HasSubstr("t.csv:4: column 'ci'"));
}

TEST(ParseNumber, IsStrict) {
  EXPECT_EQ(ParseNumber("12"), 12);
  EXPECT_EQ(ParseNumber("-1.5"), -1.5);
  EXPECT_EQ(ParseNumber("1e5"), 1e5);
  EXPECT_EQ(ParseNumber("2E-3"), 2e-3);
  for (const char* text : {"", " 1", "1 ", "+1", "nan", "NaN", "inf", "-inf", "0x1", "1,5", "1e999",
                           "1e", "--1", "1.2.3", "e5"}) {
    EXPECT_EQ(ParseNumber(text), std::nullopt) << text;
  }
}

TEST(CsvQuote, QuotesOnlyWhereNeeded) {
  EXPECT_EQ(CsvQuote("plain text"), "plain text");
  EXPECT_EQ(CsvQuote("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvQuote("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(CsvQuote("a\nb"), "\"a\nb\"");
}

}  // namespace
}  // namespace lowtide
