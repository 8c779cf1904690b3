#include "base/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

namespace lowtide {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view Trim(std::string_view s) {
  constexpr std::string_view kSpace = " \t";
  const auto begin = s.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return s.substr(begin, s.find_last_not_of(kSpace) - begin + 1);
}

// Splits text into rows, one at a time.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  bool AtEnd() const { return rest_.empty(); }

  Result<CsvRow> Next() {
    CsvRow row;
    row.line = line_;
    while (true) {
      LOWTIDE_TRY(std::string field, Field());
      row.fields.push_back(std::move(field));
      if (rest_.empty()) return row;
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == ',') continue;
      ++line_;  // Field() stops only at ',', '\n' or the end
      return row;
    }
  }

 private:
  Result<std::string> Field() {
    if (rest_.starts_with('"')) return Quoted();
    const auto end = std::min(rest_.find_first_of(",\n"), rest_.size());
    std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if ((rest_.empty() || rest_.front() == '\n') && field.ends_with('\r')) field.remove_suffix(1);
    return std::string(field);
  }

  Result<std::string> Quoted() {
    const std::size_t start_line = line_;
    rest_.remove_prefix(1);
    std::string field;
    while (true) {
      const auto quote = rest_.find('"');
      if (quote == std::string_view::npos) {
        return Fail(Code::kInvalidArgument,
                    fmt::format("{}:{}: quoted field is not closed", name_, start_line));
      }
      for (const char c : rest_.substr(0, quote)) line_ += (c == '\n') ? 1U : 0U;
      field += rest_.substr(0, quote);
      rest_.remove_prefix(quote + 1);
      if (!rest_.starts_with('"')) break;
      field += '"';
      rest_.remove_prefix(1);
    }
    if (rest_.starts_with("\r\n") || rest_ == "\r") rest_.remove_prefix(1);
    if (!rest_.empty() && rest_.front() != ',' && rest_.front() != '\n') {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}:{}: text after a closing quote", name_, line_));
    }
    return field;
  }

  std::string_view rest_;
  const std::string& name_;
  std::size_t line_ = 1;
};

}  // namespace

std::optional<std::size_t> CsvTable::Find(std::string_view column) const {
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (Trim(header[i]) == column) return i;
  }
  return std::nullopt;
}

Result<std::size_t> CsvTable::Require(std::string_view column) const {
  if (const auto index = Find(column)) {
    for (std::size_t i = *index + 1; i < header.size(); ++i) {
      if (Trim(header[i]) == column) {
        return Fail(Code::kInvalidArgument,
                    fmt::format("{}: column '{}' appears more than once", name, column));
      }
    }
    return *index;
  }
  return Fail(Code::kInvalidArgument, fmt::format("{}: no column '{}'; the columns are: {}", name,
                                                  column, fmt::join(header, ", ")));
}

Result<CsvTable> ParseCsv(std::string_view text, std::string name) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  CsvTable table;
  table.name = std::move(name);
  Scanner scanner(text, table.name);
  while (!scanner.AtEnd()) {
    LOWTIDE_TRY(CsvRow row, scanner.Next());
    if (row.fields.size() == 1 && row.fields[0].empty()) continue;
    if (table.header.empty()) {
      table.header = std::move(row.fields);
      continue;
    }
    if (row.fields.size() != table.header.size()) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}:{}: {} fields, but the header has {}", table.name, row.line,
                              row.fields.size(), table.header.size()));
    }
    table.rows.push_back(std::move(row));
  }
  if (table.header.empty()) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: no header line", table.name));
  }
  return table;
}

Result<double> CsvNumber(const CsvTable& table, const CsvRow& row, std::size_t column) {
  if (const auto number = ParseNumber(Trim(row.fields[column]))) return *number;
  return Fail(Code::kInvalidArgument,
              fmt::format("{}:{}: column '{}': '{}' is not a number", table.name, row.line,
                          table.header[column], row.fields[column].substr(0, 64)));
}

std::string CsvQuote(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos &&
      !field.starts_with(kByteOrderMark)) {
    return std::string(field);
  }
  std::string out = "\"";
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::optional<double> ParseNumber(std::string_view text) {
  double value = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, ec] = std::from_chars(begin, end, value);
  if (ec != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace lowtide
