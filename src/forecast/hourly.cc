#include "forecast/hourly.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/csv.h"

namespace lowtide {
namespace {

using std::chrono::hours;

constexpr std::size_t kLongestGap = std::size_t{7} * 24;
constexpr std::size_t kMaxVariables = 16;
constexpr double kMaxValue = 1e9;

bool IsMissing(std::string_view cell) {
  std::string lower;
  for (const char c : cell) {
    if (c == ' ' || c == '\t') continue;
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower.empty() || lower == "nan";
}

std::string_view Trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

class WeatherReader {
 public:
  explicit WeatherReader(const CsvTable& table) : table_(table) {}

  Result<Weather> Read() {
    const std::size_t width = table_.header.size();
    if (width < 2 || width > kMaxVariables + 1) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format("{}: {} columns; expected a time column and 1 to {} weather variables",
                      table_.name, width, kMaxVariables));
    }
    for (std::size_t c = 1; c < width; ++c) {
      weather_.names.emplace_back(Trim(table_.header[c]));
    }
    weather_.columns.resize(width - 1);
    for (const CsvRow& row : table_.rows) LOWTIDE_TRY_STATUS(Append(row));
    if (weather_.Hours() == 0) {
      return Fail(Code::kDataLoss, fmt::format("{}: no row", table_.name));
    }
    return std::move(weather_);
  }

 private:
  Status Append(const CsvRow& row) {
    const auto time = ParseTime(Trim(row.fields[0]), Offset::kAssumeUtc);
    if (!time) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}:{}: {}", table_.name, row.line, time.error().message));
    }
    if (*time != std::chrono::floor<hours>(*time)) {
      return Fail(Code::kInvalidArgument, fmt::format("{}:{}: {} is not a whole hour; weather is "
                                                      "hourly",
                                                      table_.name, row.line, FormatTime(*time)));
    }
    LOWTIDE_TRY_STATUS(SkipTo(*time, row.line));
    std::vector<std::optional<double>> values;
    bool all_zero = row.fields.size() > 2;  // a lone variable may well be 0, as is the sun at night
    for (std::size_t c = 1; c < row.fields.size(); ++c) {
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
    if (weather_.Hours() == 0) {
      weather_.start = time;
      return {};
    }
    const TimePoint next = weather_.start + hours(static_cast<std::int64_t>(weather_.Hours()));
    if (time < next) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}:{}: {} does not come after the row before it", table_.name, line,
                              FormatTime(time)));
    }
    const auto missing = static_cast<std::size_t>((time - next) / hours(1));
    if (weather_.Hours() + missing >= kMaxHours) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}:{}: more than {} hours", table_.name, line, kMaxHours));
    }
    if (missing > kLongestGap) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}:{}: {} hours are missing before {}; at most {} are filled",
                              table_.name, line, missing, FormatTime(time), kLongestGap));
    }
    for (std::size_t k = 0; k < missing; ++k) {
      for (std::size_t c = 0; c < weather_.columns.size(); ++c) {
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
    auto& values = weather_.columns[column];
    if (!value && values.size() < 24) {
      return Fail(Code::kDataLoss,
                  fmt::format("{}:{}: column '{}' is missing on the file's first day, so that no "
                              "day before can stand in",
                              table_.name, line, weather_.names[column]));
    }
    values.push_back(value ? *value : values[values.size() - 24]);
    return {};
  }

  const CsvTable& table_;
  Weather weather_;
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
  return WeatherReader(table).Read();
}

}  // namespace lowtide
