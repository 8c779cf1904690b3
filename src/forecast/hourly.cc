#include "forecast/hourly.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/csv.h"

namespace lowtide {
namespace {

using std::chrono::hours;

constexpr std::size_t kLongestGap = std::size_t{7} * 24;
constexpr std::size_t kMaxVariables = 16;
constexpr double kMaxValue = 1e9;

constexpr std::array<std::string_view, 19> kGenerationColumns = {
    "coal",      "hard_coal",  "lignite", "gas",   "nat_gas",      "natural_gas",   "oil",
    "petroleum", "nuclear",    "hydro",   "wind",  "wind_onshore", "wind_offshore", "solar",
    "biomass",   "geothermal", "waste",   "other", "unknown"};

// Without blanks.
std::string Lower(std::string_view text) {
  std::string lower;
  for (const char c : text) {
    if (c == ' ' || c == '\t') continue;
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

bool IsMissing(std::string_view cell) {
  const std::string lower = Lower(cell);
  return lower.empty() || lower == "nan";
}

std::string_view Trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

// Reads some columns of a table.
class ColumnsReader {
 public:
  ColumnsReader(const CsvTable& table, std::vector<std::size_t> columns)
      : table_(table), read_(std::move(columns)) {}

  Result<HourlyColumns> Read() {
    for (const std::size_t c : read_) out_.names.emplace_back(Trim(table_.header[c]));
    out_.columns.resize(read_.size());
    for (const CsvRow& row : table_.rows) LOWTIDE_TRY_STATUS(Append(row));
    if (out_.Hours() == 0) {
      return Fail(Code::kDataLoss, fmt::format("{}: no row", table_.name));
    }
    return std::move(out_);
  }

 private:
  Status Append(const CsvRow& row) {
    const auto time = ParseTime(Trim(row.fields[0]), Offset::kAssumeUtc);
    if (!time) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}:{}: {}", table_.name, row.line, time.error().message));
    }
    if (*time != std::chrono::floor<hours>(*time)) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}:{}: {} is not a whole hour; the file must be hourly", table_.name,
                              row.line, FormatTime(*time)));
    }
    LOWTIDE_TRY_STATUS(SkipTo(*time, row.line));
    std::vector<std::optional<double>> values;
    bool all_zero = read_.size() > 1;  // a lone variable may well be 0, as is the sun at night
    for (const std::size_t c : read_) {
      LOWTIDE_TRY(const auto value, Cell(row, c));
      all_zero = all_zero && (!value || *value == 0);
      values.push_back(value);
    }
    for (std::size_t c = 0; c < values.size(); ++c) {
      LOWTIDE_TRY_STATUS(Push(c, all_zero ? std::nullopt : values[c], row.line));
    }
    return {};
  }

  // Fills the hours before `time` that have no row.
  Status SkipTo(TimePoint time, std::size_t line) {
    if (out_.Hours() == 0) {
      out_.start = time;
      return {};
    }
    const TimePoint next = out_.start + hours(static_cast<std::int64_t>(out_.Hours()));
    if (time < next) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}:{}: {} does not come after the row before it", table_.name, line,
                              FormatTime(time)));
    }
    const auto missing = static_cast<std::size_t>((time - next) / hours(1));
    if (out_.Hours() + missing >= kMaxHours) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}:{}: more than {} hours", table_.name, line, kMaxHours));
    }
    if (missing > kLongestGap) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}:{}: {} hours are missing before {}; at most {} are filled",
                              table_.name, line, missing, FormatTime(time), kLongestGap));
    }
    for (std::size_t k = 0; k < missing; ++k) {
      for (std::size_t c = 0; c < out_.columns.size(); ++c) {
        LOWTIDE_TRY_STATUS(Push(c, std::nullopt, line));
      }
    }
    return {};
  }

  Result<std::optional<double>> Cell(const CsvRow& row, std::size_t column) const {
    if (IsMissing(row.fields[column])) return std::nullopt;
    LOWTIDE_TRY(const double value, CsvNumber(table_, row, column));
    if (std::abs(value) > kMaxValue) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}:{}: column '{}': {} is beyond {}", table_.name, row.line,
                              Trim(table_.header[column]), value, kMaxValue));
    }
    return value;
  }

  Status Push(std::size_t column, std::optional<double> value, std::size_t line) {
    auto& values = out_.columns[column];
    if (!value && values.size() < 24) {
      return Fail(Code::kDataLoss,
                  fmt::format("{}:{}: column '{}' is missing on the file's first day, so that no "
                              "day before can stand in",
                              table_.name, line, out_.names[column]));
    }
    values.push_back(value ? *value : values[values.size() - 24]);
    return {};
  }

  const CsvTable& table_;
  std::vector<std::size_t> read_;
  HourlyColumns out_;
};

}  // namespace

Result<HourlySeries> ToHourly(const Series<GramsPerKwh>& slots, TimePoint from, TimePoint to) {
  HourlySeries out{std::chrono::floor<hours>(from), {}};
  const TimePoint end = std::chrono::floor<hours>(to);
  if (end <= out.start) return out;
  const auto count = static_cast<std::size_t>((end - out.start) / hours(1));
  if (count > kMaxHours) {
    return Fail(Code::kInvalidArgument,
                fmt::format("a series of {} hours from {} to {}; at most {} are taken", count,
                            FormatTime(from), FormatTime(to), kMaxHours));
  }
  out.values.resize(count);
  std::vector<double> covered_ms(count);
  std::vector<double> sum(count);
  for (const auto& slot : slots) {
    const TimePoint last = std::min(slot.to, end);
    for (TimePoint t = std::max(slot.from, out.start); t < last;) {
      const auto k = static_cast<std::size_t>((t - out.start) / hours(1));
      const TimePoint next = std::min(last, out.TimeOf(k + 1));
      const auto ms = static_cast<double>((next - t).count());
      covered_ms[k] += ms;
      sum[k] += ms * slot.value.v;
      t = next;
    }
  }
  constexpr double kHalfHourMs = 1.8e6;
  for (std::size_t k = 0; k < count; ++k) {
    if (covered_ms[k] >= kHalfHourMs) out.values[k] = sum[k] / covered_ms[k];
  }
  return out;
}

Result<Weather> ParseWeather(std::string_view text, std::string_view name) {
  LOWTIDE_TRY(const CsvTable table, ParseCsv(text, std::string(name)));
  const std::size_t width = table.header.size();
  if (width < 2 || width > kMaxVariables + 1) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: {} columns; expected a time column and 1 to {} weather variables",
                            table.name, width, kMaxVariables));
  }
  std::vector<std::size_t> all(width - 1);
  std::iota(all.begin(), all.end(), std::size_t{1});
  LOWTIDE_TRY(HourlyColumns columns, ColumnsReader(table, std::move(all)).Read());
  return Weather{std::move(columns)};
}

Result<GenerationMix> ParseGenerationMix(std::string_view text, std::string_view name) {
  LOWTIDE_TRY(const CsvTable table, ParseCsv(text, std::string(name)));
  std::vector<std::size_t> found;
  for (std::size_t c = 1; c < table.header.size(); ++c) {
    if (IsGenerationColumn(table.header[c])) found.push_back(c);
  }
  if (found.size() < 2) {
    return Fail(Code::kNotFound,
                fmt::format("{}: {} columns are named as kinds of power stations ({}); at least 2 "
                            "are needed",
                            table.name, found.size(), fmt::join(kGenerationColumns, ", ")));
  }
  LOWTIDE_TRY(HourlyColumns columns, ColumnsReader(table, std::move(found)).Read());
  for (auto& column : columns.columns) {
    for (double& value : column) value = std::max(value, 0.0);
  }
  return GenerationMix{std::move(columns)};
}

bool IsGenerationColumn(std::string_view name) {
  return std::ranges::find(kGenerationColumns, Lower(name)) != kGenerationColumns.end();
}

}  // namespace lowtide
