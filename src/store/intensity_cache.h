// Intensities that providers have given, kept so that nobody is asked twice and so that there is
// something when nobody answers. In the same file as the runs.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"

namespace lowtide {

namespace sqlite {
class Database;
}

// One series. All are names as in a report: "electricity_maps", "DE", "average", "lifecycle".
struct CachedSeries {
  std::string provider;
  std::string zone;
  std::string signal;
  std::string basis;
  bool forecast = false;
  bool operator==(const CachedSeries&) const = default;
};

struct CachedSlot {
  TimePoint from;
  TimePoint to;
  GramsPerKwh value;
  bool estimated = false;
  TimePoint fetched_at;
  std::optional<TimePoint> issued_at;  // of a forecast
};

// Thread-safe. Several processes may have it open.
class IntensityCache {
 public:
  // Errors as Store::Open.
  static Result<std::unique_ptr<IntensityCache>> Open(
      const std::filesystem::path& path,
      std::chrono::milliseconds patience = std::chrono::milliseconds(2000));
  ~IntensityCache();

  // What a provider said when it was asked for [asked_from, asked_to) at `fetched_at`. Replaces
  // what was kept of that stretch (of a forecast: of the same issue), because a later answer
  // revises an earlier one.
  Status Put(const CachedSeries& series, const std::vector<CachedSlot>& slots, TimePoint asked_from,
             TimePoint asked_to, TimePoint fetched_at);

  // Slots that touch [from, to), ascending. Of forecasts: the newest one issued at or before
  // `as_of`.
  Result<std::vector<CachedSlot>> Slots(const CachedSeries& series, TimePoint from, TimePoint to,
                                        TimePoint as_of);

  // When the forecasts that are kept were issued, in [from, to), ascending.
  Result<std::vector<TimePoint>> Issues(const CachedSeries& series, TimePoint from, TimePoint to);

  // When the whole of [from, to) was last asked for (the oldest of its parts); nothing when some of
  // it never was. Tells a gap that the provider has from a stretch nobody has asked for.
  Result<std::optional<TimePoint>> AskedAt(const CachedSeries& series, TimePoint from,
                                           TimePoint to);

  // Forgets slots that ended before `history`, and forecasts issued before `forecasts`.
  Status Prune(TimePoint history, TimePoint forecasts);

 private:
  explicit IntensityCache(std::unique_ptr<sqlite::Database> db);
  Result<std::optional<std::int64_t>> KeyOf(const CachedSeries& series);

  std::mutex mutex_;
  std::unique_ptr<sqlite::Database> db_;
};

}  // namespace lowtide
