#include "grid/providers/eia.h"

#include "grid/providers/eia_payload.h"
#include "grid/providers/provider_test_support.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;

const TimePoint kNow = At("2026-05-04T10:20Z");
const Zone kZone{"US-CAL-CISO"};

std::string Row(std::string_view period, std::string_view fuel, std::string_view value,
                std::string_view respondent = "CISO") {
  return fmt::format(R"({{"period":"{}","respondent":"{}","respondent-name":"x","fueltype":"{}",)"
                     R"("type-name":"y","value":{},"value-units":"megawatthours"}})",
                     period, respondent, fuel, value);
}

std::string Document(std::string_view rows, std::string_view total = "\"2\"",
                     std::string_view more = "") {
  return fmt::format(
      R"({{"response":{{"total":{},"dateFormat":"YYYY-MM-DD\"T\"HH24","frequency":"hourly",)"
      R"("data":[{}]{}}},"apiVersion":"2.1.10"}})",
      total, rows, more);
}

TEST(EiaPayloadTest, APeriodIsTheEndOfItsHour) {
  const auto out = ParseEia(Document(Row("2026-05-04T11", "NG", "\"400\"")));
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->zone, "CISO");
  EXPECT_EQ(out->rows[0].from, At("2026-05-04T10:00Z"));
  EXPECT_EQ(out->rows[0].to, At("2026-05-04T11:00Z"));
  EXPECT_EQ(out->rows[0].fuel, "gas");
}

TEST(EiaPayloadTest, ValuesAreNumbersStringsOrNull) {
  const auto out = ParseEia(Document(Row("2026-05-04T11", "NG", "\"400\"") + "," +
                                         Row("2026-05-04T11", "COL", "1.5") + "," +
                                         Row("2026-05-04T11", "WND", "null"),
                                     "3"));
  ASSERT_TRUE(out);
  EXPECT_EQ(out->rows[0].amount, 400);
  EXPECT_EQ(out->rows[1].amount, 1.5);
  EXPECT_FALSE(out->rows[2].amount);
  EXPECT_EQ(out->total, 3);
  EXPECT_EQ(out->row_count, 3);
}

TEST(EiaPayloadTest, WhatIsNoAnswerIsAnError) {
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), std::string(R"({"response":{}})"),
        std::string(R"({"response":{"data":[7]}})"), Document(Row("2026-05-04", "NG", "1")),
        Document(Row("2026-05-04T99", "NG", "1")),
        Document(Row("2026-05-04T11", "NG", "1") + "," + Row("2026-05-04T11", "NG", "1", "PJM")),
        Document(R"({"period":"2026-05-04T11","fueltype":"NG","value":1,"value-units":"MW"})")}) {
    const auto out = ParseEia(text);
    ASSERT_FALSE(out) << text;
    EXPECT_EQ(out.error().code, Code::kDataLoss) << text;
  }
}

TEST(EiaTest, HistoryAsksForTheEndsOfItsHours) {
  Fake fake("eia", Always(Ok(Document(Row("2026-05-04T02", "NG", "\"100\"") + "," +
                                      Row("2026-05-04T02", "WND", "\"300\"")))));
  const auto answer = fake->History(kZone, At("2026-05-04T01:00Z"), At("2026-05-04T02:00Z"), kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  const HttpRequest& request = fake.Sent()[0];
  EXPECT_EQ(request.url, "https://api.eia.gov/v2/electricity/rto/fuel-type-data/data/");
  EXPECT_EQ(Query(request, "facets[respondent][]"), "CISO");
  EXPECT_EQ(Query(request, "data[]"), "value");
  EXPECT_EQ(Query(request, "frequency"), "hourly");
  EXPECT_EQ(Query(request, "start"), "2026-05-04T02");
  EXPECT_EQ(Query(request, "end"), "2026-05-04T02");
  EXPECT_EQ(Query(request, "api_key"), "SECRET+key/1");
  EXPECT_THAT(request.secret_names, Contains("api_key"));
  ASSERT_EQ(answer->slots.size(), 1U);
  EXPECT_EQ(answer->slots[0].from, At("2026-05-04T01:00Z"));
  EXPECT_DOUBLE_EQ(answer->slots[0].value.v, (100 * 490 + 300 * 11) / 400.0);
}

TEST(EiaTest, MoreThanAPageIsPaged) {
  Fake fake("eia", [](const HttpRequest& request) {
    const int offset = std::stoi(Query(request, "offset"));
    EXPECT_EQ(Query(request, "length"), "5000");
    std::string rows;
    const int end = std::min(offset + 5000, 6000);
    for (int i = offset; i < end; ++i) {
      const std::string period = EiaPeriod(At("2025-05-04T01:00Z") + i * 1h);
      rows += (rows.empty() ? "" : ",") + Row(period, "NG", "\"1\"");
    }
    return Ok(Document(rows, "\"6000\"",
                       R"(,"warnings":[{"warning":"incomplete return","description":"5000"}])"));
  });
  const auto answer = fake->History(kZone, At("2025-05-04T00:00Z"), At("2026-01-08T00:00Z"), kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(fake.Sent().size(), 2U);
  EXPECT_EQ(Query(fake.Sent()[1], "offset"), "5000");
  EXPECT_EQ(answer->slots.size(), 249U * 24);
}

TEST(EiaTest, AnEndlessAnswerEnds) {
  Fake fake("eia", [](const HttpRequest&) {
    std::string rows;
    for (int i = 0; i < 5000; ++i) {
      rows += (rows.empty() ? "" : ",") + Row("2026-05-04T02", "NG", "1");
    }
    return Ok(Document(rows, "999999999"));
  });
  // The sent rows are kept small by asking for a short interval only: the bound is on requests.
  ExpectError(fake->History(kZone, kNow - 2h, kNow, kNow), Code::kDataLoss, "more rows");
  EXPECT_LE(fake.Sent().size(), 3U);
}

TEST(EiaTest, NoRowsAreSuspicious) {
  Fake fake("eia", Always(Ok(Document("", "0"))));
  ExpectError(fake->History(kZone, kNow - 2h, kNow, kNow), Code::kNotFound, "respondent 'CISO'");
}

TEST(EiaTest, RefusalsAreTold) {
  const auto latest = [](HttpResponse response) {
    Fake fake("eia", Always(std::move(response)));
    return fake->Latest(kZone, kNow);
  };
  // Also with a status that says something else.
  for (const int status : {200, 403, 404}) {
    ExpectError(latest(Reply(status, R"({"error":{"code":"API_KEY_INVALID","message":"bad"}})")),
                Code::kPermissionDenied, "API_KEY_INVALID");
  }
  ExpectError(latest(Reply(403, R"({"error":"temporarily suspended"})")), Code::kUnavailable,
              "too often");
  ExpectError(latest(Reply(400, R"({"error":"Invalid frequency 'x'","code":400})")),
              Code::kUnavailable, "Invalid frequency");
  ExpectError(latest(Reply(404, R"({"error":"Not found.","code":404})")), Code::kNotFound, "404");
  ExpectError(latest(Ok(Document(Row("2026-05-04T09", "NG", "1", "PJM")))), Code::kDataLoss,
              "answered for 'PJM'");
}

TEST(EiaTest, LatestIsTheNewestCompleteHour) {
  Fake fake("eia", Always(Ok(Document(Row("2026-05-04T08", "NG", "\"9\"") + "," +
                                          Row("2026-05-04T08", "WND", "\"1\"") + "," +
                                          Row("2026-05-04T09", "NG", "null") + "," +
                                          Row("2026-05-04T09", "WND", "\"1\""),
                                      "4"))));
  const auto answer = fake->Latest(kZone, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->slots[0].to, At("2026-05-04T08:00Z"));
  EXPECT_EQ(answer->missing, 1);
}

}  // namespace
}  // namespace lowtide
