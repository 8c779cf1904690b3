#include "grid/providers/payload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const TimePoint kT0 = *ParseTime("2026-03-01T00:00Z");

ProviderSlot Slot(int hour, double value, bool estimated = false) {
  return {kT0 + hour * 1h, kT0 + (hour + 1) * 1h, GramsPerKwh(value), estimated};
}

TEST(PayloadTest, NumbersMayBeStringsAndNothingElseIsOne) {
  EXPECT_EQ(TolerantNumber(Json(12.5)), 12.5);
  EXPECT_EQ(TolerantNumber(Json("12.5")), 12.5);
  EXPECT_EQ(TolerantNumber(Json("0")), 0);
  for (const Json& none : {Json(), Json(""), Json("NA"), Json("nan"), Json("12,5"), Json(true),
                           Json::array({1}), Json("0x10")}) {
    EXPECT_FALSE(TolerantNumber(none)) << none.dump();
  }
}

TEST(PayloadTest, ANumberOfAnotherUnitIsNoIntensity) {
  EXPECT_EQ(PlausibleIntensity(0.0), GramsPerKwh(0));
  EXPECT_EQ(PlausibleIntensity(5000.0), GramsPerKwh(5000));
  EXPECT_FALSE(PlausibleIntensity(-1));
  EXPECT_FALSE(PlausibleIntensity(5000.1));
  EXPECT_FALSE(PlausibleIntensity(std::nullopt));
  EXPECT_FALSE(PlausibleIntensity(std::numeric_limits<double>::quiet_NaN()));
}

TEST(PayloadTest, NormaliseSortsMergesAndCuts) {
  Payload payload;
  payload.slots = {Slot(2, 30), Slot(0, 10), Slot(1, 20), Slot(1, 25)};
  payload.slots[1].to += 30min;  // overlaps the next
  payload.slots.push_back({kT0 + 5h, kT0 + 5h, GramsPerKwh(1), false});
  Normalise(payload);
  ASSERT_EQ(payload.slots.size(), 3U);
  EXPECT_EQ(payload.slots[0], Slot(0, 10));
  EXPECT_EQ(payload.slots[1], Slot(1, 25));  // the later one
  EXPECT_EQ(payload.slots[2], Slot(2, 30));
  EXPECT_EQ(payload.duplicates, 1);
}

TEST(PayloadTest, AnEstimateNeverReplacesAMeasurement) {
  Payload payload;
  payload.slots = {Slot(0, 10), Slot(0, 99, true)};
  Normalise(payload);
  EXPECT_EQ(payload.slots, std::vector{Slot(0, 10)});
  payload.slots = {Slot(0, 99, true), Slot(0, 10)};
  Normalise(payload);
  EXPECT_EQ(payload.slots, std::vector{Slot(0, 10)});
}

TEST(PayloadTest, TheUsualStepIsTheMedian) {
  EXPECT_FALSE(UsualStep({}));
  EXPECT_FALSE(UsualStep({kT0}));
  EXPECT_FALSE(UsualStep({kT0, kT0}));
  EXPECT_EQ(UsualStep({kT0, kT0 + 15min, kT0 + 30min, kT0 + 3h}), 15min);
  EXPECT_EQ(UsualStep({kT0 + 2h, kT0, kT0 + 1h}), 1h);
}

TEST(PayloadTest, OnlyZerosAreAnOutage) {
  EXPECT_FALSE(AllZero({}));
  EXPECT_FALSE(AllZero({Slot(0, 0)}));
  EXPECT_TRUE(AllZero({Slot(0, 0), Slot(1, 0)}));
  EXPECT_FALSE(AllZero({Slot(0, 0), Slot(1, 0.1)}));
}

TEST(PayloadTest, ErrorTextReadsEveryProvidersShape) {
  EXPECT_EQ(ErrorText(R"({"error":"Invalid auth-token"})"), "Invalid auth-token");
  EXPECT_EQ(ErrorText(R"({"message":"no Route matched with those values"})"),
            "no Route matched with those values");
  EXPECT_EQ(ErrorText(R"({"error":{"code":"API_KEY_INVALID","message":"An invalid key."}})"),
            "API_KEY_INVALID: An invalid key.");
  EXPECT_EQ(ErrorText(R"({"error":"A","message":"B"})"), "A: B");
  EXPECT_EQ(ErrorText(R"({"detail":[{"loc":["query","start"],"msg":"field required"}]})"),
            "field required: query: start");
  EXPECT_EQ(ErrorText(R"({"title":"ArgumentException","detail":"Invalid parameters",)"
                      R"("errors":{"location":["location is not set"]}})"),
            "ArgumentException: Invalid parameters: location is not set");
  EXPECT_EQ(ErrorText("<html>\n<head>403</head></html>"), "an HTML or XML page");
  EXPECT_EQ(ErrorText("plain\n  text\x01"), "plain text");
  EXPECT_EQ(ErrorText(""), "");
  EXPECT_LE(ErrorText(std::string(5000, 'x')).size(), 303U);
}

TEST(PayloadTest, AByteOrderMarkIsNoError) {
  EXPECT_TRUE(ParsePayloadJson("\xEF\xBB\xBF{}", "x"));
  const auto bad = ParsePayloadJson("{", "eia answer");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, Code::kDataLoss);
  EXPECT_THAT(bad.error().message, StartsWith("eia answer"));
}

TEST(PayloadTest, TimesNeedAnOffset) {
  const Json row =
      *ParseJson(R"({"at":"2026-03-01T00:00:00.000Z","local":"2026-03-01T00:00:00"})", "");
  EXPECT_EQ(TimeMember(row, "at", "x"), kT0);
  EXPECT_EQ(TimeMember(row, "local", "x").error().code, Code::kDataLoss);
  EXPECT_THAT(TimeMember(row, "absent", "x").error().message, HasSubstr("'absent' is missing"));
}

TEST(PayloadTest, PartsOfTwoZonesAreNotJoined) {
  Payload whole;
  whole.zone = "DE";
  Payload part;
  part.zone = "FR";
  EXPECT_EQ(Append(whole, part).error().code, Code::kDataLoss);
}

}  // namespace
}  // namespace lowtide
