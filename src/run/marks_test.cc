#include "run/marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/json.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(std::string_view line) {
  const auto mark = ParseMark(line);
  if (mark) return "accepted";
  EXPECT_EQ(mark.error().code, Code::kInvalidArgument);
  return mark.error().message;
}

template <class T>
T Parsed(std::string_view line) {
  const auto mark = ParseMark(line);
  EXPECT_TRUE(mark) << mark.error().message;
  EXPECT_TRUE(std::holds_alternative<T>(*mark)) << MarkName(*mark);
  return std::get<T>(*mark);
}

TEST(ParseMark, ReadsHello) {
  const auto hello = Parsed<HelloMark>(
      R"({"mark":"hello","protocol":1,"client":"python/0.1.0","pid":123,"rank":9,"local_rank":1})");
  EXPECT_EQ(hello.client, "python/0.1.0");
  EXPECT_EQ(hello.pid, 123);
  EXPECT_EQ(hello.rank, 9);
  EXPECT_EQ(hello.local_rank, 1);

  const auto bare = Parsed<HelloMark>(R"({"mark":"hello","protocol":1,"local_rank":null})");
  EXPECT_EQ(bare.client, "");
  EXPECT_EQ(bare.local_rank, std::nullopt);
}

TEST(ParseMark, RefusesAnotherProtocol) {
  EXPECT_EQ(ErrorOf(R"({"mark":"hello","protocol":2})"),
            "hello: protocol 2 is not spoken here, only 1");
  EXPECT_EQ(ErrorOf(R"({"mark":"hello"})"), "hello: protocol is missing");
}

TEST(ParseMark, ReadsEpochs) {
  const auto begin =
      Parsed<EpochBeginMark>(R"({"mark":"epoch_begin","epoch":0,"total_epochs":12})");
  EXPECT_EQ(begin.epoch, 0);
  EXPECT_EQ(begin.total_epochs, 12);
  EXPECT_EQ(Parsed<EpochBeginMark>(R"({"epoch":3,"mark":"epoch_begin"})").total_epochs,
            std::nullopt);

  const auto end = Parsed<EpochEndMark>(
      "{\"mark\":\"epoch_end\",\"epoch\":7,\"metrics\":{\"loss\":0.25,\"val/"
      "acc\":1,\"nan\":null}}\r");
  EXPECT_EQ(end.epoch, 7);
  EXPECT_EQ(end.metrics, (MarkMetrics{{"loss", 0.25}, {"nan", std::nullopt}, {"val/acc", 1.0}}));
  EXPECT_TRUE(Parsed<EpochEndMark>(R"({"mark":"epoch_end","epoch":7})").metrics.empty());
  EXPECT_TRUE(
      Parsed<EpochEndMark>(R"({"mark":"epoch_end","epoch":7,"metrics":null})").metrics.empty());
}

TEST(ParseMark, ReadsNumbers) {
  EXPECT_EQ(Parsed<StepMark>(R"({"mark":"step","count":20})").count, 20);
  EXPECT_EQ(Parsed<TotalEpochsMark>(R"({"mark":"total_epochs","value":12})").value, 12);
  EXPECT_EQ(Parsed<BatchSizeMark>(R"({"mark":"batch_size","value":128})").value, 128);
  EXPECT_TRUE(Parsed<MetricsMark>(R"({"mark":"metrics","metrics":{}})").metrics.empty());
}

TEST(ParseMark, IgnoresKeysOfLaterVersions) {
  EXPECT_EQ(
      Parsed<StepMark>(R"({"mark":"step","later":{"count":[5,{"mark":"x"}]},"count":2,"more":"y"})")
          .count,
      2);
}

TEST(ParseMark, NamesTheKeyItsValueAndWhatIsAllowed) {
  EXPECT_EQ(ErrorOf(R"({"mark":"step","count":-3})"),
            "step: count must be an integer from 1 to 1000000000, not -3");
  EXPECT_EQ(ErrorOf(R"({"mark":"step","count":0})"),
            "step: count must be an integer from 1 to 1000000000, not 0");
  EXPECT_EQ(ErrorOf(R"({"mark":"step","count":1.5})"),
            "step: count must be an integer from 1 to 1000000000, not 1.5");
  EXPECT_EQ(ErrorOf(R"({"mark":"step","count":"3"})"),
            "step: count must be an integer from 1 to 1000000000, not \"3\"");
  EXPECT_EQ(ErrorOf(R"({"mark":"step","count":true})"),
            "step: count must be an integer from 1 to 1000000000, not true");
  EXPECT_EQ(ErrorOf(R"({"mark":"step","count":18446744073709551615})"),
            "step: count must be an integer from 1 to 1000000000, not 1.8446744073709552e+19");
  EXPECT_EQ(ErrorOf(R"({"mark":"step"})"), "step: count is missing");
  EXPECT_EQ(ErrorOf(R"({"mark":"epoch_begin","epoch":1000000001})"),
            "epoch_begin: epoch must be an integer from 0 to 1000000000, not 1000000001");
  EXPECT_EQ(ErrorOf(R"({"mark":"epoch_begin","epoch":0,"total_epochs":0})"),
            "epoch_begin: total_epochs must be an integer from 1 to 1000000000, not 0");
  EXPECT_EQ(ErrorOf(R"({"mark":"batch_size","value":null})"),
            "batch_size: value must be an integer from 1 to 1000000000, not null");
  EXPECT_EQ(ErrorOf(R"({"mark":"hello","protocol":1,"local_rank":-1})"),
            "hello: local_rank must be an integer from 0 to 1000000, not -1");
  EXPECT_THAT(ErrorOf(R"({"mark":"hello","protocol":1,"client":7})"), HasSubstr("not 7"));
}

TEST(ParseMark, RefusesWhatIsNotAMark) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("not one JSON object"));
  EXPECT_THAT(ErrorOf("{\"mark\":\"step\",\"count\":1"), HasSubstr("not one JSON object"));
  EXPECT_THAT(ErrorOf(R"({"mark":"step","count":1}{"mark":"step","count":1})"),
              HasSubstr("not one JSON object"));
  EXPECT_THAT(ErrorOf("{\"mark\":\"st\xff\"}"), HasSubstr("UTF-8"));
  EXPECT_THAT(ErrorOf(std::string_view("{\"mark\":\"step\",\"count\":1}\0x", 27)),
              HasSubstr("NUL"));
  EXPECT_EQ(ErrorOf("7"), "a mark is a JSON object, not 7");
  EXPECT_EQ(ErrorOf("\"step\""), "a mark is a JSON object, not \"step\"");
  EXPECT_EQ(ErrorOf("[{\"mark\":\"step\",\"count\":1}]"), "a mark is a JSON object, not a list");
  EXPECT_EQ(ErrorOf("{}"), "mark is missing: it says what the line is");
  EXPECT_EQ(ErrorOf(R"({"mark":1})"), "mark must be a text, not 1");
  EXPECT_EQ(ErrorOf(R"({"mark":{}})"), "mark must be one value, not a list or an object");
  EXPECT_EQ(ErrorOf(R"({"mark":"step","count":1,"count":2})"), "count is there twice");
  EXPECT_EQ(ErrorOf(R"({"mark":"stop"})"),
            "unknown mark \"stop\"; allowed: hello, epoch_begin, epoch_end, step, metrics, "
            "total_epochs, batch_size");
  EXPECT_LT(ErrorOf("{\"mark\":\"" + std::string(60000, 'x') + "\"}").size(), 300U);
  EXPECT_LT(ErrorOf("{\"mark\" \"" + std::string(60000, 'x') + "\"}").size(), 400U);
}

TEST(ParseMark, BoundsMetrics) {
  EXPECT_EQ(ErrorOf(R"({"mark":"metrics"})"), "metrics: metrics is missing");
  EXPECT_EQ(ErrorOf(R"({"mark":"metrics","metrics":null})"), "metrics: metrics is missing");
  EXPECT_EQ(ErrorOf(R"({"mark":"metrics","metrics":3})"), "metrics must be an object, not 3");
  EXPECT_EQ(ErrorOf(R"({"mark":"metrics","metrics":[]})"), "metrics must be an object, not a list");
  EXPECT_EQ(ErrorOf(R"({"mark":"metrics","metrics":{"a":"b"}})"),
            "metrics: \"a\" must be a number or null, not \"b\"");
  EXPECT_EQ(ErrorOf(R"({"mark":"metrics","metrics":{"a":[1]}})"),
            "metrics: \"a\" must be a number or null, not a list or an object");
  EXPECT_EQ(ErrorOf(R"({"mark":"metrics","metrics":{"a":1,"a":2}})"),
            "metrics: \"a\" is there twice");
  EXPECT_EQ(ErrorOf(R"({"mark":"metrics","metrics":{},"metrics":{}})"), "metrics is there twice");
  EXPECT_THAT(ErrorOf(R"({"mark":"metrics","metrics":{"a":1e999}})"), HasSubstr("1e999"));
  EXPECT_THAT(ErrorOf(R"({"mark":"metrics","metrics":{"a":NaN}})"),
              HasSubstr("not one JSON object"));
  EXPECT_THAT(ErrorOf(R"({"mark":"metrics","metrics":{"":1}})"), HasSubstr("1 to 128 bytes"));
  EXPECT_THAT(ErrorOf(R"({"mark":"metrics","metrics":{"a\nb":1}})"), HasSubstr("control"));

  const auto with_name = [](std::size_t bytes) {
    return R"({"mark":"metrics","metrics":{")" + std::string(bytes, 'n') + R"(":1}})";
  };
  EXPECT_EQ(Parsed<MetricsMark>(with_name(128)).metrics.size(), 1U);
  EXPECT_THAT(ErrorOf(with_name(129)), HasSubstr("1 to 128 bytes"));

  const auto with_metrics = [](int count) {
    Json json;
    json["mark"] = "metrics";
    for (int i = 0; i < count; ++i) json["metrics"]["m" + std::to_string(i)] = i;
    return DumpJson(json);
  };
  EXPECT_EQ(Parsed<MetricsMark>(with_metrics(256)).metrics.size(), 256U);
  EXPECT_EQ(ErrorOf(with_metrics(257)), "metrics: more than 256 in one mark");
}

TEST(ParseMark, BoundsLineAndNesting) {
  const std::string body = R"({"mark":"step","count":1})";
  EXPECT_TRUE(ParseMark(body + std::string(kMaxMarkBytes - 1 - body.size(), ' ')));
  EXPECT_THAT(ErrorOf(body + std::string(kMaxMarkBytes - body.size(), ' ')),
              HasSubstr("at most 65536 bytes"));
  EXPECT_EQ(ErrorOf(R"({"mark":"step","count":1,"x":)" + std::string(1000, '[') +
                    std::string(1000, ']') + "}"),
            "nested deeper than 64 levels");
}

TEST(FormatReply, IsOneLineOfJson) {
  EXPECT_EQ(FormatReply({}), "{\"ok\":true}\n");
  EXPECT_EQ(FormatReply({.error = {}, .run_id = "01J", .delay = {}}),
            "{\"ok\":true,\"protocol\":1,\"run_id\":\"01J\"}\n");
  EXPECT_EQ(FormatReply({.error = {}, .run_id = {}, .delay = Seconds(0.0125)}),
            "{\"ok\":true,\"delay_s\":0.0125}\n");
  EXPECT_EQ(FormatReply({.error = "two\nlines \"x\"", .run_id = {}, .delay = {}}),
            "{\"ok\":false,\"error\":\"two\\nlines \\\"x\\\"\"}\n");
  EXPECT_THAT(FormatReply({.error = "\xff", .run_id = {}, .delay = {}}), HasSubstr("\xEF\xBF\xBD"));
}

TEST(FormatReply, KeepsDelaysInBounds) {
  const auto delay = [](double seconds) {
    return FormatReply({.error = {}, .run_id = {}, .delay = Seconds(seconds)});
  };
  EXPECT_EQ(delay(3600), "{\"ok\":true,\"delay_s\":60.0}\n");
  EXPECT_EQ(delay(-1), "{\"ok\":true}\n");
  EXPECT_EQ(delay(0), "{\"ok\":true}\n");
  EXPECT_EQ(delay(std::numeric_limits<double>::quiet_NaN()), "{\"ok\":true}\n");
  EXPECT_EQ(delay(std::numeric_limits<double>::infinity()), "{\"ok\":true,\"delay_s\":60.0}\n");
}

}  // namespace
}  // namespace lowtide
