#include "run/report_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "run/column_text.h"
#include "run/quantity_text.h"

namespace lowtide {
namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kReset = "\x1b[0m";

class Painter {
 public:
  explicit Painter(TextStyle style) : style_(style) {}
  std::string operator()(std::string_view code, std::string_view text) const {
    if (style_ == TextStyle::kPlain) return std::string(text);
    return fmt::format("{}{}{}", code, text, kReset);
  }

 private:
  TextStyle style_;
};

std::string WattText(Watts power) { return FormatSignificant(power.v); }
std::string IntensityText(GramsPerKwh intensity) { return FormatSignificant(intensity.v); }

std::string Line(std::string_view label, const std::string& text) {
  return fmt::format("  {:<11} {}\n", label, text);
}

std::string EnergyTotal(const Report& report) {
  if (!report.energy) return "unknown: " + Clean(report.energy_missing_reason);
  std::string out = FormatEnergy(*report.energy);
  std::vector<std::string> parts;
  for (const ProvenanceShare& share : report.shares) {
    if (share.status == Provenance::kMissing) {
      parts.push_back(fmt::format("{} component{} missing", share.components,
                                  share.components == 1 ? "" : "s"));
    } else if (share.share) {
      parts.push_back(
          fmt::format("{} {}", FormatShare(*share.share), ProvenanceName(share.status)));
    }
  }
  if (!parts.empty()) out += fmt::format("  ({})", fmt::join(parts, ", "));
  return out;
}

std::string CarbonTotal(const Report& report) {
  if (!report.carbon) return "unknown: " + Clean(report.carbon_missing_reason);
  return FormatCarbon(*report.carbon) + " CO2e" + (report.pue ? "  (PUE included)" : "");
}

std::string IntensityTotal(const Report& report) {
  const IntensitySummary& s = report.intensity;
  std::string out = s.mean ? IntensityText(*s.mean) + " g/kWh mean" : std::string("unknown");
  if (s.lowest && s.highest && *s.lowest < *s.highest) {
    out += fmt::format(" ({} to {})", IntensityText(*s.lowest), IntensityText(*s.highest));
  }
  if (s.estimated_share && *s.estimated_share > 0) {
    out += fmt::format(", estimated for {} of the energy", FormatShare(*s.estimated_share));
  }
  return out;
}

std::string IntensitySource(const IntensitySummary& s) {
  if (s.source.empty()) return {};
  return Line("source", fmt::format("{}; kind: {}; signal: {}; basis: {}", Clean(s.source),
                                    Clean(s.kind), Clean(s.signal), Clean(s.basis)));
}

// Devices of one name are told apart by the beginning of their id.
std::string ComponentName(const Report& report, const ComponentRecord& c) {
  const std::string name = Clean(c.name.empty() ? c.kind : c.name);
  const auto same = std::ranges::count_if(report.components, [&](const ComponentLine& line) {
    return line.record.name == c.name && line.record.kind == c.kind;
  });
  return same > 1 ? name + " " + Clean(c.uuid.substr(0, 8)) : name;
}

std::string State(const Report& report) {
  const RunData& run = report.run;
  std::string out(RunStateName(run.state));
  if (run.end) out += fmt::format(", exit code {}", run.end->exit_code);
  return out;
}

std::string Totals(const Report& report, const Painter& paint) {
  const RunRecord& run = report.run.record;
  std::string command;
  for (const auto& word : run.command) command += (command.empty() ? "" : " ") + Clean(word);
  std::string out =
      paint(kBold, fmt::format("Run {}  {}  ({})", run.run_id, Clean(run.name), State(report))) +
      "\n";
  out += Line("command", Shorten(command, 100));
  out += Line("started",
              FormatTime(run.started_at) + (run.host.empty() ? "" : " on ") + Clean(run.host));
  out += Line("duration", FormatDuration(report.duration));
  out += Line("energy", paint(kBold, EnergyTotal(report)));
  if (report.energy && report.duration.count() > 0) {
    out += Line("mean power", WattText(*report.energy / report.duration) + " W");
  }
  if (report.pue) {
    out +=
        Line("PUE", fmt::format("{:g}", *report.pue) +
                        (report.facility_energy ? fmt::format(": {} with the building",
                                                              FormatEnergy(*report.facility_energy))
                                                : std::string()));
  }
  out += Line("carbon", paint(kBold, CarbonTotal(report)));
  out += Line("intensity", IntensityTotal(report));
  out += IntensitySource(report.intensity);
  out += Line("zone", run.zone.empty() ? std::string("unknown") : Clean(run.zone));
  out += Line("policy", Clean(run.policy));
  if (run.time_scale != 1) {
    out += Line(
        "grid time",
        fmt::format(
            "{} onwards, {:g} times as fast as the run: a demonstration, not the grid of this run",
            FormatTime(run.grid_start), run.time_scale));
  } else if (run.grid_start != run.started_at) {
    out += Line("grid time",
                FormatTime(run.grid_start) + " onwards: not the grid at the time of this run");
  }
  return out;
}

std::string Components(const Report& report, const Painter& paint) {
  if (report.components.empty()) return {};
  std::size_t width = 9;
  for (const ComponentLine& line : report.components) {
    width = std::max(width, Width(ComponentName(report, line.record)));
  }
  width = std::min<std::size_t>(width, 32);
  std::string out =
      paint(kDim, fmt::format("\n  {:<{}}  {:<9}  {:>9}  {:>7}  {:>6}  {}", "component", width,
                              "status", "energy", "power W", "share", "method")) +
      "\n";
  for (const ComponentLine& line : report.components) {
    const ComponentRecord& c = line.record;
    std::string method = Clean(c.method);
    if (!c.note.empty()) method += (method.empty() ? "" : "; ") + Clean(c.note);
    if (!c.counted && c.status != Provenance::kMissing) method += " (not in the total)";
    if (c.disagreement_pct) {
      method += fmt::format(" ({:+.1f} % against integrated power)", *c.disagreement_pct);
    }
    out += fmt::format(
        "  {}  {:<9}  {:>9}  {:>7}  {:>6}  {}\n",
        PadRight(Shorten(ComponentName(report, c), width), width), ProvenanceName(c.status),
        FormatOr(c.energy, FormatEnergy), FormatOr(line.mean_power, WattText),
        FormatOr(line.share, [](double s) { return fmt::format("{:.0f} %", s * 100); }), method);
  }
  return out;
}

std::string CounterfactualName(const CounterfactualLine& c) {
  std::string name = c.name;
  std::ranges::replace(name, '_', ' ');
  if (c.power_limit) name += fmt::format(" ({} W)", WattText(*c.power_limit));
  return name;
}

std::string WithDifference(const std::string& value, const std::string& difference) {
  return difference.empty() ? value : fmt::format("{} ({})", value, difference);
}

std::string Counterfactuals(const Report& report, const Painter& paint) {
  if (report.counterfactuals.empty()) return {};
  constexpr std::string_view kRow = "  {:<28}  {:>20}  {:>20}  {:>20}";
  std::string out =
      paint(kDim, "\n" + fmt::format(fmt::runtime(kRow), "what else it would have been", "energy",
                                     "carbon", "time")) +
      "\n";
  out += fmt::format(fmt::runtime(kRow), "this run", FormatOr(report.energy, FormatEnergy),
                     FormatOr(report.carbon, FormatCarbon), FormatDuration(report.duration)) +
         "\n";
  for (const CounterfactualLine& c : report.counterfactuals) {
    const std::string energy =
        WithDifference(FormatEnergy(c.energy),
                       report.energy ? FormatDifference(c.energy.v, report.energy->v) : "");
    const std::string carbon =
        c.carbon
            ? WithDifference(FormatCarbon(*c.carbon),
                             report.carbon ? FormatDifference(c.carbon->v, report.carbon->v) : "")
            : std::string("-");
    const std::string time = WithDifference(
        FormatDuration(c.duration), FormatDifference(c.duration.count(), report.duration.count()));
    out += fmt::format(fmt::runtime(kRow), CounterfactualName(c), energy, carbon, time) + "\n";
  }
  return out;
}

std::string Warnings(const Report& report, const Painter& paint) {
  std::string out;
  const auto add = [&](const std::string& text) {
    out += "  " + paint(kYellow, "warning: ") + Clean(text) + "\n";
  };
  for (const auto& warning : report.warnings) add(warning);
  for (const auto& event : report.run.events) {
    if (event.kind == "warning") add(fmt::format("{} {}", FormatTime(event.at), event.message));
  }
  return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string FormatEpochHeader() {
  return fmt::format("{:>5}  {:>7}  {:>9}  {:>8}  {:>9}  {:>9}  {:>7}  {}", "epoch", "time",
                     "energy", "power W", "g CO2/kWh", "carbon", "limit W", "metrics");
}

std::string FormatEpochRow(const EpochLine& epoch) {
  const EpochRecord& e = epoch.record;
  std::string metrics;
  for (const auto& [name, value] : e.metrics) {
    metrics += fmt::format("{}{}={}", metrics.empty() ? "" : " ", Clean(name),
                           FormatSignificant(value, 4));
  }
  std::string row =
      fmt::format("{:>5}  {:>7}  {:>9}  {:>8}  {:>9}  {:>9}  {:>7}  {}", e.index,
                  FormatDuration(e.duration), FormatOr(epoch.energy, FormatEnergy),
                  FormatOr(epoch.mean_power, WattText), FormatOr(epoch.intensity, IntensityText),
                  FormatOr(e.carbon, FormatCarbon), FormatOr(e.power_limit, WattText), metrics);
  while (row.ends_with(' ')) row.pop_back();
  return row;
}

std::string FormatEpochTable(const Report& report) {
  if (report.epochs.empty()) return {};
  std::string out = FormatEpochHeader() + "\n";
  for (const EpochLine& epoch : report.epochs) out += FormatEpochRow(epoch) + "\n";
  return out;
}

std::string FormatSummary(const Report& report, TextStyle style) {
  const Painter paint(style);
  return Totals(report, paint) + Components(report, paint) + Counterfactuals(report, paint) +
         Warnings(report, paint);
}

std::string FormatRunListHeader() {
  return fmt::format("{:<26}  {:<20}  {:<20}  {:<11}  {:>8}  {:>9}  {:>9}", "run", "name",
                     "started (UTC)", "state", "time", "energy", "carbon");
}

std::string FormatRunListRow(const Report& report) {
  const RunRecord& run = report.run.record;
  std::string state(RunStateName(report.run.state));
  if (report.run.end) state = fmt::format("exit {}", report.run.end->exit_code);
  const auto second = std::chrono::floor<std::chrono::seconds>(run.started_at);
  return fmt::format("{:<26}  {}  {:<20}  {:<11}  {:>8}  {:>9}  {:>9}", run.run_id,
                     PadRight(Shorten(Clean(run.name), 20), 20), FormatTime(second), state,
                     FormatDuration(report.duration), FormatOr(report.energy, FormatEnergy),
                     FormatOr(report.carbon, FormatCarbon));
}

}  // namespace lowtide
