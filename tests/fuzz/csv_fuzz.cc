#include <cstdint>
#include <string>

#include "base/csv.h"

// Whatever parses, written out again with CsvQuote, must parse to the same table.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto table = lowtide::ParseCsv(text, "fuzz.csv");
  if (!table) return 0;

  const auto append_line = [](std::string& out, const std::vector<std::string>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) out += ',';
      out += lowtide::CsvQuote(fields[i]);
    }
    out += "\r\n";
  };
  std::string written;
  append_line(written, table->header);
  std::size_t last_line = 0;
  for (const auto& row : table->rows) {
    if (row.line <= last_line || row.fields.size() != table->header.size()) __builtin_trap();
    last_line = row.line;
    append_line(written, row.fields);
  }

  const auto again = lowtide::ParseCsv(written, "written.csv");
  if (!again || again->header != table->header || again->rows.size() != table->rows.size()) {
    __builtin_trap();
  }
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    if (again->rows[i].fields != table->rows[i].fields) __builtin_trap();
  }
  return 0;
}
