#include "run/report_charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "run/power_slices.h"
#include "run/quantity_text.h"
#include "run/svg_chart.h"

namespace lowtide {
namespace {

constexpr double kWidth = 960;
constexpr double kLeft = 62;
constexpr double kPlotWidth = kWidth - kLeft - 16;
constexpr int kMaxEpochBars = 200;
constexpr std::size_t kMaxEpochMarks = 60;

// From Unix seconds of the run to Unix milliseconds of the grid, on a linear scale.
struct Timeline {
  double real_start_ms = 0;
  double from_ms = 0;
  double to_ms = 0;
  double scale = 1;

  double Grid(double unix_s) const { return from_ms + (unix_s * 1000 - real_start_ms) * scale; }
};

Timeline TimelineOf(const Report& report) {
  const RunRecord& run = report.run.record;
  Timeline out;
  out.real_start_ms = static_cast<double>(UnixMillis(run.started_at));
  out.from_ms = static_cast<double>(UnixMillis(run.grid_start));
  out.scale = run.time_scale > 0 ? run.time_scale : 1;
  out.to_ms = out.from_ms + report.duration.count() * 1000 * out.scale;
  return out;
}

std::string TimeTitle(const RunRecord& run) {
  if (run.time_scale != 1) {
    return fmt::format("grid time, UTC ({:g} times as fast as the run)", run.time_scale);
  }
  return run.grid_start == run.started_at ? "time, UTC" : "grid time, UTC";
}

// Runs of buckets without a gap between them.
std::vector<std::vector<PowerBucket>> Segments(const std::vector<PowerBucket>& buckets) {
  std::vector<std::vector<PowerBucket>> out;
  for (const PowerBucket& bucket : buckets) {
    if (out.empty() || bucket.after_gap) out.emplace_back();
    out.back().push_back(bucket);
  }
  return out;
}

void DrawPower(SvgChart& chart, const ChartPanel& panel, const std::vector<PowerBucket>& buckets,
               const Timeline& time, bool show_gpus) {
  for (const auto& segment : Segments(buckets)) {
    std::vector<ChartBandPoint> band;
    std::vector<ChartPoint> total;
    std::vector<ChartPoint> gpus;
    std::vector<ChartPoint> limit;
    const auto flush_limit = [&] {
      chart.Line(panel, limit, "c2");
      limit.clear();
    };
    for (const PowerBucket& b : segment) {
      const double from = time.Grid(b.from_s);
      const double to = time.Grid(b.to_s);
      // Flat over a sample when samples are wide, a point a pixel when they are not.
      for (const double x : {from, to}) {
        band.push_back({x, b.low_w, b.high_w});
        total.push_back({x, b.mean_w});
        if (b.gpu_w) gpus.push_back({x, *b.gpu_w});
      }
      if (b.limit_w) {
        limit.push_back({from, *b.limit_w});
        limit.push_back({to, *b.limit_w});
      } else {
        flush_limit();
      }
    }
    chart.Band(panel, band, "c1");
    if (show_gpus) chart.Line(panel, gpus, "c4");
    chart.Line(panel, total, "c1");
    flush_limit();
  }
}

void DrawIntensity(SvgChart& chart, const ChartPanel& panel, const RunData& run) {
  std::vector<ChartPoint> line;
  const auto flush = [&] {
    chart.Area(panel, line, "c3");
    chart.Line(panel, line, "c3");
    line.clear();
  };
  for (const IntensityRecord& r : run.intensity) {
    const double from = std::max(panel.x.low, static_cast<double>(UnixMillis(r.from)));
    const double to = std::min(panel.x.high, static_cast<double>(UnixMillis(r.to)));
    if (from >= to) continue;
    if (!line.empty() && line.back().x < from) flush();
    line.push_back({from, r.value.v});
    line.push_back({to, r.value.v});
  }
  flush();
}

// Several epochs in one bar when there are too many: their mean.
struct EpochGroup {
  int first = 0;
  int last = 0;
  int count = 0;
  double energy_j = 0;
  double carbon_g = 0;
  bool carbon_known = true;
};

std::vector<EpochGroup> GroupEpochs(const Report& report) {
  const auto epochs = static_cast<int>(report.epochs.size());
  const int size = (epochs + kMaxEpochBars - 1) / kMaxEpochBars;
  std::vector<EpochGroup> out;
  for (const EpochLine& line : report.epochs) {
    if (out.empty() || out.back().count == size) {
      out.emplace_back();
      out.back().first = line.record.index;
    }
    EpochGroup& group = out.back();
    group.last = line.record.index;
    ++group.count;
    group.energy_j += line.energy.value_or(Joules(0)).v;
    group.carbon_g += line.record.carbon.value_or(Grams(0)).v;
    group.carbon_known = group.carbon_known && line.record.carbon;
  }
  return out;
}

std::string EpochName(const EpochGroup& group) {
  return group.count == 1 ? fmt::format("epoch {}", group.first)
                          : fmt::format("mean of epochs {} to {}", group.first, group.last);
}

ChartAxis EpochAxis(const std::vector<EpochGroup>& groups) {
  ChartAxis axis;
  axis.high = static_cast<double>(groups.size());
  axis.title = "epoch";
  const std::size_t every = (groups.size() + 19) / 20;
  for (std::size_t i = 0; i < groups.size(); i += every) {
    axis.ticks.push_back({static_cast<double>(i) + 0.5, fmt::format("{}", groups[i].first)});
  }
  return axis;
}

struct Alternative {
  std::string label;
  std::optional<double> value;
  std::string text;
  std::string colour;
};

// One block of horizontal bars; returns where it ends.
double DrawAlternatives(SvgChart& chart, double top, const std::string& title,
                        const std::vector<Alternative>& bars) {
  constexpr double kLabelWidth = 210;
  constexpr double kValueWidth = 190;
  constexpr double kRow = 24;
  const double width = kWidth - kLabelWidth - kValueWidth;
  double highest = 0;
  for (const auto& bar : bars) highest = std::max(highest, bar.value.value_or(0));
  chart.Text(kLabelWidth, top, title, SvgChart::Anchor::kStart, "title");
  double y = top + 8;
  for (const auto& bar : bars) {
    chart.Text(kLabelWidth - 10, y + 14, bar.label, SvgChart::Anchor::kEnd);
    const double length = highest > 0 ? bar.value.value_or(0) / highest * width : 0;
    if (bar.value) chart.Box(kLabelWidth, y, length, kRow - 6, bar.colour, bar.text);
    chart.Text(kLabelWidth + length + 8, y + 14, bar.text, SvgChart::Anchor::kStart);
    y += kRow;
  }
  return y + 18;
}

}  // namespace

std::string CounterfactualLabel(const CounterfactualLine& line) {
  std::string out = line.name;
  std::ranges::replace(out, '_', ' ');
  if (line.power_limit) out += fmt::format(" ({} W)", FormatSignificant(line.power_limit->v));
  return out;
}

std::string PowerChart(const Report& report) {
  const RunData& run = report.run;
  const Timeline time = TimelineOf(report);
  const auto slices = PowerOverTime(run);
  if (slices.empty() && run.intensity.empty()) return {};
  const double start = UnixSeconds(run.record.started_at);
  const auto buckets =
      DownSample(slices, start, start + report.duration.count(), static_cast<int>(kPlotWidth));
  double highest = 0;
  bool gpus = false;
  bool others = false;
  bool limits = false;
  for (const PowerBucket& b : buckets) {
    highest = std::max({highest, b.high_w, b.limit_w.value_or(0)});
    gpus = gpus || b.gpu_w;
    others = others || b.mean_w > b.gpu_w.value_or(0) * (1 + 1e-9);
    limits = limits || b.limit_w;
  }
  double dirtiest = 0;
  for (const IntensityRecord& r : run.intensity) dirtiest = std::max(dirtiest, r.value.v);

  const ChartAxis x = MakeTimeAxis(time.from_ms, time.to_ms, 9, TimeTitle(run.record));
  const ChartPanel power{kLeft, 52, kPlotWidth, 210, x, MakeValueAxis(highest, 6, "power, W")};
  const ChartPanel grid{kLeft, 306, kPlotWidth,
                        120,   x,   MakeValueAxis(dirtiest, 4, "carbon intensity, gCO2e/kWh")};
  const bool has_intensity = !run.intensity.empty();
  SvgChart chart(kWidth, has_intensity ? 470 : 304,
                 "Power and power limit over time, above the carbon intensity");
  std::vector<SvgChart::LegendEntry> legend;
  if (!buckets.empty()) {
    const bool show_gpus = gpus && others;
    legend.push_back({"c1", show_gpus || !gpus ? "all components" : "GPUs"});
    if (show_gpus) legend.push_back({"c4", "GPUs"});
    if (limits) legend.push_back({"c2", "power limit, all GPUs"});
  }
  if (has_intensity) {
    legend.push_back({"c3", fmt::format("intensity ({})", report.intensity.kind)});
  }
  chart.Legend(kLeft, 16, legend);
  chart.Grid(power, has_intensity ? SvgChart::XLabels::kHidden : SvgChart::XLabels::kShown);
  if (has_intensity) chart.Grid(grid, SvgChart::XLabels::kShown);
  if (run.epochs.size() <= kMaxEpochMarks) {
    for (const EpochRecord& epoch : run.epochs) {
      const double at = time.Grid(UnixSeconds(epoch.started_at));
      if (at > x.low && at < x.high) chart.VerticalLine(power, at);
    }
  }
  DrawPower(chart, power, buckets, time, gpus && others);
  DrawIntensity(chart, grid, run);
  if (buckets.empty()) {
    chart.Text(kLeft + kPlotWidth / 2, 160, "no power samples", SvgChart::Anchor::kMiddle, "title");
  }
  return std::move(chart).Finish();
}

std::string EpochChart(const Report& report) {
  if (report.epochs.empty() || !report.energy) return {};
  const auto groups = GroupEpochs(report);
  double most_energy = 0;
  double most_carbon = 0;
  bool carbon = false;
  for (const EpochGroup& g : groups) {
    most_energy = std::max(most_energy, g.energy_j / g.count);
    if (!g.carbon_known) continue;
    carbon = true;
    most_carbon = std::max(most_carbon, g.carbon_g / g.count);
  }
  const QuantityUnit energy_unit = EnergyUnit(Joules(most_energy));
  const QuantityUnit carbon_unit = CarbonUnit(Grams(most_carbon));
  std::vector<ChartBar> energy_bars;
  std::vector<ChartBar> carbon_bars;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const EpochGroup& g = groups[i];
    const auto at = static_cast<double>(i);
    const double joules = g.energy_j / g.count;
    energy_bars.push_back({at, at + 1, joules / energy_unit.size,
                           fmt::format("{}: {}", EpochName(g), FormatEnergy(Joules(joules)))});
    if (!g.carbon_known) continue;
    const double grams = g.carbon_g / g.count;
    carbon_bars.push_back({at, at + 1, grams / carbon_unit.size,
                           fmt::format("{}: {}", EpochName(g), FormatCarbon(Grams(grams)))});
  }
  const ChartAxis x = EpochAxis(groups);
  SvgChart chart(kWidth, carbon ? 370 : 220, "Energy and carbon of each epoch");
  const ChartPanel energy{kLeft,
                          26,
                          kPlotWidth,
                          130,
                          x,
                          MakeValueAxis(most_energy / energy_unit.size, 4,
                                        fmt::format("energy, {}", energy_unit.name))};
  chart.Grid(energy, carbon ? SvgChart::XLabels::kHidden : SvgChart::XLabels::kShown);
  chart.Bars(energy, energy_bars, "c1");
  if (carbon) {
    const ChartPanel lower{kLeft,
                           196,
                           kPlotWidth,
                           130,
                           x,
                           MakeValueAxis(most_carbon / carbon_unit.size, 4,
                                         fmt::format("carbon, {}CO2e", carbon_unit.name))};
    chart.Grid(lower, SvgChart::XLabels::kShown);
    chart.Bars(lower, carbon_bars, "c3");
  }
  return std::move(chart).Finish();
}

std::string CounterfactualChart(const Report& report) {
  if (report.counterfactuals.empty() || !report.energy) return {};
  std::vector<Alternative> energy = {
      {"this run", report.energy->v, FormatEnergy(*report.energy), "c1"}};
  std::vector<Alternative> carbon = {
      {"this run", report.carbon ? std::optional(report.carbon->v) : std::nullopt,
       FormatOr(report.carbon, FormatCarbon, "unknown"), "c3"}};
  std::vector<Alternative> time = {
      {"this run", report.duration.count(), FormatDuration(report.duration), "c4"}};
  const auto with = [](const std::string& text, const std::string& difference) {
    return difference.empty() ? text : fmt::format("{} ({})", text, difference);
  };
  for (const CounterfactualLine& c : report.counterfactuals) {
    const std::string label = CounterfactualLabel(c);
    energy.push_back({label, c.energy.v,
                      with(FormatEnergy(c.energy), FormatDifference(c.energy.v, report.energy->v)),
                      "c5"});
    carbon.push_back(
        {label, c.carbon ? std::optional(c.carbon->v) : std::nullopt,
         c.carbon ? with(FormatCarbon(*c.carbon),
                         report.carbon ? FormatDifference(c.carbon->v, report.carbon->v) : "")
                  : std::string("unknown"),
         "c5"});
    time.push_back({label, c.duration.count(),
                    with(FormatDuration(c.duration),
                         FormatDifference(c.duration.count(), report.duration.count())),
                    "c5"});
  }
  const double block = 24.0 * static_cast<double>(energy.size()) + 26;
  SvgChart chart(kWidth, 3 * block + 10, "This run beside what it would have been otherwise");
  double y = DrawAlternatives(chart, 14, "energy", energy);
  y = DrawAlternatives(chart, y, "carbon", carbon);
  DrawAlternatives(chart, y, "time", time);
  return std::move(chart).Finish();
}

}  // namespace lowtide
