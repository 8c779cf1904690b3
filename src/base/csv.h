// RFC 4180 reader: quoted fields, doubled quotes, CRLF or LF, an optional byte-order mark.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lowtide {

struct CsvRow {
  std::size_t line = 0;  // 1-based line of the row's first byte
  std::vector<std::string> fields;
};

struct CsvTable {
  std::string name;  // file name, for messages
  std::vector<std::string> header;
  std::vector<CsvRow> rows;

  // Index of the column, spaces around header names ignored.
  std::optional<std::size_t> Find(std::string_view column) const;
  // As Find, but an error naming the file, the column and the columns there are; also an error
  // when two columns bear the name.
  Result<std::size_t> Require(std::string_view column) const;
};

// Parses `text`; empty lines (and lines of one empty quoted field) are skipped. Every row must have
// as many fields as the header, else the error names the line. `name` is used in messages.
Result<CsvTable> ParseCsv(std::string_view text, std::string name);

// The number in `row.fields[column]`; errors name file, line and column. Empty, "NaN"
// and non-finite values are errors.
Result<double> CsvNumber(const CsvTable& table, const CsvRow& row, std::size_t column);

// Quotes a field where RFC 4180 asks for it.
std::string CsvQuote(std::string_view field);

// Strict finite decimal number of the whole text ("12", "-1.5", "2e3"); nothing for "", "nan",
// "1e999", "0x1", "+1" or "1 ".
std::optional<double> ParseNumber(std::string_view text);

}  // namespace lowtide
