#include "grid/sources/yearly_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/csv.h"
#include "base/near_names.h"
#include "grid/sources/constant_source.h"
#include "grid/zone.h"

namespace lowtide {
namespace {

bool IsCode(std::string_view text, std::size_t length) {
  return text.size() == length &&
         std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

std::unexpected<Error> FailAt(const CsvTable& table, const CsvRow& row, std::string_view what) {
  return Fail(Code::kInvalidArgument, fmt::format("{}:{}: {}", table.name, row.line, what));
}

using CountriesByIso3 = std::unordered_map<std::string, YearlyAverage>;

Result<CountriesByIso3> ParseCountries(std::string_view text) {
  LOWTIDE_TRY(const CsvTable table, ParseCsv(text, "countries.csv"));
  LOWTIDE_TRY(const std::size_t iso2, table.Require("iso2"));
  LOWTIDE_TRY(const std::size_t iso3, table.Require("iso3"));
  LOWTIDE_TRY(const std::size_t name, table.Require("name"));
  CountriesByIso3 out;
  std::unordered_map<std::string, std::size_t> lines;  // of each iso2
  for (const CsvRow& row : table.rows) {
    YearlyAverage country;
    country.iso2 = row.fields[iso2];
    country.iso3 = row.fields[iso3];
    country.country = row.fields[name];
    if (!IsCode(country.iso2, 2) || !IsCode(country.iso3, 3)) {
      return FailAt(table, row,
                    fmt::format("'{}' and '{}' are not an ISO 3166-1 alpha-2 and alpha-3 code",
                                country.iso2.substr(0, 16), country.iso3.substr(0, 16)));
    }
    if (const auto [at, added] = lines.emplace(country.iso2, row.line); !added) {
      return FailAt(table, row, fmt::format("'{}' repeats line {}", country.iso2, at->second));
    }
    const std::string code = country.iso3;
    if (!out.emplace(code, std::move(country)).second) {
      return FailAt(table, row, fmt::format("'{}' is given twice", code));
    }
  }
  return out;
}

std::unique_ptr<Source> MakeFrom(const YearlyAverage& average, GramsPerKwh value,
                                 const Zone& zone) {
  std::string detail = "Our World in Data / Ember";
  if (zone.key.size() > average.iso2.size()) {
    detail += fmt::format("; average of {} for zone {}", average.country, zone.key);
  }
  if (!average.note.empty()) detail += "; " + average.note;
  IntensityOrigin origin;
  origin.source = fmt::format("yearly:{}:{} ({})", average.iso3, average.year, detail);
  origin.zone = zone;
  origin.basis = Basis::kLifecycle;
  origin.kind = IntensityKind::kYearlyAverage;
  return std::make_unique<ConstantSource>(std::move(origin), value);
}

}  // namespace

Result<YearlyTable> YearlyTable::Parse(std::string_view countries_csv,
                                       std::string_view yearly_csv) {
  LOWTIDE_TRY(CountriesByIso3 countries, ParseCountries(countries_csv));
  LOWTIDE_TRY(const CsvTable table, ParseCsv(yearly_csv, "yearly_intensity.csv"));
  LOWTIDE_TRY(const std::size_t iso3, table.Require("iso3"));
  LOWTIDE_TRY(const std::size_t value, table.Require("g_per_kwh"));
  LOWTIDE_TRY(const std::size_t year, table.Require("year"));
  LOWTIDE_TRY(const std::size_t note, table.Require("note"));
  YearlyTable out;
  for (const CsvRow& row : table.rows) {
    auto country = countries.extract(row.fields[iso3]);
    if (!country) {
      return FailAt(table, row,
                    fmt::format("'{}' is given twice or is not in countries.csv",
                                row.fields[iso3].substr(0, 16)));
    }
    YearlyAverage average = std::move(country.mapped());
    if (!row.fields[value].empty()) {
      LOWTIDE_TRY(const double number, CsvNumber(table, row, value));
      if (number <= 0 || number > kHighestIntensity.v) {
        return FailAt(table, row,
                      fmt::format("column 'g_per_kwh': {} is outside 0 (not included) to {}; leave "
                                  "a missing value empty",
                                  number, kHighestIntensity.v));
      }
      average.value = GramsPerKwh(number);
    }
    LOWTIDE_TRY(const double year_number, CsvNumber(table, row, year));
    if (year_number < 1990 || year_number > 2100 || year_number != std::floor(year_number)) {
      return FailAt(table, row,
                    fmt::format("column 'year': {} is not a year from 1990 to 2100", year_number));
    }
    average.year = static_cast<int>(year_number);
    average.note = row.fields[note];
    out.averages_.push_back(std::move(average));
  }
  std::ranges::sort(out.averages_, {}, &YearlyAverage::iso2);
  return out;
}

Result<std::unique_ptr<Source>> YearlyTable::MakeSource(const Zone& zone) const {
  const std::string code = CountryPart(zone);
  std::vector<std::string> known;
  for (const YearlyAverage& average : averages_) {
    if (average.value) known.push_back(average.iso2);
    if (average.iso3 == code) {
      return Fail(Code::kNotFound,
                  fmt::format("no yearly average for zone '{}': '{}' is the ISO3 code of {}, whose "
                              "zone key is '{}'",
                              zone.key, code, average.country, average.iso2));
    }
    if (average.iso2 != code) continue;
    if (average.value) return MakeFrom(average, *average.value, zone);
    return Fail(Code::kNotFound, fmt::format("no yearly average for zone '{}' ({}): {}", zone.key,
                                             average.country, average.note));
  }
  const std::string near = DidYouMean(code, known);
  return Fail(
      Code::kNotFound,
      fmt::format("no yearly average for zone '{}': no country '{}'; {}'lowtide zones' lists "
                  "the zones",
                  zone.key, code, near.empty() ? near : near + " "));
}

}  // namespace lowtide
