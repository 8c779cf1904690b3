// The rows of one update. Callers hold a transaction.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "store/records.h"
#include "store/sqlite.h"

namespace lowtide {

// A run's row number, and up to where (Unix seconds) its samples are minutes.
struct RunKey {
  std::int64_t key = 0;
  std::int64_t compacted_until = 0;
};

inline constexpr std::int32_t kMinuteSpan = 60;
// The start of the minute that holds `unix_s`; times before 1970 are not of our writing.
constexpr std::int64_t MinuteOf(std::int64_t unix_s) { return unix_s - unix_s % kMinuteSpan; }

Status WriteComponents(sqlite::Database& db, const RunKey& run,
                       const std::vector<ComponentRecord>& components);
Status WriteSamples(sqlite::Database& db, const RunKey& run,
                    const std::vector<SampleRecord>& samples);
Status WriteEpochs(sqlite::Database& db, const RunKey& run, const std::vector<EpochRecord>& epochs);
Status WriteDecisions(sqlite::Database& db, const RunKey& run,
                      const std::vector<DecisionRecord>& decisions);
Status WriteIntensity(sqlite::Database& db, const RunKey& run,
                      const std::vector<IntensityRecord>& intensity);
Status WriteEvents(sqlite::Database& db, const RunKey& run, const std::vector<EventRecord>& events);
Status WriteCurve(sqlite::Database& db, const RunKey& run,
                  const std::vector<CurvePointRecord>& curve);
Status WriteTotals(sqlite::Database& db, const RunKey& run, const TotalsRecord& totals);

}  // namespace lowtide
