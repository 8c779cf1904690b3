#include "grid/source_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "grid/background_source.h"
#include "grid/provider_for_tests.h"
#include "grid/provider_source.h"
#include "grid/sources/constant_source.h"

namespace lowtide {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const TimePoint kNoon = *ParseTime("2026-11-30T12:30:00Z");
TimePoint H(double hours) { return kNoon + ToMilliseconds(Seconds(3600 * hours)); }

class Folder {
 public:
  Folder() {
    char pattern[] = "/tmp/lowtide-grid-XXXXXX";
    path_ = ::mkdtemp(pattern);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path Database() const { return path_ / "lowtide.db"; }

 private:
  std::filesystem::path path_;
};

class SourceTest : public testing::Test {
 protected:
  SourceTest() : cache_(*IntensityCache::Open(folder_.Database())) {}

  std::unique_ptr<ProviderSource> Make(const std::string& name, TestProvider*& provider) {
    auto made = std::make_unique<TestProvider>(name);
    provider = made.get();
    return std::make_unique<ProviderSource>(std::move(made), Zone{"DE"}, cache_.get(), clock_);
  }
  static Error Down(const std::string& name) { return {Code::kUnavailable, name + ": is down"}; }

  Folder folder_;
  SimulatedClock clock_{kNoon};
  std::unique_ptr<IntensityCache> cache_;
};

TEST_F(SourceTest, AProviderIsAskedAgainOnlyWhenItsAnswerHasGrownOld) {
  TestProvider* provider = nullptr;
  const auto source = Make("a", provider);
  ASSERT_THAT(source->History(H(-24), H(0), H(0))->slots, SizeIs(25));
  EXPECT_EQ(provider->asked, 1);
  // Every second for 29 minutes, the whole day and its end.
  for (int s = 0; s < 29 * 60; s += 60) {
    ASSERT_TRUE(source->History(H(-24), H(s / 3600.0), H(s / 3600.0)));
    ASSERT_THAT(source->History(H(s / 3600.0 - 0.001), H(s / 3600.0), H(s / 3600.0))->slots,
                SizeIs(1));
  }
  EXPECT_EQ(provider->asked, 1);
  ASSERT_TRUE(source->History(H(-24), H(0.6), H(0.6)));
  EXPECT_EQ(provider->asked, 2);
}

TEST_F(SourceTest, WhatHasSettledIsNeverAskedForAgain) {
  TestProvider* provider = nullptr;
  const auto source = Make("a", provider);
  ASSERT_TRUE(source->History(H(-100), H(-60), H(0)));
  ASSERT_TRUE(source->History(H(-100), H(-60), H(5000)));
  ASSERT_TRUE(source->History(H(-90), H(-70), H(5000)));
  EXPECT_EQ(provider->asked, 1);
}

TEST_F(SourceTest, TheLastHoursAreAskedForWithoutTheMonthsBeforeThem) {
  TestProvider* provider = nullptr;
  const auto source = Make("a", provider);
  provider->value = [](TimePoint t) {
    return static_cast<double>((t - H(-3000)) / std::chrono::hours(1));
  };
  const auto first = source->History(H(-2400), H(0), H(0));
  ASSERT_TRUE(first);
  // A day later: the two days that may have been revised, and what is new.
  std::optional<TimePoint> asked_from;
  provider->value = [&](TimePoint t) {
    if (!asked_from) asked_from = t;
    return static_cast<double>((t - H(-3000)) / std::chrono::hours(1));
  };
  const auto later = source->History(H(-2376), H(24), H(24));
  ASSERT_TRUE(later);
  // What was asked for a day ago reaches to then; the settled part ends two days before now.
  EXPECT_EQ(*asked_from, std::chrono::floor<std::chrono::hours>(H(24 - 48)));
  ASSERT_EQ(later->slots.size(), first->slots.size());
  EXPECT_EQ(MeanOver(later->slots, H(-2376), H(24)).coverage, 1);
}

TEST_F(SourceTest, ForecastsAreKeptAsTheyWereIssued) {
  TestProvider* provider = nullptr;
  const auto source = Make("a", provider);
  for (const double level : {100.0, 200.0, 300.0}) {
    provider->value = [=](TimePoint) { return level; };
    ASSERT_TRUE(
        source->Forecast(clock_.Now(), clock_.Now() + std::chrono::hours(24), clock_.Now()));
    clock_.Advance(Seconds(3600));
  }
  const auto issued = source->IssuedForecasts(H(0.5), H(3), clock_.Now());
  ASSERT_TRUE(issued);
  ASSERT_THAT(*issued, SizeIs(2));
  EXPECT_EQ(issued->front().issued_at, H(1));
  EXPECT_EQ(issued->front().origin.kind, IntensityKind::kForecast);
  EXPECT_EQ(issued->front().slots.front().value, GramsPerKwh(200));
  EXPECT_EQ(issued->back().issued_at, H(2));
  EXPECT_EQ(issued->back().slots.back().value, GramsPerKwh(300));
}

TEST_F(SourceTest, AGapIsAskedForOnceAndStaysAGap) {
  TestProvider* provider = nullptr;
  const auto source = Make("a", provider);
  provider->value = [](TimePoint t) {
    return t == *ParseTime("2026-11-30T10:00:00Z") ? std::nullopt : std::optional(50.0);
  };
  EXPECT_THAT(source->History(H(-5), H(0), H(0))->slots, SizeIs(5));
  EXPECT_THAT(source->History(H(-5), H(0), H(0))->slots, SizeIs(5));
  EXPECT_EQ(provider->asked, 1);
}

TEST_F(SourceTest, NothingThatStartsAfterNowIsHistory) {
  TestProvider* provider = nullptr;
  const auto source = Make("a", provider);
  const auto series = source->History(H(-2), H(10), H(0));
  ASSERT_TRUE(series);
  EXPECT_LE(series->slots.back().from, H(0));
}

TEST_F(SourceTest, AFailureIsRememberedForAMinute) {
  TestProvider* provider = nullptr;
  const auto source = Make("a", provider);
  provider->error = Down("a");
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(source->History(H(-1), H(0), H(0)));
  EXPECT_EQ(provider->asked, 1);
  clock_.Advance(Seconds(61));
  provider->error.reset();
  EXPECT_TRUE(source->History(H(-1), H(0), H(0)));
}

TEST_F(SourceTest, AnAnswerWithAnotherSignalIsRefused) {
  TestProvider* provider = nullptr;
  const auto source = Make("a", provider);
  provider->abilities.signal = Signal::kMarginal;  // after the source was told "average"
  const auto series = source->History(H(-1), H(0), H(0));
  ASSERT_FALSE(series);
  EXPECT_THAT(series.error().message, HasSubstr("marginal"));
}

class ChainTest : public SourceTest {
 protected:
  ChainTest() {
    std::vector<ChainLink> links;
    for (auto*& provider : providers_) {
      const std::string name(1, static_cast<char>('a' + links.size()));
      links.push_back({name, Make(name, provider), false});
      provider->value = [n = links.size()](TimePoint) { return 100.0 * static_cast<double>(n); };
    }
    IntensityOrigin yearly{"yearly:DEU:2023", Zone{"DE"}, Signal::kAverage, Basis::kLifecycle,
                           IntensityKind::kYearlyAverage};
    links.push_back({"yearly", std::make_unique<ConstantSource>(yearly, GramsPerKwh(381)), true});
    chain_ = *SourceChain::Make(std::move(links));
  }
  double Value(double hour) {
    const auto series = chain_->History(H(hour - 0.01), H(hour), H(hour));
    return series ? series->slots.back().value.v : -1;
  }
  TestProvider* providers_[3] = {};
  std::unique_ptr<SourceChain> chain_;
};

TEST_F(ChainTest, TheFirstThatAnswersCountsAndEveryChangeIsTold) {
  EXPECT_EQ(Value(0), 100);
  EXPECT_THAT(chain_->TakeNotices(), IsEmpty());
  // The plug is pulled from one after the other.
  providers_[0]->error = Down("a");
  clock_.Advance(Seconds(3600));
  EXPECT_EQ(Value(1), 200);
  auto notices = chain_->TakeNotices();
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_EQ(notices[0], "carbon intensity now from b, before from a (a: is down)");
  providers_[1]->error = Down("b");
  clock_.Advance(Seconds(3600));
  EXPECT_EQ(Value(2), 300);
  providers_[2]->error = Down("c");
  clock_.Advance(Seconds(1800));
  chain_->TakeNotices();
  // Still inside the hour that c gave: what was kept, before a yearly average.
  EXPECT_EQ(Value(2.4), 300);
  clock_.Advance(Seconds(7200));
  EXPECT_EQ(Value(5), 381);
  notices = chain_->TakeNotices();
  ASSERT_FALSE(notices.empty());
  EXPECT_THAT(notices.back(), HasSubstr("now from yearly"));
  EXPECT_THAT(notices.back(), HasSubstr("a: is down; b: is down; c: is down"));
  // And it comes back.
  providers_[0]->error.reset();
  clock_.Advance(Seconds(61));
  EXPECT_EQ(Value(5.1), 100);
  EXPECT_THAT(chain_->TakeNotices().back(), HasSubstr("now from a, before from yearly"));
}

TEST_F(ChainTest, NoStormFollowsAFailure) {
  for (auto* provider : providers_) provider->error = Down("x");
  for (int s = 0; s < 600; ++s) {
    Value(s / 3600.0);
    clock_.Advance(Seconds(1));
  }
  for (auto* provider : providers_) EXPECT_LE(provider->asked, 10);
}

TEST_F(ChainTest, AnswersSayWhoTheyAreFrom) {
  providers_[0]->error = Down("a");
  const auto series = chain_->History(H(-1), H(0), H(0));
  EXPECT_EQ(series->origin.source, "b");
  EXPECT_EQ(series->origin.kind, IntensityKind::kMeasured);
  for (auto* provider : providers_) provider->error = Down("x");
  const auto yearly = chain_->Latest(H(48));
  ASSERT_TRUE(yearly);
  EXPECT_EQ(yearly->origin.kind, IntensityKind::kYearlyAverage);
}

TEST_F(ChainTest, AnotherSignalIsPassedOver) {
  std::vector<ChainLink> links;
  TestProvider* average = nullptr;
  int marginal_asked = 0;
  links.push_back({"electricity_maps", Make("electricity_maps", average), false});
  auto moer = std::make_unique<TestProvider>("watttime");
  moer->asked_outside = &marginal_asked;
  moer->abilities.signal = Signal::kMarginal;
  links.push_back(
      {"watttime",
       std::make_unique<ProviderSource>(std::move(moer), Zone{"DE"}, cache_.get(), clock_), false});
  const auto chain = *SourceChain::Make(std::move(links));
  average->error = Down("electricity_maps");
  const auto series = chain->History(H(-1), H(0), H(0));
  ASSERT_FALSE(series) << "rather nothing than the other signal";
  EXPECT_EQ(marginal_asked, 0);
  const auto notices = chain->TakeNotices();
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_THAT(notices[0], HasSubstr("watttime is passed over: it gives the marginal intensity"));
}

TEST_F(ChainTest, ForecastsFallBackToo) {
  providers_[0]->abilities.forecast = false;
  const auto series = chain_->Forecast(H(0), H(24), H(0));
  ASSERT_TRUE(series);
  EXPECT_EQ(series->origin.source, "b");
  EXPECT_EQ(series->origin.kind, IntensityKind::kForecast);
  EXPECT_THAT(chain_->TakeNotices(), IsEmpty()) << "having none is no failure";
}

TEST_F(SourceTest, TheBackgroundAsksOnceForMoreThatIsKept) {
  TestProvider* provider = nullptr;
  const auto source = Make("a", provider);
  const BackgroundSource background(
      *source, clock_, {.lookback = Seconds(3600), .kept_lookback = Seconds(240 * 3600)});
  ASSERT_TRUE(background.WaitForFirst(Seconds(5)));
  EXPECT_THAT(background.History(H(-240), H(0), H(0))->slots, SizeIs(testing::Le(2)));
  EXPECT_THAT(background.Kept(H(-240), H(0), H(0))->slots, SizeIs(241));
  const auto known = KnownHistory(background, H(-240), H(-240), H(0), H(0));
  ASSERT_TRUE(known);
  EXPECT_THAT(*known, SizeIs(241));
  EXPECT_TRUE(IsWellFormed(*known));
}

TEST_F(SourceTest, ANewHourIsAskedForBeforeTheOldAnswerHasGrownOld) {
  TestProvider* provider = nullptr;
  const auto source = Make("a", provider);
  clock_.Advance(Seconds(25 * 60));  // 12:55
  ASSERT_TRUE(source->Latest(clock_.Now()));
  clock_.Advance(Seconds(10 * 60));  // 13:05
  EXPECT_TRUE(source->Latest(clock_.Now()));
  EXPECT_EQ(provider->asked, 2);
  // One that has nothing of it yet is not asked at every look.
  provider->value = [](TimePoint t) { return t < H(0) ? std::optional(100.0) : std::nullopt; };
  clock_.Advance(Seconds(3600));
  for (int s = 0; s < 600; s += 10) {
    EXPECT_FALSE(source->Latest(clock_.Now()));
    clock_.Advance(Seconds(10));
  }
  EXPECT_LE(provider->asked, 5);
}

TEST_F(SourceTest, AnotherServersAnswersAreKeptApart) {
  TestProvider* provider = nullptr;
  const auto real = Make("a", provider);
  ASSERT_TRUE(real->History(H(-5), H(0), H(0)));
  const ProviderSource other(std::make_unique<TestProvider>("a"), Zone{"DE"}, cache_.get(), clock_,
                             {}, "a@http://127.0.0.1:1");
  EXPECT_EQ(other.Origin().source, "a");
  EXPECT_THAT(other.Kept(H(-5), H(0), H(0))->slots, IsEmpty());
  EXPECT_THAT(real->Kept(H(-5), H(0), H(0))->slots, testing::Not(IsEmpty()));
}

// Entsoe and others tell of an hour an hour or two later: that is their way, not a failure.
TEST_F(ChainTest, OneThatIsLateAsEverHasNotFailed) {
  for (TestProvider* provider : providers_) {
    provider->value = [](TimePoint t) { return t < H(-2) ? std::optional(210.0) : std::nullopt; };
    provider->abilities.forecast = false;
  }
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(chain_->History(H(-48), H(0), H(0)));
    const auto reading = chain_->Latest(H(0));
    ASSERT_TRUE(reading);
    EXPECT_EQ(reading->origin.source, "a");
    EXPECT_LT(reading->slot.to, H(-1));              // and it says so
    ASSERT_TRUE(chain_->History(H(0), H(3), H(0)));  // the yearly average
  }
  EXPECT_THAT(chain_->TakeNotices(), IsEmpty());
}

TEST_F(ChainTest, ALateSourceSaysThePresentByItsForecast) {
  providers_[0]->value = [](TimePoint t) {
    return t < H(-2) ? std::optional(210.0) : std::nullopt;
  };
  providers_[0]->forecast_value = [](TimePoint) { return 190.0; };
  const auto reading = chain_->Latest(H(0));
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->origin.source, "a");
  EXPECT_EQ(reading->origin.kind, IntensityKind::kForecast);
  EXPECT_EQ(reading->slot.value, GramsPerKwh(190));
  EXPECT_THAT(chain_->TakeNotices(), IsEmpty());
}

TEST_F(SourceTest, AChangeOfBasisIsTold) {
  auto direct = std::make_unique<TestProvider>("direct");
  direct->abilities.basis = Basis::kDirect;
  TestProvider* lifecycle = nullptr;
  std::vector<ChainLink> links;
  links.push_back({"lifecycle", Make("lifecycle", lifecycle)});
  links.push_back({"direct", std::make_unique<ProviderSource>(std::move(direct), Zone{"DE"},
                                                              cache_.get(), clock_)});
  const auto chain = *SourceChain::Make(std::move(links));
  ASSERT_TRUE(chain->Latest(clock_.Now()));
  lifecycle->error = Down("lifecycle");
  clock_.Advance(Seconds(3600));
  ASSERT_TRUE(chain->Latest(clock_.Now()));
  EXPECT_THAT(chain->TakeNotices(),
              testing::ElementsAre("carbon intensity now from direct, before from lifecycle; its "
                                   "basis is direct, before lifecycle (lifecycle: is down)"));
}

TEST_F(ChainTest, TheBackgroundAnswersWithoutAsking) {
  RealClock real;
  for (auto* provider : providers_) provider->asked = 0;
  const BackgroundSource background(*chain_, real);
  ASSERT_TRUE(background.WaitForFirst(Seconds(10)));
  const TimePoint now = real.Now();
  for (int i = 0; i < 1000; ++i) {
    const auto series = background.History(now - std::chrono::seconds(1), now, now);
    ASSERT_TRUE(series) << series.error().message;
    ASSERT_THAT(series->slots, testing::Not(IsEmpty()));
    ASSERT_THAT(background.Forecast(now, now + std::chrono::hours(3), now)->slots,
                testing::Not(IsEmpty()));
  }
  EXPECT_EQ(providers_[0]->asked, 1);
  EXPECT_EQ(background.Latest(now)->slot.value, GramsPerKwh(100));
}

}  // namespace
}  // namespace lowtide
