#include "grid/providers/entsoe.h"

#include "grid/providers/entsoe_payload.h"
#include "grid/providers/provider_test_support.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;

const TimePoint kNow = At("2026-05-04T10:20Z");
const Zone kZone{"DE"};
constexpr std::string_view kGermany = "10Y1001A1001A83F";

struct SeriesText {
  std::string type;
  std::string start, end;
  std::string resolution;
  std::string points;  // "1:5 2:7"
  std::string curve = "A01";
  std::string direction = "in";
  std::string zone = std::string(kGermany);
};

std::string Series(const SeriesText& series) {
  std::string points;
  std::string_view rest = series.points;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(' '), rest.size());
    const auto colon = rest.find(':');
    points += fmt::format("<Point><position>{}</position><quantity>{}</quantity></Point>",
                          rest.substr(0, colon), rest.substr(colon + 1, end - colon - 1));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fmt::format(
      "<TimeSeries><mRID>1</mRID><{0}BiddingZone_Domain.mRID codingScheme=\"A01\">{1}"
      "</{0}BiddingZone_Domain.mRID><quantity_Measure_Unit.name>MAW</quantity_Measure_Unit.name>"
      "<curveType>{2}</curveType><MktPSRType><psrType>{3}</psrType></MktPSRType><Period>"
      "<timeInterval><start>{4}</start><end>{5}</end></timeInterval><resolution>{6}</resolution>{7}"
      "</Period></TimeSeries>",
      series.direction, series.zone, series.curve, series.type, series.start, series.end,
      series.resolution, points);
}

std::string Document(const std::vector<SeriesText>& all) {
  std::string out =
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<GL_MarketDocument "
      "xmlns=\"urn:iec62325.351:tc57wg16:451-6:generationloaddocument:3:0\"><type>A75</type>"
      "<createdDateTime>2026-05-04T10:19:00Z</createdDateTime>";
  for (const SeriesText& series : all) out += Series(series);
  return out + "</GL_MarketDocument>";
}

std::string Acknowledgement(std::string_view text) {
  return fmt::format(
      "<?xml version=\"1.0\"?><Acknowledgement_MarketDocument xmlns=\"urn:iec62325.351:tc57wg16:"
      "451-1:acknowledgementdocument:7:0\"><Reason><code>999</code><text>{}</text></Reason>"
      "</Acknowledgement_MarketDocument>",
      text);
}

SeriesText Hourly(std::string type, std::string points, std::string curve = "A01") {
  return {std::move(type), "2026-05-04T00:00Z", "2026-05-04T04:00Z",
          "PT60M",         std::move(points),   std::move(curve)};
}

// --- payload ---

TEST(EntsoePayloadTest, PositionsCountFromOne) {
  const auto out = ParseEntsoe(Document({Hourly("B04", "1:5 3:7.5")}));
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->zone, kGermany);
  ASSERT_EQ(out->rows.size(), 2U);
  EXPECT_EQ(out->rows[0].from, At("2026-05-04T00:00Z"));
  EXPECT_EQ(out->rows[1].from, At("2026-05-04T02:00Z"));
  EXPECT_EQ(out->rows[1].amount, 7.5);
  EXPECT_EQ(out->rows[1].fuel, "gas");
}

TEST(EntsoePayloadTest, CurveA03RepeatsToTheEndOfThePeriodAndA01DoesNot) {
  const auto a03 = ParseEntsoe(Document({Hourly("B04", "1:5 3:7", "A03")}));
  ASSERT_TRUE(a03);
  ASSERT_EQ(a03->rows.size(), 4U);
  EXPECT_EQ(a03->rows[1].amount, 5);
  EXPECT_EQ(a03->rows[3].amount, 7);
  EXPECT_EQ(a03->rows[3].to, At("2026-05-04T04:00Z"));
  EXPECT_EQ(ParseEntsoe(Document({Hourly("B04", "1:5 3:7")}))->rows.size(), 2U);
}

TEST(EntsoePayloadTest, EveryPeriodHasItsOwnResolution) {
  std::string text = Document({Hourly("B04", "1:5 2:5 3:5 4:5")});
  const std::string period =
      "<Period><timeInterval><start>2026-05-04T04:00Z</start><end>2026-05-04T04:30Z</end>"
      "</timeInterval><resolution>PT15M</resolution><Point><position>2</position>"
      "<quantity>9</quantity></Point></Period>";
  text.insert(text.find("</TimeSeries>"), period);
  const auto out = ParseEntsoe(text);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->rows.back().from, At("2026-05-04T04:15Z"));
  EXPECT_EQ(out->rows.back().to, At("2026-05-04T04:30Z"));
}

TEST(EntsoePayloadTest, ConsumptionIsLeftOut) {
  SeriesText pumping = Hourly("B10", "1:900");
  pumping.direction = "out";
  const auto out = ParseEntsoe(Document({Hourly("B10", "1:5"), pumping}));
  ASSERT_TRUE(out);
  EXPECT_EQ(out->rows.size(), 1U);
}

TEST(EntsoePayloadTest, DaysOfChangedClocksHaveTheirHoursInUtc) {
  // 2026-03-29 has 23 hours in Berlin, 2026-10-25 has 25.
  SeriesText spring{"B04", "2026-03-28T23:00Z", "2026-03-29T22:00Z", "PT60M", "1:5", "A03"};
  SeriesText autumn{"B04", "2026-10-24T22:00Z", "2026-10-25T23:00Z", "PT60M", "1:5", "A03"};
  EXPECT_EQ(ParseEntsoe(Document({spring}))->rows.size(), 23U);
  EXPECT_EQ(ParseEntsoe(Document({autumn}))->rows.size(), 25U);
}

TEST(EntsoePayloadTest, ABareSeriesIsReadToo) {
  const auto out = ParseEntsoe(Series(Hourly("B16", "1:5")));
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->rows[0].fuel, "solar");
}

TEST(EntsoePayloadTest, AcknowledgementsAreToldApartByTheirText) {
  EXPECT_EQ(ParseEntsoe(Acknowledgement("No matching data found for Data item X")).error().code,
            Code::kNotFound);
  EXPECT_EQ(ParseEntsoe(Acknowledgement("Invalid query attributes or parameters")).error().code,
            Code::kUnavailable);
  EXPECT_EQ(
      ParseEntsoe(Acknowledgement("Unauthorized. Missing or invalid security token")).error().code,
      Code::kPermissionDenied);
}

TEST(EntsoePayloadTest, WhatIsNoAnswerIsAnError) {
  SeriesText foreign = Hourly("B04", "1:5");
  foreign.zone = "10YFR-RTE------C";
  SeriesText no_type = Hourly("", "1:5");
  SeriesText long_period = Hourly("B04", "1:5", "A03");
  long_period.end = "9999-12-31T00:00Z";
  SeriesText backwards = Hourly("B04", "1:5");
  backwards.end = "2026-05-03T00:00Z";
  SeriesText odd = Hourly("B04", "1:5");
  odd.resolution = "P1Y";
  std::string kilowatts = Document({Hourly("B04", "1:5")});
  kilowatts.replace(kilowatts.find("MAW"), 3, "KWT");
  std::string prices = Document({});
  prices.replace(prices.find("A75"), 3, "A44");
  for (const std::string& text :
       {std::string(), std::string("<a"), std::string("<a/>"), prices, kilowatts,
        Document({Hourly("B04", "0:5")}), Document({Hourly("B04", "5:5")}),
        Document({Hourly("B04", "x:5")}), Document({Hourly("B04", "1:5"), foreign}),
        Document({no_type}), Document({long_period}), Document({backwards}), Document({odd})}) {
    const auto out = ParseEntsoe(text);
    ASSERT_FALSE(out) << text;
    EXPECT_EQ(out.error().code, Code::kDataLoss) << out.error().message;
  }
}

// --- client ---

TEST(EntsoeTest, HistoryAsksForA75OfTheAreaAndComputes) {
  Fake fake("entsoe",
            Always(Ok(Document({Hourly("B02", "1:100", "A03"), Hourly("B19", "1:300", "A03"),
                                Hourly("B99", "1:0", "A03")}))));
  const auto answer = fake->History(kZone, At("2026-05-04T01:30Z"), At("2026-05-04T03:00Z"), kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  const HttpRequest& request = fake.Sent()[0];
  EXPECT_EQ(request.url, "https://web-api.tp.entsoe.eu/api");
  EXPECT_EQ(Query(request, "documentType"), "A75");
  EXPECT_EQ(Query(request, "processType"), "A16");
  EXPECT_EQ(Query(request, "in_Domain"), kGermany);
  EXPECT_EQ(Query(request, "periodStart"), "202605040100");
  EXPECT_EQ(Query(request, "periodEnd"), "202605040300");
  EXPECT_EQ(Query(request, "securityToken"), "SECRET+key/1");
  EXPECT_THAT(request.secret_names, Contains("securityToken"));
  ASSERT_EQ(answer->slots.size(), 2U);
  EXPECT_DOUBLE_EQ(answer->slots[0].value.v, (100 * 820 + 300 * 11) / 400.0);
  EXPECT_EQ(answer->basis, Basis::kLifecycle);
  EXPECT_EQ(answer->kind, IntensityKind::kMeasured);
}

TEST(EntsoeTest, LatestLooksThirtyHoursBackAndTakesTheNewest) {
  Fake fake("entsoe", Always(Ok(Document({Hourly("B04", "1:5 2:6")}))));
  const auto answer = fake->Latest(kZone, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(Query(fake.Sent()[0], "periodStart"), "202605030400");
  ASSERT_EQ(answer->slots.size(), 1U);
  EXPECT_EQ(answer->slots[0].from, At("2026-05-04T01:00Z"));
}

TEST(EntsoeTest, NoDataIsNotFoundWhateverTheStatus) {
  for (const int status : {200, 400}) {
    Fake fake("entsoe", Always(Reply(status, Acknowledgement("No matching data found for x"))));
    ExpectError(fake->History(kZone, kNow - 5h, kNow, kNow), Code::kNotFound, "No matching data");
  }
}

TEST(EntsoeTest, APartWithoutDataIsAGapThatIsTold) {
  Fake fake("entsoe", [](const HttpRequest& request) {
    if (Query(request, "periodStart") == "202604040000") {
      return Ok(Acknowledgement("No matching data found for x"));
    }
    return Ok(Document({Hourly("B04", "1:5")}));
  });
  const auto answer = fake->History(kZone, At("2026-04-04T00:00Z"), kNow, kNow);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(fake.Sent().size(), 2U);
  EXPECT_EQ(answer->slots.size(), 1U);
  EXPECT_THAT(answer->notes, Contains(HasSubstr("No matching data")));
}

TEST(EntsoeTest, RefusalsAreTold) {
  const auto history = [](HttpResponse response) {
    Fake fake("entsoe", Always(std::move(response)));
    return fake->History(kZone, kNow - 5h, kNow, kNow);
  };
  ExpectError(history(Reply(401, "<html>SECRET+key/1</html>")), Code::kPermissionDenied, "key");
  ExpectError(history(Reply(429, "")), Code::kUnavailable, "429");
  ExpectError(history(Reply(400, Acknowledgement("The amount of requested data exceeds allowed "
                                                 "limit. requested/allowed 200/100"))),
              Code::kUnavailable, "exceeds allowed");
  ExpectError(history(Ok("<html>maintenance</html>")), Code::kDataLoss, "html");
}

TEST(EntsoeTest, AnotherAreaThanAskedIsNotUsed) {
  SeriesText foreign = Hourly("B04", "1:5");
  foreign.zone = "10YFR-RTE------C";
  Fake fake("entsoe", Always(Ok(Document({foreign}))));
  ExpectError(fake->History(kZone, kNow - 24h, kNow, kNow), Code::kDataLoss, "answered for");
}

TEST(EntsoeTest, ThereIsNoCarbonForecast) {
  Fake fake("entsoe", Always(Ok("")));
  ExpectError(fake->Forecast(kZone, kNow, kNow + 1h, kNow), Code::kUnimplemented, "forecast");
  EXPECT_TRUE(fake.Sent().empty());
}

TEST(EntsoeTest, TheCodeOfAMarketPartyIsRefused) {
  FakeTransport transport(Always(Ok("{}")));
  ProviderSettings settings = TestSettings("entsoe");
  settings.zone_names = {{"BE", "10XBE----------X"}};
  ExpectError(MakeProvider("entsoe", settings, {transport, TestZones(), TestFactors()}),
              Code::kInvalidArgument, "third of them Y");
}

}  // namespace
}  // namespace lowtide
