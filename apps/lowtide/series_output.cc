#include "series_output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "environment.h"
#include "text_chart.h"

namespace lowtide::cli {
namespace {

// The band's value over the slot, where it covers the whole of it.
Json BandAt(const Series<GramsPerKwh>& band, const Sample<GramsPerKwh>& slot) {
  const auto mean = MeanOver(band, slot.from, slot.to);
  return mean.value && mean.coverage > 0.999 ? IntensityNumber(*mean.value) : Json();
}

int TerminalWidth() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

}  // namespace

Json IntensityNumber(GramsPerKwh value) { return std::round(value.v * 1000) / 1000; }

Json OriginJson(const IntensityOrigin& origin) {
  return {{"source", origin.source},
          {"signal", SignalName(origin.signal)},
          {"basis", BasisName(origin.basis)},
          {"kind", KindName(origin.kind)}};
}

std::string DescribeOrigin(const IntensityOrigin& origin, IntensityKind kind) {
  std::string kind_text(KindName(kind));
  std::ranges::replace(kind_text, '_', ' ');
  std::string basis =
      origin.basis == Basis::kUnstated ? "basis not stated" : std::string(BasisName(origin.basis));
  return fmt::format("{}, {}, {}, {}", origin.source, SignalName(origin.signal), basis, kind_text);
}

Json SlotsJson(const IntensitySeries& series) {
  Json out = Json::array();
  for (const auto& slot : series.slots) {
    Json row{{"from", FormatTime(slot.from)},
             {"to", FormatTime(slot.to)},
             {"g_per_kwh", IntensityNumber(slot.value)},
             {"kind", KindName(series.KindOf(slot))}};
    if (!series.p10.empty()) {
      row["p10_g_per_kwh"] = BandAt(series.p10, slot);
      row["p90_g_per_kwh"] = BandAt(series.p90, slot);
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::string AgeText(Seconds age) {
  const double minutes = age.count() / 60;
  if (minutes < 1) return "less than a minute";
  if (minutes < 120) return fmt::format("{:.0f} min", minutes);
  if (minutes < 48 * 60) return fmt::format("{:.0f} h", minutes / 60);
  return fmt::format("{:.0f} days", minutes / (24 * 60));
}

std::string ChartFor(const IntensitySeries& series, TimePoint from, TimePoint to) {
  const bool changes = std::ranges::any_of(
      series.slots, [&](const auto& s) { return s.value != series.slots.front().value; });
  if (!changes) return "";
  ChartOptions options;
  options.style = ChartStyleOf(Environment("LC_ALL"), Environment("LC_CTYPE"), Environment("LANG"));
  constexpr int kBesides = 20;  // indent, axis, unit
  options.width = std::clamp(TerminalWidth() - kBesides, 24, 96);
  std::istringstream chart(BarChart(series.slots, from, to, options));
  std::string out;
  for (std::string line; std::getline(chart, line);) out += "  " + line + "\n";
  return out;
}

SeriesSummary Summarise(const Series<GramsPerKwh>& slots, TimePoint from, TimePoint to) {
  SeriesSummary out;
  const auto mean = MeanOver(slots, from, to);
  out.mean = mean.value;
  out.known_share = mean.coverage;
  bool first = true;
  for (auto slot : slots) {
    slot.from = std::max(slot.from, from);
    slot.to = std::min(slot.to, to);
    if (slot.from >= slot.to) continue;
    if (first || slot.value < out.lowest.value) out.lowest = slot;
    if (first || slot.value > out.highest.value) out.highest = slot;
    first = false;
  }
  return out;
}

}  // namespace lowtide::cli
