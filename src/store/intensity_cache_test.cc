#include "store/intensity_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/schema.h"
#include "store/sqlite.h"
#include "store/store.h"
#include "store/store_test_data.h"

namespace lowtide {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const CachedSeries kHistory{"electricity_maps", "DE", "average", "lifecycle", false};
const CachedSeries kForecast{"electricity_maps", "DE", "average", "lifecycle", true};

TimePoint H(double hours) {
  return At("2026-11-30T00:00:00Z") + ToMilliseconds(Seconds(3600 * hours));
}

CachedSlot Slot(double from, double to, double value, std::optional<double> issued = {}) {
  CachedSlot slot{H(from), H(to), GramsPerKwh(value), false, {}, {}};
  if (issued) slot.issued_at = H(*issued);
  return slot;
}

class IntensityCacheTest : public testing::Test {
 protected:
  std::filesystem::path Path() const { return folder_.Path() / "lowtide.db"; }
  std::unique_ptr<IntensityCache> Open() {
    auto cache = IntensityCache::Open(Path());
    EXPECT_TRUE(cache) << cache.error().message;
    return *std::move(cache);
  }
  TemporaryFolder folder_;
};

TEST_F(IntensityCacheTest, KeepsSlotsAcrossProcesses) {
  ASSERT_TRUE(Open()->Put(kHistory, {Slot(0, 1, 300), Slot(1, 2, 310)}, H(0), H(2), H(2)));
  auto cache = Open();
  const auto slots = cache->Slots(kHistory, H(0.5), H(1.5), H(9));
  ASSERT_TRUE(slots);
  ASSERT_THAT(*slots, SizeIs(2));
  EXPECT_EQ((*slots)[0].value, GramsPerKwh(300));
  EXPECT_EQ((*slots)[1].fetched_at, H(2));
  EXPECT_THAT(*cache->Slots(kHistory, H(2), H(3), H(9)), IsEmpty());
}

TEST_F(IntensityCacheTest, SeriesNeverMix) {
  auto cache = Open();
  ASSERT_TRUE(cache->Put(kHistory, {Slot(0, 1, 300)}, H(0), H(1), H(1)));
  for (auto change : {0, 1, 2, 3, 4}) {
    CachedSeries other = kHistory;
    if (change == 0) other.provider = "watttime";
    if (change == 1) other.zone = "FR";
    if (change == 2) other.signal = "marginal";
    if (change == 3) other.basis = "direct";
    if (change == 4) other.forecast = true;
    EXPECT_THAT(*cache->Slots(other, H(0), H(1), H(9)), IsEmpty()) << change;
    EXPECT_FALSE(*cache->AskedAt(other, H(0), H(1))) << change;
  }
}

TEST_F(IntensityCacheTest, ALaterAnswerRevisesAnEarlierOneAndItsGapsAreGaps) {
  auto cache = Open();
  ASSERT_TRUE(
      cache->Put(kHistory, {Slot(0, 1, 300), Slot(1, 2, 310), Slot(2, 3, 320)}, H(0), H(3), H(3)));
  ASSERT_TRUE(cache->Put(kHistory, {Slot(0, 1, 299)}, H(0), H(2), H(4)));
  const auto slots = cache->Slots(kHistory, H(0), H(3), H(9));
  ASSERT_THAT(*slots, SizeIs(2));
  EXPECT_EQ((*slots)[0].value, GramsPerKwh(299));
  EXPECT_EQ((*slots)[1].value, GramsPerKwh(320));
}

TEST_F(IntensityCacheTest, SlotsOfAnotherLengthReplaceWhatTheyCover) {
  auto cache = Open();
  ASSERT_TRUE(cache->Put(kHistory, {Slot(0, 1, 300)}, H(0), H(1), H(1)));
  ASSERT_TRUE(cache->Put(kHistory, {Slot(0, 0.5, 280), Slot(0.5, 1, 320)}, H(0), H(1), H(2)));
  EXPECT_THAT(*cache->Slots(kHistory, H(0), H(1), H(9)), SizeIs(2));
}

TEST_F(IntensityCacheTest, TellsAGapFromWhatNobodyAskedFor) {
  auto cache = Open();
  ASSERT_TRUE(cache->Put(kHistory, {}, H(0), H(4), H(10)));
  ASSERT_TRUE(cache->Put(kHistory, {Slot(4, 5, 1)}, H(4), H(6), H(12)));
  ASSERT_TRUE(cache->Put(kHistory, {}, H(1), H(2), H(14)));
  EXPECT_EQ(*cache->AskedAt(kHistory, H(0), H(6)), H(10)) << "the oldest part counts";
  EXPECT_EQ(*cache->AskedAt(kHistory, H(1), H(2)), H(14));
  EXPECT_EQ(*cache->AskedAt(kHistory, H(4), H(6)), H(12));
  EXPECT_FALSE(*cache->AskedAt(kHistory, H(0), H(7)));
  EXPECT_FALSE(*cache->AskedAt(kHistory, H(-1), H(1)));
}

TEST_F(IntensityCacheTest, TheNewestForecastThatWasThereCounts) {
  auto cache = Open();
  ASSERT_TRUE(cache->Put(kForecast, {Slot(0, 1, 100, -1), Slot(1, 2, 110, -1)}, H(0), H(2), H(-1)));
  ASSERT_TRUE(cache->Put(kForecast, {Slot(1, 2, 150, 1)}, H(1), H(2), H(1)));
  EXPECT_EQ((*cache->Slots(kForecast, H(1), H(2), H(0.5)))[0].value, GramsPerKwh(110))
      << "nothing that was issued later";
  EXPECT_EQ((*cache->Slots(kForecast, H(1), H(2), H(3)))[0].value, GramsPerKwh(150));
  EXPECT_EQ((*cache->Slots(kForecast, H(1), H(2), H(3)))[0].issued_at, H(1));
  EXPECT_THAT(*cache->Slots(kForecast, H(1), H(2), H(-2)), IsEmpty());
}

TEST_F(IntensityCacheTest, PrunesWhatIsOld) {
  auto cache = Open();
  ASSERT_TRUE(cache->Put(kHistory, {Slot(0, 1, 1), Slot(9, 10, 2)}, H(0), H(10), H(10)));
  ASSERT_TRUE(cache->Put(kForecast, {Slot(0, 1, 3, -5), Slot(0, 1, 4, 2)}, H(0), H(1), H(2)));
  ASSERT_TRUE(cache->Prune(H(5), H(0)));
  EXPECT_THAT(*cache->Slots(kHistory, H(0), H(10), H(10)), SizeIs(1));
  EXPECT_THAT(*cache->Slots(kForecast, H(0), H(1), H(0)), IsEmpty());
  EXPECT_THAT(*cache->Slots(kForecast, H(0), H(1), H(2)), SizeIs(1));
}

TEST_F(IntensityCacheTest, AStoreOfSchema1IsBroughtUp) {
  {
    auto store = Store::Open(Path());
    ASSERT_TRUE(store);
    ASSERT_TRUE((*store)->BeginRun(SomeRun("01A")));
  }
  {
    auto db = sqlite::Database::Open(Path(), sqlite::Creation::kMustExist,
                                     std::chrono::milliseconds(100));
    ASSERT_TRUE(db);
    ASSERT_TRUE(
        (*db)->Exec("DROP TABLE grid_asked; DROP TABLE grid_slots; DROP TABLE grid_series; "
                    "PRAGMA user_version=1"));
  }
  ASSERT_TRUE(Open()->Put(kHistory, {Slot(0, 1, 300)}, H(0), H(1), H(1)));
  auto store = Store::Open(Path());
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_TRUE((*store)->LoadRun("01A"));
}

}  // namespace
}  // namespace lowtide
