#include "grid/providers/entsoe_payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <pugixml.hpp>
#include <utility>

#include "base/csv.h"
#include "base/sort_stably.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;

constexpr std::string_view kWhat = "entsoe answer";
constexpr std::size_t kMostPoints = 2'000'000;

std::unexpected<Error> Broken(std::string_view what) {
  return Fail(Code::kDataLoss, fmt::format("{}: {}", kWhat, what));
}

// Element names may carry a namespace prefix.
std::string_view LocalName(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  const auto colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

pugi::xml_node Child(const pugi::xml_node& parent, std::string_view name) {
  for (const pugi::xml_node node : parent) {
    if (LocalName(node) == name) return node;
  }
  return {};
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

std::string_view TextOf(const pugi::xml_node& parent, std::string_view name) {
  return Trim(Child(parent, name).text().get());
}

// "PT15M", "PT60M", "PT1H", "P1D".
Result<Milliseconds> ParseResolution(std::string_view text) {
  const std::string_view all = text;
  const bool days = text.starts_with("P") && !text.starts_with("PT");
  text.remove_prefix(std::min<std::size_t>(text.size(), days ? 1 : 2));
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (all.starts_with("P") && error == std::errc() && number > 0 && number <= 1440) {
    if (days && unit == "D" && number == 1) return Milliseconds(24h);
    if (!days && unit == "M") return Milliseconds(std::chrono::minutes(number));
    if (!days && unit == "H" && number <= 24) return Milliseconds(std::chrono::hours(number));
  }
  return Broken(fmt::format("resolution '{}'", all.substr(0, 20)));
}

Result<TimePoint> TimeOf(const pugi::xml_node& parent, std::string_view name) {
  const std::string_view text = TextOf(parent, name);
  const auto time = ParseTime(text);
  if (time) return *time;
  return Broken(fmt::format("'{}' is '{}', no time", name, text.substr(0, 40)));
}

enum class Curve : std::uint8_t { kEveryPosition, kChangesOnly };

struct PeriodReader {
  std::string code;
  std::string fuel;
  Curve curve;
  EntsoeGeneration& out;
  std::size_t& points;

  Status Read(const pugi::xml_node& period) const {
    const pugi::xml_node interval = Child(period, "timeInterval");
    LOWTIDE_TRY(const TimePoint start, TimeOf(interval, "start"));
    LOWTIDE_TRY(const TimePoint end, TimeOf(interval, "end"));
    LOWTIDE_TRY(const Milliseconds step, ParseResolution(TextOf(period, "resolution")));
    if (end <= start) return Broken("a Period that does not end after its start");
    const auto positions = (end - start) / step;
    LOWTIDE_TRY(auto values, Values(period, positions));
    SortStably(values, &Value::position);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::int64_t until = values[i].position + 1;
      if (curve == Curve::kChangesOnly) {
        until = i + 1 < values.size() ? values[i + 1].position : positions + 1;
      }
      points += static_cast<std::size_t>(until - values[i].position);
      if (points > kMostPoints) return Broken(fmt::format("more than {} points", kMostPoints));
      for (std::int64_t position = values[i].position; position < until; ++position) {
        const TimePoint from = start + (position - 1) * step;
        out.rows.push_back({code, fuel, from, from + step, values[i].quantity});
      }
    }
    return {};
  }

 private:
  struct Value {
    std::int64_t position = 0;
    std::optional<double> quantity;
  };

  static Result<std::vector<Value>> Values(const pugi::xml_node& period, std::int64_t positions) {
    std::vector<Value> values;
    for (const pugi::xml_node point : period) {
      if (LocalName(point) != "Point") continue;
      const std::string_view text = TextOf(point, "position");
      Value value;
      const auto [stop, error] =
          std::from_chars(text.data(), text.data() + text.size(), value.position);
      if (error != std::errc() || stop != text.data() + text.size() || value.position < 1 ||
          value.position > positions) {
        return Broken(fmt::format("position '{}' of {}", text.substr(0, 20), positions));
      }
      value.quantity = ParseNumber(TextOf(point, "quantity"));
      values.push_back(value);
    }
    return values;
  }
};

Status ReadSeries(const pugi::xml_node& series, std::size_t& points, EntsoeGeneration& out) {
  const std::string_view produced = TextOf(series, "inBiddingZone_Domain.mRID");
  const std::string_view zone =
      produced.empty() ? TextOf(series, "outBiddingZone_Domain.mRID") : produced;
  if (!zone.empty()) {
    if (!out.zone.empty() && out.zone != zone) {
      return Broken(fmt::format("zones '{}' and '{}' in one", out.zone, zone.substr(0, 40)));
    }
    out.zone = std::string(zone.substr(0, 40));
  }
  if (produced.empty() && !zone.empty()) return {};  // consumption
  const std::string_view type = TextOf(Child(series, "MktPSRType"), "psrType");
  if (type.empty()) return Broken("a TimeSeries without psrType");
  const std::string_view unit = TextOf(series, "quantity_Measure_Unit.name");
  if (!unit.empty() && unit != "MAW") {
    return Broken(fmt::format("quantities are in '{}', expected MAW", unit.substr(0, 20)));
  }
  const Curve curve =
      TextOf(series, "curveType") == "A03" ? Curve::kChangesOnly : Curve::kEveryPosition;
  const PeriodReader reader{std::string(type), std::string(EntsoeFuel(type)), curve, out, points};
  for (const pugi::xml_node period : series) {
    if (LocalName(period) == "Period") LOWTIDE_TRY_STATUS(reader.Read(period));
  }
  return {};
}

std::unexpected<Error> Acknowledged(const pugi::xml_node& document) {
  std::string text;
  for (const pugi::xml_node reason : document) {
    if (LocalName(reason) != "Reason") continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {}", TextOf(reason, "code"), TextOf(reason, "text"));
  }
  text = ErrorText(text);
  if (text.find("No matching data") != std::string::npos) return Fail(Code::kNotFound, text);
  for (const char* word : {"Unauthorized", "ecurity token", "Authentication"}) {
    if (text.find(word) != std::string::npos) return Fail(Code::kPermissionDenied, text);
  }
  return Fail(Code::kUnavailable, text.empty() ? "an acknowledgement without a reason" : text);
}

}  // namespace

std::string_view EntsoeFuel(std::string_view psr_type) {
  using Pair = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<Pair, 22> kFuels = {{
      {"B01", "biomass"},    {"B02", "coal"},          {"B03", "gas"},     {"B04", "gas"},
      {"B05", "coal"},       {"B06", "oil"},           {"B07", "coal"},    {"B08", "coal"},
      {"B09", "geothermal"}, {"B10", "hydro_storage"}, {"B11", "hydro"},   {"B12", "hydro"},
      {"B13", "unknown"},    {"B14", "nuclear"},       {"B15", "unknown"}, {"B16", "solar"},
      {"B17", "biomass"},    {"B18", "wind"},          {"B19", "wind"},    {"B20", "unknown"},
      {"B25", "battery"},    {"B24", "unknown"},
  }};
  const auto* it = std::ranges::find(kFuels, psr_type, &Pair::first);
  return it == kFuels.end() ? "unknown" : it->second;
}

Result<EntsoeGeneration> ParseEntsoe(std::string_view xml) {
  pugi::xml_document document;
  // Neither entities of one's own nor DOCTYPE are read by pugixml.
  const auto parsed =
      document.load_buffer(xml.data(), xml.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) return Broken(fmt::format("no XML: {}", parsed.description()));
  const pugi::xml_node root = document.document_element();
  EntsoeGeneration out;
  std::size_t points = 0;
  if (LocalName(root) == "Acknowledgement_MarketDocument") return Acknowledged(root);
  if (LocalName(root) == "TimeSeries") {
    LOWTIDE_TRY_STATUS(ReadSeries(root, points, out));
    return out;
  }
  if (LocalName(root) != "GL_MarketDocument") {
    return Broken(
        fmt::format("a document '{}', expected GL_MarketDocument", LocalName(root).substr(0, 60)));
  }
  if (const auto type = TextOf(root, "type"); type != "A75") {
    return Broken(fmt::format("a document of type '{}', expected A75", type.substr(0, 20)));
  }
  if (Child(root, "createdDateTime")) {
    LOWTIDE_TRY(out.created_at, TimeOf(root, "createdDateTime"));
  }
  for (const pugi::xml_node series : root) {
    if (LocalName(series) == "TimeSeries") LOWTIDE_TRY_STATUS(ReadSeries(series, points, out));
  }
  return out;
}

}  // namespace lowtide
