#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace lowtide {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Nested(std::size_t levels) {
  return std::string(levels, '[') + "1" + std::string(levels, ']');
}

TEST(ParseJson, KeepsTheOrderOfKeys) {
  EXPECT_EQ(DumpJson(ParseJson(R"({"z":1,"a":[true,null]})", "x").value()),
            R"({"z":1,"a":[true,null]})");
}

TEST(ParseJson, ErrorsNameTheDocumentLineAndColumn) {
  const auto value = ParseJson("{\n  \"a\": 1,\n  \"b\": x\n}", "answer");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, Code::kInvalidArgument);
  EXPECT_THAT(value.error().message, StartsWith("answer: parse error at line 3, column 8"));
}

TEST(ParseJson, RefusesWhatIsNotOneDocument) {
  for (const char* text : {"", " ", "{} {}", "{\"a\":1,}", "[1", "nan", "'a'", "\"\\ud800\"",
                           "\"\xFF\"", "[1e999]", "// c\n1"}) {
    EXPECT_FALSE(ParseJson(text, "x")) << text;
  }
}

TEST(ParseJson, NestingIsBounded) {
  EXPECT_TRUE(ParseJson(Nested(64), "x"));
  EXPECT_THAT(ParseJson(Nested(65), "x").error().message, HasSubstr("nested deeper than 64"));
  EXPECT_FALSE(ParseJson(std::string(65, '[') + std::string(65, ']'), "x"));
  EXPECT_FALSE(ParseJson(Nested(100'000), "x"));
}

TEST(JsonMembers, AreThereOnlyWithTheRightType) {
  const Json object = ParseJson(R"({"n":2,"s":"x","b":true,"null":null})", "x").value();
  EXPECT_EQ(JsonNumber(object, "n"), 2.0);
  EXPECT_EQ(JsonString(object, "s"), "x");
  EXPECT_EQ(JsonBool(object, "b"), true);
  EXPECT_EQ(JsonNumber(object, "s"), std::nullopt);
  EXPECT_EQ(JsonNumber(object, "b"), std::nullopt);
  EXPECT_EQ(JsonNumber(object, "null"), std::nullopt);
  EXPECT_EQ(JsonString(object, "none"), std::nullopt);
  EXPECT_EQ(JsonBool(Json::array(), "b"), std::nullopt);
}

TEST(DumpJson, ReplacesInvalidUtf8AndNonFiniteNumbers) {
  EXPECT_EQ(DumpJson(Json{{"a", "x\xFFy"}}), "{\"a\":\"x\xEF\xBF\xBDy\"}");
  EXPECT_EQ(DumpJson(Json(std::numeric_limits<double>::quiet_NaN())), "null");
}

TEST(DumpJson, PrettyIsIndentedByTwo) {
  EXPECT_EQ(DumpJsonPretty(Json{{"a", 1}}), "{\n  \"a\": 1\n}");
}

}  // namespace
}  // namespace lowtide
