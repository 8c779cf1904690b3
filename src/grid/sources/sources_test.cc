#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "grid/sources/constant_source.h"
#include "grid/sources/no_source.h"
#include "grid/sources/trace_source.h"
#include "grid/sources/yearly_source.h"

namespace lowtide {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

TimePoint At(std::string_view text) { return *ParseTime(text); }
const TimePoint kNoon = At("2022-07-01T12:00Z");

std::unique_ptr<TraceSource> Erco() {
  auto source = TraceSource::Open("data/traces/ERCO.csv:ci_lifecycle", Zone{"US-TEX-ERCO"});
  EXPECT_TRUE(source) << source.error().message;
  return *std::move(source);
}

TEST(TraceSourceTest, HistoryHasTheSlotsThatTouchTheInterval) {
  const auto source = Erco();
  const auto history = source->History(kNoon - 90min, kNoon, kNoon + 24h);
  ASSERT_TRUE(history);
  ASSERT_EQ(history->slots.size(), 2U);
  EXPECT_EQ(history->slots[0].from, kNoon - 2h);
  EXPECT_EQ(history->slots[0].value, GramsPerKwh(325.43));
  EXPECT_EQ(history->slots[1].value, GramsPerKwh(341.88));
  EXPECT_TRUE(source->History(kNoon, kNoon, kNoon)->slots.empty());
}

TEST(TraceSourceTest, HistoryShowsNothingThatStartsAfterNow) {
  const auto source = Erco();
  const auto history = source->History(kNoon - 2h, kNoon + 24h, kNoon + 30min);
  ASSERT_EQ(history->slots.size(), 3U);
  EXPECT_EQ(history->slots.back().from, kNoon);
  EXPECT_TRUE(source->History(kNoon + 1h, kNoon + 24h, kNoon + 30min)->slots.empty());
}

TEST(TraceSourceTest, LatestIsTheSlotOfNowOrNotFound) {
  const auto source = Erco();
  const auto latest = source->Latest(kNoon + 59min);
  ASSERT_TRUE(latest);
  EXPECT_EQ(latest->slot.value, GramsPerKwh(360.09));
  EXPECT_EQ(latest->origin.source, "trace:ERCO.csv:ci_lifecycle");
  const auto after = source->Latest(At("2023-01-01T00:00Z"));
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, Code::kNotFound);
  EXPECT_THAT(after.error().message,
              AllOf(HasSubstr("ERCO.csv"), HasSubstr("2021-11-01"), HasSubstr("2023-01-01")));
  EXPECT_EQ(source->Forecast(kNoon, kNoon + 1h, kNoon).error().code, Code::kUnimplemented);
}

TEST(TraceSourceTest, AMissingFileIsNotFound) {
  const auto source = TraceSource::Open("data/traces/none.csv", Zone{});
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, Code::kNotFound);
  EXPECT_THAT(source.error().message, HasSubstr("none.csv"));
}

TEST(ConstantSourceTest, HoldsAtAllTimesButShowsNoHistoryOfTheFuture) {
  IntensityOrigin origin;
  origin.kind = IntensityKind::kConstant;
  const ConstantSource source(origin, GramsPerKwh(400));
  EXPECT_EQ(source.History(kNoon, kNoon + 1h, kNoon)->slots.size(), 1U);
  EXPECT_TRUE(source.History(kNoon + 1h, kNoon + 2h, kNoon)->slots.empty());
  const auto latest = source.Latest(kNoon);
  EXPECT_EQ(latest->slot.value, GramsPerKwh(400));
  EXPECT_EQ(latest->slot.from, At("2022-07-01T00:00Z"));
  EXPECT_EQ(latest->slot.to, At("2022-07-02T00:00Z"));
  const auto forecast = source.Forecast(kNoon + 1h, kNoon + 3h, kNoon);
  ASSERT_EQ(forecast->slots.size(), 1U);
  EXPECT_EQ(forecast->slots[0].from, kNoon + 1h);
  EXPECT_EQ(forecast->slots[0].to, kNoon + 3h);
}

TEST(NoSourceTest, AnswersWithItsReason) {
  const NoSource source(Zone{"DE"}, "because");
  EXPECT_TRUE(source.History(kNoon, kNoon + 1h, kNoon)->slots.empty());
  EXPECT_EQ(source.Latest(kNoon).error().message, "because");
  EXPECT_EQ(source.Forecast(kNoon, kNoon + 1h, kNoon).error().message, "because");
}

class YearlyTest : public ::testing::Test {
 protected:
  static YearlyTable Bundled() {
    auto table = YearlyTable::Parse(*ReadFile("data/grid/countries.csv"),
                                    *ReadFile("data/grid/yearly_intensity.csv"));
    EXPECT_TRUE(table) << table.error().message;
    return *std::move(table);
  }
  static std::string ErrorFor(std::string_view zone) {
    const auto source = Bundled().MakeSource(Zone{std::string(zone)});
    EXPECT_FALSE(source) << zone;
    EXPECT_EQ(source.error().code, Code::kNotFound);
    return source.error().message;
  }
  static std::string ParseError(std::string_view countries, std::string_view yearly) {
    const auto table = YearlyTable::Parse(countries, yearly);
    EXPECT_FALSE(table);
    EXPECT_EQ(table.error().code, Code::kInvalidArgument);
    return table.error().message;
  }
};

TEST_F(YearlyTest, HasEveryCountryOfItsSource) {
  const YearlyTable table = Bundled();
  ASSERT_EQ(table.Averages().size(), 213U);
  EXPECT_EQ(
      std::ranges::count_if(table.Averages(), [](const auto& a) { return a.value.has_value(); }),
      212);
  EXPECT_EQ(std::ranges::count(table.Averages(), 2023, &YearlyAverage::year), 78);
}

TEST_F(YearlyTest, NamesCountryYearAndSource) {
  const auto source = Bundled().MakeSource(Zone{"DE"});
  ASSERT_TRUE(source) << source.error().message;
  const IntensityOrigin& origin = (*source)->Origin();
  EXPECT_EQ(origin.source, "yearly:DEU:2023 (Our World in Data / Ember)");
  EXPECT_EQ(origin.kind, IntensityKind::kYearlyAverage);
  EXPECT_EQ(origin.basis, Basis::kLifecycle);
  EXPECT_EQ(origin.zone.key, "DE");
  EXPECT_EQ((*source)->Latest(kNoon)->slot.value, GramsPerKwh(380.95));
}

TEST_F(YearlyTest, APartOfACountryHasTheCountrysAverageAndSaysSo) {
  const auto source = Bundled().MakeSource(Zone{"US-CAL-CISO"});
  ASSERT_TRUE(source);
  EXPECT_THAT(
      (*source)->Origin().source,
      AllOf(HasSubstr("yearly:USA:2023"), HasSubstr("United States"), HasSubstr("US-CAL-CISO")));
  EXPECT_EQ((*source)->Latest(kNoon)->slot.value, GramsPerKwh(369.473));
}

TEST_F(YearlyTest, DoubtfulValuesCarryTheirDoubt) {
  EXPECT_THAT((*Bundled().MakeSource(Zone{"SH"}))->Origin().source, HasSubstr("coarse"));
  EXPECT_THAT((*Bundled().MakeSource(Zone{"TM"}))->Origin().source, HasSubstr("doubtful"));
}

TEST_F(YearlyTest, AZeroOfTheSourceIsMissingNotZero) {
  EXPECT_THAT(ErrorFor("CF"), AllOf(HasSubstr("Central African Republic"), HasSubstr("missing")));
}

TEST_F(YearlyTest, UnknownCountriesAreNeverReplaced) {
  EXPECT_THAT(ErrorFor("XK"), AllOf(HasSubstr("'XK'"), HasSubstr("lowtide zones")));
  EXPECT_LT(ErrorFor("XK").size(), 120U);
  EXPECT_THAT(ErrorFor("XK"), Not(HasSubstr(" CF ")));
  EXPECT_THAT(ErrorFor("DEU"), HasSubstr("zone key is 'DE'"));
  EXPECT_THAT(ErrorFor("SWI"), HasSubstr("'SWI'"));
}

TEST_F(YearlyTest, TableErrorsNameTableAndLine) {
  const std::string countries = "iso2,iso3,name\nDE,DEU,Germany\n";
  const std::string yearly = "iso3,g_per_kwh,year,note\n";
  EXPECT_THAT(ParseError("iso2,iso3\n", yearly), HasSubstr("'name'"));
  EXPECT_THAT(ParseError(countries + "d,FRA,France\n", yearly), HasSubstr("countries.csv:3"));
  EXPECT_THAT(ParseError(countries + "DE,FRA,France\n", yearly), HasSubstr("repeats line 2"));
  EXPECT_THAT(ParseError(countries + "FR,DEU,France\n", yearly), HasSubstr("twice"));
  EXPECT_THAT(ParseError(countries, yearly + "FRA,1,2022,\n"), HasSubstr("'FRA'"));
  EXPECT_THAT(ParseError(countries, yearly + "DEU,1,2022,\nDEU,1,2022,\n"),
              HasSubstr("yearly_intensity.csv:3"));
  EXPECT_THAT(ParseError(countries, yearly + "DEU,0,2022,\n"), HasSubstr("outside 0"));
  EXPECT_THAT(ParseError(countries, yearly + "DEU,nan,2022,\n"), HasSubstr("'nan'"));
  EXPECT_THAT(ParseError(countries, yearly + "DEU,1,22,\n"), HasSubstr("year"));
  EXPECT_THAT(ParseError(countries, yearly + "DEU,1,2022.5,\n"), HasSubstr("year"));
}

}  // namespace
}  // namespace lowtide
