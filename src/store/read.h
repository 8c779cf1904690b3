// Rows to records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/records.h"
#include "store/sqlite.h"

namespace lowtide {

// A run's row, with its row number.
struct RunRow {
  std::int64_t key = 0;
  RunData data;
};

// A time in Unix milliseconds; one that a damaged file may hold is brought within 1970 to 9999.
TimePoint ReadTime(const sqlite::Query& query, int column);

// Newest first; filtered by `name` when not empty.
Result<std::vector<RunRow>> ReadRuns(sqlite::Database& db, std::string_view name,
                                     std::size_t limit);
// kNotFound, kInvalidArgument (ambiguous prefix).
Result<RunRow> FindRun(sqlite::Database& db, std::string_view id);

Result<std::vector<ComponentRecord>> ReadComponents(sqlite::Database& db, std::int64_t run);
Result<std::vector<SampleRecord>> ReadSamples(sqlite::Database& db, std::int64_t run);
Result<std::vector<EpochRecord>> ReadEpochs(sqlite::Database& db, std::int64_t run);
Result<std::vector<DecisionRecord>> ReadDecisions(sqlite::Database& db, std::int64_t run);
Result<std::vector<IntensityRecord>> ReadIntensity(sqlite::Database& db, std::int64_t run);
Result<std::vector<EventRecord>> ReadEvents(sqlite::Database& db, std::int64_t run);
Result<std::vector<CurvePointRecord>> ReadCurve(sqlite::Database& db, std::int64_t run);

}  // namespace lowtide
