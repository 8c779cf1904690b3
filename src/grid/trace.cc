#include "grid/trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/csv.h"

namespace lowtide {
namespace {

struct Row {
  TimePoint time;
  std::optional<GramsPerKwh> value;  // nothing in a gap
  std::size_t line = 0;
};

std::string_view Trim(std::string_view s) {
  constexpr std::string_view kSpace = " \t";
  const auto begin = s.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return s.substr(begin, s.find_last_not_of(kSpace) - begin + 1);
}

std::string Lower(std::string_view s) {
  std::string out(s);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool IsNan(std::string_view s) { return s.size() == 3 && Lower(s) == "nan"; }

Result<std::size_t> SeriesColumn(const CsvTable& table, std::string_view column) {
  LOWTIDE_TRY(const std::size_t index, table.Require(column));
  if (index == 0) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: column '{}' is the time, not a series", table.name, column));
  }
  return index;
}

Result<std::size_t> ChooseColumn(const CsvTable& table, std::string_view column, const Zone& zone) {
  if (table.header.size() < 2) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: no series; expected a time column and at least one more, "
                            "separated by commas",
                            table.name));
  }
  if (!column.empty()) return SeriesColumn(table, column);
  if (!zone.key.empty() && table.Find(zone.key)) return SeriesColumn(table, zone.key);
  if (table.header.size() == 2) return std::size_t{1};
  std::vector<std::string_view> names;
  for (std::size_t i = 1; i < table.header.size(); ++i) names.push_back(Trim(table.header[i]));
  const std::string none_so_called =
      zone.key.empty() ? "" : fmt::format(", and none is called '{}'", zone.key);
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: {} series{}; name one of them as {}:COLUMN: {}", table.name,
                          names.size(), none_so_called, table.name, fmt::join(names, ", ")));
}

// Collects the rows of one column.
class RowReader {
 public:
  RowReader(const CsvTable& table, std::size_t column) : table_(table), column_(column) {}

  std::size_t Column() const { return column_; }

  Status Add(std::size_t line, std::string_view time_cell, std::string_view value_cell) {
    const auto time = ParseTime(Trim(time_cell), Offset::kAssumeUtc);
    if (!time) return FailAt(line, 0, time.error().message);
    if (!rows_.empty() && *time <= rows_.back().time) {
      const Row& before = rows_.back();
      return FailAt(line, 0,
                    fmt::format("{} {} line {} ({}); times must ascend", FormatTime(*time),
                                *time == before.time ? "repeats" : "comes before", before.line,
                                FormatTime(before.time)));
    }
    Row row{*time, std::nullopt, line};
    const std::string_view cell = Trim(value_cell);
    if (!cell.empty() && !IsNan(cell)) {
      const auto number = ParseNumber(cell);
      if (!number || *number < 0 || *number > kHighestIntensity.v) {
        return FailAt(line, column_,
                      fmt::format("'{}' is not an intensity; allowed are 0 to {} g/kWh, and empty "
                                  "or NaN for a gap",
                                  cell.substr(0, 64), kHighestIntensity.v));
      }
      row.value = GramsPerKwh(*number);
    }
    rows_.push_back(row);
    return {};
  }

  const std::vector<Row>& Rows() const { return rows_; }

 private:
  std::unexpected<Error> FailAt(std::size_t line, std::size_t column, std::string_view what) const {
    return Fail(Code::kInvalidArgument, fmt::format("{}:{}: column '{}': {}", table_.name, line,
                                                    Trim(table_.header[column]), what));
  }

  const CsvTable& table_;
  std::size_t column_;
  std::vector<Row> rows_;
};

// Text without quotes: cells are found where they lie, nothing is copied.
Status ReadPlain(std::string_view body, std::size_t line, const CsvTable& table,
                 RowReader& reader) {
  for (; !body.empty(); ++line) {
    const auto end = std::min(body.find('\n'), body.size());
    std::string_view row = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty()) continue;
    std::size_t index = 0;
    std::size_t cell_begin = 0;
    std::string_view time_cell;
    std::string_view value_cell;
    for (std::size_t i = 0; i <= row.size(); ++i) {
      if (i < row.size() && row[i] != ',') continue;
      if (index == 0) time_cell = row.substr(0, i);
      if (index == reader.Column()) value_cell = row.substr(cell_begin, i - cell_begin);
      cell_begin = i + 1;
      ++index;
    }
    if (index != table.header.size()) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}:{}: {} fields, but the header has {}", table.name, line, index,
                              table.header.size()));
    }
    LOWTIDE_TRY_STATUS(reader.Add(line, time_cell, value_cell));
  }
  return {};
}

Status ReadQuoted(const CsvTable& table, RowReader& reader) {
  for (const CsvRow& row : table.rows) {
    LOWTIDE_TRY_STATUS(reader.Add(row.line, row.fields[0], row.fields[reader.Column()]));
  }
  return {};
}

// The header's part of the text, leading empty lines included.
std::size_t HeaderEnd(std::string_view text) {
  std::size_t begin = 0;
  while (begin < text.size() && (text[begin] == '\n' || text.substr(begin, 2) == "\r\n")) {
    begin += text[begin] == '\n' ? 1 : 2;
  }
  const auto end = text.find('\n', begin);
  return end == std::string_view::npos ? text.size() : end + 1;
}

// The rows' slots: see the header for the rule.
Series<GramsPerKwh> ToSlots(const std::vector<Row>& rows) {
  std::vector<std::chrono::milliseconds> steps;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    steps.push_back(rows[i].time - rows[i - 1].time);
  }
  std::vector<std::chrono::milliseconds> sorted = steps;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::ranges::nth_element(sorted, middle);
  Series<GramsPerKwh> slots;
  slots.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].value) continue;
    const auto length = std::min(steps[std::min(i, steps.size() - 1)], *middle);
    slots.push_back({rows[i].time, rows[i].time + length, *rows[i].value});
  }
  return slots;
}

void DescribeByName(std::string_view column, IntensityOrigin& origin) {
  const std::string name = Lower(column);
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
  std::size_t begin = name.find_first_of(kLetters);
  while (begin != std::string::npos) {
    const std::size_t end = std::min(name.find_first_not_of(kLetters, begin), name.size());
    const std::string_view word = std::string_view(name).substr(begin, end - begin);
    if (word == "direct") origin.basis = Basis::kDirect;
    if (word == "lifecycle") origin.basis = Basis::kLifecycle;
    if (word == "marginal" || word == "moer") origin.signal = Signal::kMarginal;
    if (word == "forecast" || word == "forecasts") origin.kind = IntensityKind::kForecast;
    if (word == "estimated" || word == "estimate") origin.kind = IntensityKind::kEstimated;
    begin = name.find_first_of(kLetters, end);
  }
}

}  // namespace

Result<TraceArgument> SplitTraceArgument(std::string_view argument) {
  const auto slash = argument.rfind('/');
  const auto colon = argument.rfind(':');
  const bool has_column =
      colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  TraceArgument out{std::string(argument.substr(0, has_column ? colon : argument.size())),
                    std::string(has_column ? argument.substr(colon + 1) : std::string_view())};
  if (out.path.empty() || (has_column && out.column.empty())) {
    return Fail(Code::kInvalidArgument,
                fmt::format("'{}' is not a trace; expected FILE or FILE:COLUMN, such as "
                            "ERCO.csv:ci_lifecycle",
                            argument.substr(0, 256)));
  }
  return out;
}

Result<IntensitySeries> ParseTrace(std::string_view text, std::string_view name,
                                   std::string_view column, const Zone& zone) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  // Quotes are rare and may hide commas and line ends, so they take the slower general reader.
  const bool quoted = text.find('"') != std::string_view::npos;
  const std::size_t header_end = quoted ? text.size() : HeaderEnd(text);
  LOWTIDE_TRY(const CsvTable table, ParseCsv(text.substr(0, header_end), std::string(name)));
  LOWTIDE_TRY(const std::size_t index, ChooseColumn(table, column, zone));
  RowReader reader(table, index);
  if (quoted) {
    LOWTIDE_TRY_STATUS(ReadQuoted(table, reader));
  } else {
    const auto lines = std::ranges::count(text.substr(0, header_end), '\n');
    LOWTIDE_TRY_STATUS(
        ReadPlain(text.substr(header_end), static_cast<std::size_t>(lines) + 1, table, reader));
  }
  if (reader.Rows().size() < 2) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: {} rows, but at least 2 are needed to know how long a slot is",
                            name, reader.Rows().size()));
  }
  const std::string_view chosen = Trim(table.header[index]);
  IntensitySeries out;
  out.origin.source = fmt::format("trace:{}:{}", name.substr(name.rfind('/') + 1), chosen);
  out.origin.zone = zone;
  DescribeByName(chosen, out.origin);
  out.slots = ToSlots(reader.Rows());
  if (out.slots.empty()) {
    return Fail(Code::kDataLoss, fmt::format("{}: column '{}' has no value in any of {} rows", name,
                                             chosen, reader.Rows().size()));
  }
  return out;
}

}  // namespace lowtide
