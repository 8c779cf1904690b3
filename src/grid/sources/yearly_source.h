// The average intensity of a country over a year, for when nothing nearer is known. Always says
// the country and the year; never stands in for another country or the world.
//
// Two tables, given as text (data/grid/, described in data/README.md):
//   countries.csv         iso2,iso3,name
//   yearly_intensity.csv  iso3,g_per_kwh,year,note   an empty g_per_kwh: the source has none
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grid/source.h"

namespace lowtide {

struct YearlyAverage {
  std::string iso2;
  std::string iso3;
  std::string country;
  std::optional<GramsPerKwh> value;  // nothing: missing in the source, `note` says why
  int year = 0;
  std::string note;  // a doubt about the value, else empty
};

class YearlyTable {
 public:
  // kInvalidArgument, naming table and line: a code of the wrong form or given twice, a number
  // outside (0, 5000], a year outside 1990 to 2100, an iso3 that the countries lack.
  static Result<YearlyTable> Parse(std::string_view countries_csv, std::string_view yearly_csv);

  // Ordered by iso2.
  const std::vector<YearlyAverage>& Averages() const { return averages_; }

  // The average of the country that `zone` lies in (grid/zone.h, CountryPart), whose origin reads
  // "yearly:DEU:2023 (Our World in Data / Ember)", with the zone where that is only a part of the
  // country, and with the table's note if there is one. kNotFound when the country is not in the
  // table (the error lists those that are), has no value there, or is given by its ISO3 code (the
  // error names the zone key).
  //
  // Basis: lifecycle. The source does not say so in its table, but countries on hydropower alone
  // stand at 20 to 25 g/kWh there, which is hydropower's lifecycle factor.
  Result<std::unique_ptr<Source>> MakeSource(const Zone& zone) const;

 private:
  std::vector<YearlyAverage> averages_;
};

}  // namespace lowtide
