// Faults that users of other tools have reported about what is made of the providers' answers, one
// test for each class, named after the first report; those of the answers themselves are in
// providers/bug_classes_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "grid/plausibility.h"
#include "grid/provider_for_tests.h"
#include "grid/provider_source.h"
#include "grid/source_chain.h"
#include "grid/sources/constant_source.h"
#include "grid/sources/trace_source.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

const TimePoint kNow = *ParseTime("2026-11-30T12:10:00Z");

class SourceBugClass : public testing::Test {
 protected:
  SourceBugClass() {
    char pattern[] = "/tmp/lowtide-grid-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    cache_ = *IntensityCache::Open(folder_ / "lowtide.db");
  }
  ~SourceBugClass() override {
    cache_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::unique_ptr<ProviderSource> Make(const std::string& name, TestProvider*& provider) {
    auto made = std::make_unique<TestProvider>(name);
    provider = made.get();
    return std::make_unique<ProviderSource>(std::move(made), Zone{"DE"}, cache_.get(), clock_);
  }
  TimePoint Now() const { return clock_.Now(); }

  std::filesystem::path folder_;
  std::unique_ptr<IntensityCache> cache_;
  SimulatedClock clock_{kNow};
};

// A zone at 400 g/kWh whose newest value reads 45 every now and then.
TEST_F(SourceBugClass, N_HomeAssistant150676_AFlappingValueIsNotFollowed) {
  TestProvider* provider = nullptr;
  const auto source = Make("a", provider);
  bool flaps = false;
  provider->value = [&](TimePoint t) { return flaps && t >= kNow - 10min ? 45.0 : 400.0; };
  ASSERT_EQ(source->Latest(Now())->slot.value, GramsPerKwh(400));
  for (int round = 0; round < 3; ++round) {
    flaps = true;
    clock_.Advance(Seconds(31 * 60));
    provider->value = [&, now = std::chrono::floor<std::chrono::hours>(Now())](TimePoint t) {
      return flaps && t >= now ? 45.0 : 400.0;
    };
    const auto reading = source->Latest(Now());
    EXPECT_FALSE(reading) << reading->slot.value.v;
    EXPECT_THAT(source->TakeNotices(), Contains(HasSubstr("45 g/kWh")));
    // Everything before it stands.
    EXPECT_EQ(source->History(Now() - 6h, Now(), Now())->slots.back().value, GramsPerKwh(400));
    flaps = false;
    clock_.Advance(Seconds(31 * 60));
    EXPECT_EQ(source->Latest(Now())->slot.value, GramsPerKwh(400));
  }
}

TEST_F(SourceBugClass, N_HomeAssistant150676_AFallThatIsSaidAgainIsBelieved) {
  TestProvider* provider = nullptr;
  const auto source = Make("a", provider);
  provider->value = [](TimePoint t) { return t >= kNow - 10min ? 45.0 : 400.0; };
  EXPECT_FALSE(source->Latest(Now()));
  clock_.Advance(Seconds(31 * 60));
  const auto reading = source->Latest(Now());
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->slot.value, GramsPerKwh(45));
}

TEST_F(SourceBugClass, N_HomeAssistant150676_TheMarginalIntensityMayJump) {
  TestProvider* provider = nullptr;
  auto made = std::make_unique<TestProvider>("a");
  provider = made.get();
  provider->abilities.signal = Signal::kMarginal;
  provider->value = [](TimePoint t) { return t >= kNow - 10min ? 1.0 : 900.0; };
  const ProviderSource source(std::move(made), Zone{"DE"}, cache_.get(), clock_);
  const auto reading = source.Latest(Now());
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->slot.value, GramsPerKwh(1));
}

TEST(Plausibility, ADayLikeTheOneBeforeIsNoDoubt) {
  EXPECT_TRUE(IsDoubtful(GramsPerKwh(45), GramsPerKwh(400), GramsPerKwh(390)));
  EXPECT_FALSE(IsDoubtful(GramsPerKwh(45), GramsPerKwh(400), GramsPerKwh(60)));  // the sun rises
  EXPECT_TRUE(IsDoubtful(GramsPerKwh(45), GramsPerKwh(400), std::nullopt));
  EXPECT_TRUE(IsDoubtful(GramsPerKwh(1300), GramsPerKwh(400), GramsPerKwh(390)));
  EXPECT_FALSE(IsDoubtful(GramsPerKwh(5), GramsPerKwh(40), GramsPerKwh(40)));  // a clean grid
  EXPECT_FALSE(IsDoubtful(GramsPerKwh(45), std::nullopt, std::nullopt));
}

// What the header says of the bundled traces.
TEST(Plausibility, NoHourOfTheBundledTracesIsDoubtful) {
  for (const char* name : {"CISO", "PJM", "ERCO"}) {
    for (const char* column : {"ci_direct", "ci_lifecycle"}) {
      const auto trace =
          TraceSource::Open(std::string("data/traces/") + name + ".csv:" + column, Zone{});
      ASSERT_TRUE(trace) << trace.error().message;
      const auto& slots = (*trace)->Recorded().slots;
      ASSERT_GT(slots.size(), 9000U);
      for (std::size_t i = 24; i < slots.size(); ++i) {
        EXPECT_FALSE(IsDoubtful(slots[i].value, slots[i - 1].value, slots[i - 24].value))
            << name << " " << FormatTime(slots[i].from);
      }
    }
  }
}

// No cache, no backoff, and nobody could see which provider gave the number.
TEST_F(SourceBugClass, Q_Codecarbon1354_CacheBackoffAndWhoAnsweredAreSeen) {
  TestProvider* first = nullptr;
  TestProvider* second = nullptr;
  std::vector<ChainLink> links;
  links.push_back({"first", Make("first", first)});
  links.push_back({"second", Make("second", second)});
  const auto chain = *SourceChain::Make(std::move(links));
  first->error = Error{Code::kUnavailable, "first: out of its quota (429)"};
  for (int s = 0; s < 300; ++s) {
    ASSERT_EQ(chain->Latest(Now())->origin.source, "second");
    clock_.Advance(Seconds(1));
  }
  EXPECT_LE(first->asked, 5);   // once a minute
  EXPECT_EQ(second->asked, 1);  // from what is kept
  EXPECT_THAT(
      chain->TakeNotices(),
      testing::ElementsAre("carbon intensity now from second (first: out of its quota (429))"));
}

// The value of a US zone came a day late, and that of Ireland was an estimate that was far off:
// neither was said.
TEST_F(SourceBugClass, S_HomeAssistant53982_ALateValueHasItsOwnTime) {
  TestProvider* provider = nullptr;
  std::vector<ChainLink> links;
  links.push_back({"late", Make("late", provider)});
  const auto chain = *SourceChain::Make(std::move(links));
  provider->value = [](TimePoint t) { return t < kNow - 5h ? std::optional(310.0) : std::nullopt; };
  ASSERT_TRUE(chain->History(Now() - 24h, Now(), Now()));
  const auto reading = chain->Latest(Now());
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->slot.to, *ParseTime("2026-11-30T08:00:00Z"));  // not now
}

// A key was accepted and a constant of the world was used all the same.
TEST_F(SourceBugClass, P_Carbontracker92_AStaticDefaultIsCalledOne) {
  TestProvider* provider = nullptr;
  std::vector<ChainLink> links;
  links.push_back({"a", Make("a", provider)});
  provider->error = Error{Code::kPermissionDenied, "a: the key is not accepted (401)"};
  links.push_back({"yearly",
                   std::make_unique<ConstantSource>(
                       IntensityOrigin{"yearly:DEU:2023", Zone{"DE"}, Signal::kAverage,
                                       Basis::kLifecycle, IntensityKind::kYearlyAverage},
                       GramsPerKwh(381)),
                   true});
  const auto chain = *SourceChain::Make(std::move(links));
  for (int i = 0; i < 10; ++i) {
    const auto reading = chain->Latest(Now());
    ASSERT_TRUE(reading);
    EXPECT_EQ(reading->origin.kind, IntensityKind::kYearlyAverage);
  }
  EXPECT_THAT(chain->TakeNotices(), testing::ElementsAre(HasSubstr("401")));  // once
  EXPECT_THAT(chain->TakeNotices(), IsEmpty());
}

}  // namespace
}  // namespace lowtide
