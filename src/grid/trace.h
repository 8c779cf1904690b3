// Reads a grid trace: CSV text with a UTC time in the first column and one intensity series, in
// g/kWh, per further column.
//
//   LOWTIDE_TRY(const IntensitySeries series, ParseTrace(text, "ERCO.csv", "ci_lifecycle", zone));
//
// Times are RFC 3339, also with a space for the T, without seconds, or without an offset (then UTC
// is assumed). They must ascend strictly. A row holds from its time until the next row's, but for
// no longer than the file's usual step, which is the median of its steps (the lower one of two):
// what a longer step leaves over is a gap. The last row holds as long as the row before it.
// An empty cell, or NaN in any case, is a gap. Any other text than a number in [0, 5000] is an
// error, as is a row with more or fewer fields than the header.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "grid/intensity.h"

namespace lowtide {

// The two parts of --trace FILE[:COLUMN].
struct TraceArgument {
  std::string path;
  std::string column;  // empty: not given
};

// Splits at the last ':' behind the last '/'. kInvalidArgument when a part is empty. A file with a
// ':' in its own name must be given with a column.
Result<TraceArgument> SplitTraceArgument(std::string_view argument);

// Parses one column of `text`. `name` is the file's path, for messages, and its last part for
// the origin ("trace:<name>:<column>"). The column is `column` if that is not empty; else the one
// called as the zone; else the only one; else the error lists them. Signal, basis and kind follow
// the words of the column's name: direct, lifecycle, marginal (or moer), forecast, estimated.
// Errors: kInvalidArgument, naming file, line and column; kDataLoss when no row has a value.
Result<IntensitySeries> ParseTrace(std::string_view text, std::string_view name,
                                   std::string_view column, const Zone& zone);

}  // namespace lowtide
