#include "run/report_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/json.h"
#include "run/quantity_text.h"
#include "run/report_charts.h"
#include "run/svg_chart.h"

namespace lowtide {
namespace {

// Longer tables are cut; the JSON report has every row.
constexpr std::size_t kMaxRows = 1000;
constexpr const char* kNone = "&ndash;";

constexpr std::string_view kPageCss =
    ":root{color-scheme:light dark;--bg:#fff;--card:#f6f7f9;--ink:#1c2127;--faint:#667080;"
    "--grid:#dfe3e8;--c1:#1d63c4;--c2:#c2410c;--c3:#2f7d4f;--c4:#7a4fb5;--warn:#8a5a00;"
    "--warnbg:#fff5dc}"
    "@media (prefers-color-scheme:dark){:root{--bg:#14171b;--card:#1d2127;--ink:#e6e9ed;"
    "--faint:#98a2b0;--grid:#343b44;--c1:#6aa5f8;--c2:#fb923c;--c3:#5fbf85;--c4:#b794f0;"
    "--warn:#f0c36a;--warnbg:#2d2615}}"
    "@media print{:root{--bg:#fff;--card:#f6f7f9;--ink:#000;--faint:#555;--grid:#ddd;"
    "--c1:#1d63c4;--c2:#c2410c;--c3:#2f7d4f;--c4:#7a4fb5;--warn:#6a4500;--warnbg:#fff5dc}"
    "section,figure,tr{break-inside:avoid}}"
    "*{box-sizing:border-box}"
    "body{margin:0 auto;padding:28px 20px 60px;max-width:1040px;background:var(--bg);"
    "color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',"
    "sans-serif}"
    "h1{font-size:24px;margin:0}h2{font-size:17px;margin:36px 0 10px}"
    ".sub{color:var(--faint);margin:2px 0 0;overflow-wrap:anywhere}"
    "code{font:13px ui-monospace,'DejaVu Sans Mono',monospace;overflow-wrap:anywhere}"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:10px;"
    "margin:20px 0 0}"
    ".tile{background:var(--card);border-radius:8px;padding:12px 14px}"
    ".tile b{display:block;font-size:22px;font-weight:600;line-height:1.3}"
    ".tile span{color:var(--faint);font-size:13px;display:block;overflow-wrap:anywhere}"
    ".warn{background:var(--warnbg);color:var(--warn);border-radius:8px;padding:10px 14px;"
    "margin:16px 0 0}.warn ul{margin:0;padding-left:18px}"
    "figure{margin:0}figcaption{color:var(--faint);font-size:13px;margin-top:4px}"
    ".scroll{overflow-x:auto}"
    "table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}"
    "th{font-weight:600;color:var(--faint);text-align:left;white-space:nowrap}"
    "th,td{padding:5px 10px 5px 0;border-bottom:1px solid var(--grid);vertical-align:top}"
    "td:first-child{min-width:140px}td.n:first-child{min-width:0}"
    "th.n,td.n{text-align:right;white-space:nowrap;padding-left:10px}"
    ".badge{border:1px solid currentColor;border-radius:4px;padding:0 6px;font-size:12px;"
    "white-space:nowrap}.measured{color:var(--c3)}.modelled{color:var(--c4)}"
    ".simulated{color:var(--c1)}.missing{color:var(--c2)}"
    "footer{color:var(--faint);font-size:13px;margin-top:40px}";

std::string WattText(Watts power) { return FormatSignificant(power.v); }
std::string IntensityText(GramsPerKwh intensity) { return FormatSignificant(intensity.v); }

std::string Badge(Provenance status) {
  return fmt::format("<span class=\"badge {0}\">{0}</span>", ProvenanceName(status));
}

std::string Tile(std::string_view label, const std::string& value, const std::string& note) {
  return fmt::format("<div class=\"tile\"><span>{}</span><b>{}</b><span>{}</span></div>\n", label,
                     HtmlEscape(value), HtmlEscape(note));
}

enum class Align { kText, kNumber };
struct Column {
  std::string_view title;
  Align align = Align::kText;
};
constexpr Column NumberColumn(std::string_view title) { return {title, Align::kNumber}; }

// Cells are HTML already.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {
    html_ = "<div class=\"scroll\"><table><thead><tr>";
    for (const Column& c : columns_) {
      html_ += fmt::format("<th{}>{}</th>", Class(c), HtmlEscape(c.title));
    }
    html_ += "</tr></thead><tbody>\n";
  }
  void Row(const std::vector<std::string>& cells) {
    if (rows_++ >= kMaxRows) return;
    html_ += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      html_ += fmt::format("<td{}>{}</td>", Class(columns_[i]), cells[i]);
    }
    html_ += "</tr>\n";
  }
  std::string Finish() && {
    html_ += "</tbody></table></div>\n";
    if (rows_ > kMaxRows) {
      html_ +=
          fmt::format("<p class=\"sub\">The first {} of {} rows; the JSON report has all.</p>\n",
                      kMaxRows, rows_);
    }
    return std::move(html_);
  }

 private:
  static std::string_view Class(const Column& c) {
    return c.align == Align::kNumber ? " class=\"n\"" : "";
  }
  std::vector<Column> columns_;
  std::string html_;
  std::size_t rows_ = 0;
};

std::string Section(std::string_view title, const std::string& body) {
  if (body.empty()) return {};
  return fmt::format("<section><h2>{}</h2>\n{}</section>\n", title, body);
}

std::string Figure(const std::string& svg, const std::string& caption) {
  if (svg.empty()) return {};
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", svg, HtmlEscape(caption));
}

std::string Header(const Report& report) {
  const RunRecord& run = report.run.record;
  std::string state(RunStateName(report.run.state));
  if (report.run.end) state += fmt::format(", exit code {}", report.run.end->exit_code);
  std::string command;
  for (const auto& word : run.command) command += (command.empty() ? "" : " ") + word;
  return fmt::format(
      "<header><h1>{}</h1>\n<p class=\"sub\">Run {} &middot; {} &middot; started {}{}{}</p>\n"
      "<p class=\"sub\"><code>{}</code></p></header>\n",
      HtmlEscape(run.name), HtmlEscape(run.run_id), HtmlEscape(state), FormatTime(run.started_at),
      run.host.empty() ? "" : " on ", HtmlEscape(run.host), HtmlEscape(command));
}

std::string SharesText(const Report& report) {
  std::vector<std::string> parts;
  for (const ProvenanceShare& s : report.shares) {
    if (s.status == Provenance::kMissing) {
      parts.push_back(
          fmt::format("{} component{} missing", s.components, s.components == 1 ? "" : "s"));
    } else if (s.share) {
      parts.push_back(fmt::format("{} {}", FormatShare(*s.share), ProvenanceName(s.status)));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string Tiles(const Report& report) {
  const IntensitySummary& s = report.intensity;
  std::string energy_note = report.energy ? SharesText(report) : report.energy_missing_reason;
  if (report.facility_energy) {
    energy_note +=
        fmt::format("; {} with PUE {:g}", FormatEnergy(*report.facility_energy), *report.pue);
  }
  std::string carbon_note =
      report.carbon ? (report.pue ? "CO2e, PUE included" : "CO2e") : report.carbon_missing_reason;
  std::string source = s.source.empty() ? std::string("no source")
                                        : fmt::format("{}; kind: {}; signal: {}; basis: {}",
                                                      s.source, s.kind, s.signal, s.basis);
  if (s.estimated_share && *s.estimated_share > 0) {
    source += fmt::format("; estimated for {} of the energy", FormatShare(*s.estimated_share));
  }
  if (!report.run.record.zone.empty()) source = report.run.record.zone + ": " + source;
  std::string out = "<div class=\"tiles\">\n";
  out += Tile("energy", FormatOr(report.energy, FormatEnergy, "unknown"), energy_note);
  out += Tile("carbon", FormatOr(report.carbon, FormatCarbon, "unknown"), carbon_note);
  out += Tile("time", FormatDuration(report.duration), "policy " + report.run.record.policy);
  out += Tile("mean power",
              report.energy && report.duration.count() > 0
                  ? WattText(*report.energy / report.duration) + " W"
                  : "unknown",
              "of the counted components");
  out += Tile("mean intensity", s.mean ? IntensityText(*s.mean) + " g/kWh" : "unknown", source);
  return out + "</div>\n";
}

std::string Warnings(const Report& report) {
  std::string items;
  const RunRecord& run = report.run.record;
  if (run.time_scale != 1) {
    items += fmt::format(
        "<li>Accelerated: grid time runs {:g} times as fast as the run, from {} on. Carbon is that "
        "of a demonstration, not of the grid at the time of the run.</li>\n",
        run.time_scale, FormatTime(run.grid_start));
  } else if (run.grid_start != run.started_at) {
    items += fmt::format("<li>Grid time begins at {}: not the grid at the time of the run.</li>\n",
                         FormatTime(run.grid_start));
  }
  if (std::ranges::any_of(report.shares,
                          [](const auto& s) { return s.status == Provenance::kSimulated; })) {
    items += "<li>Some of the energy is simulated, not measured.</li>\n";
  }
  for (const auto& warning : report.warnings) {
    items += fmt::format("<li>{}</li>\n", HtmlEscape(warning));
  }
  std::size_t shown = 0;
  for (const auto& event : report.run.events) {
    if (event.kind != "warning" || ++shown > kMaxRows) continue;
    items += fmt::format("<li>{}: {}</li>\n", FormatTime(event.at), HtmlEscape(event.message));
  }
  if (items.empty()) return {};
  return fmt::format("<div class=\"warn\"><ul>\n{}</ul></div>\n", items);
}

std::string Components(const Report& report) {
  if (report.components.empty()) return {};
  Table table({{"component"},
               {"kind"},
               {"status"},
               NumberColumn("energy"),
               NumberColumn("mean power, W"),
               NumberColumn("share"),
               {"method and notes"}});
  for (const ComponentLine& line : report.components) {
    const ComponentRecord& c = line.record;
    std::string notes = HtmlEscape(c.method);
    const auto add = [&notes](const std::string& text) {
      if (!notes.empty()) notes += "; ";
      notes += HtmlEscape(text);
    };
    if (c.disagreement_pct) {
      add(fmt::format("{:+.1f} % against integrated power", *c.disagreement_pct));
    }
    if (c.host_energy) add("whole host " + FormatEnergy(*c.host_energy));
    if (c.gaps.count() >= 1) add("unknown for " + FormatDuration(c.gaps));
    if (!c.note.empty()) add(c.note);
    if (!c.counted && c.status != Provenance::kMissing) add("not in the total");
    table.Row({HtmlEscape(c.name.empty() ? c.kind : c.name) +
                   (c.uuid.empty() ? "" : fmt::format("<br><code>{}</code>", HtmlEscape(c.uuid))),
               HtmlEscape(c.kind), Badge(c.status), FormatOr(c.energy, FormatEnergy, kNone),
               FormatOr(line.mean_power, WattText, kNone), FormatOr(line.share, FormatShare, kNone),
               notes});
  }
  return std::move(table).Finish();
}

std::string Epochs(const Report& report) {
  if (report.epochs.empty()) return {};
  Table table({NumberColumn("epoch"),
               NumberColumn("time"),
               NumberColumn("energy"),
               NumberColumn("mean power, W"),
               NumberColumn("intensity, g/kWh"),
               NumberColumn("carbon"),
               NumberColumn("limit, W"),
               NumberColumn("steps"),
               {"metrics"}});
  for (const EpochLine& line : report.epochs) {
    const EpochRecord& e = line.record;
    std::string metrics;
    for (const auto& [name, value] : e.metrics) {
      metrics += fmt::format("{}{} {}", metrics.empty() ? "" : ", ", HtmlEscape(name),
                             FormatSignificant(value, 4));
    }
    table.Row({fmt::format("{}{}", e.index, e.ended_at ? "" : " (unfinished)"),
               FormatDuration(e.duration), FormatOr(line.energy, FormatEnergy, kNone),
               FormatOr(line.mean_power, WattText, kNone),
               FormatOr(line.intensity, IntensityText, kNone),
               FormatOr(e.carbon, FormatCarbon, kNone), FormatOr(e.power_limit, WattText, kNone),
               fmt::format("{}", e.steps), metrics});
  }
  return std::move(table).Finish();
}

std::string Decisions(const Report& report) {
  if (report.run.decisions.empty()) return {};
  Table table({{"at, UTC"}, NumberColumn("limit, W"), NumberColumn("forecast, g/kWh"), {"reason"}});
  for (const DecisionRecord& d : report.run.decisions) {
    table.Row({FormatTime(d.at), FormatOr(d.power_limit, WattText, "kept"),
               FormatOr(d.forecast, IntensityText, kNone),
               HtmlEscape(d.reason) + (d.applied ? "" : " <b>(not applied)</b>")});
  }
  return std::move(table).Finish();
}

std::string Curve(const Report& report) {
  if (report.run.curve.empty()) return {};
  Table table({NumberColumn("limit, W"), NumberColumn("steps/s, all GPUs"),
               NumberColumn("draw, W, all GPUs"), NumberColumn("J/step")});
  for (const CurvePointRecord& p : report.run.curve) {
    table.Row({FormatSignificant(p.limit_w), FormatSignificant(p.throughput_per_s, 4),
               FormatSignificant(p.draw_w, 4),
               p.throughput_per_s > 0 ? FormatSignificant(p.draw_w / p.throughput_per_s) : kNone});
  }
  return std::move(table).Finish();
}

std::string Settings(const Report& report) {
  const auto settings = ParseJson(report.run.record.settings_json, "settings");
  if (!settings || !settings->is_object() || settings->empty()) return {};
  Table table({{"setting"}, {"value"}});
  for (const auto& [key, value] : settings->items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : DumpJson(value);
    table.Row({HtmlEscape(key), "<code>" + HtmlEscape(text) + "</code>"});
  }
  return std::move(table).Finish();
}

}  // namespace

std::string ReportHtml(const Report& report) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>{} &ndash; Lowtide run {}</title>\n<style>{}{}</style></head>\n<body>\n",
      HtmlEscape(report.run.record.name), HtmlEscape(report.run.record.run_id), kPageCss,
      ChartCss());
  out += Header(report);
  out += Tiles(report);
  out += Warnings(report);
  out += Section("Power and carbon intensity",
                 Figure(PowerChart(report),
                        "Line: mean; band: least and most within a pixel. Breaks are times "
                        "without data. Dotted: an epoch begins."));
  out += Section("Epochs", Figure(EpochChart(report), "") + Epochs(report));
  out += Section("What else it would have been",
                 Figure(CounterfactualChart(report),
                        "The recorded steps at other power limits, from the power curve of this "
                        "run. Percentages: against this run."));
  out += Section("Components", Components(report));
  out += Section("Decisions", Decisions(report));
  out += Section("Power curve", Curve(report));
  out += Section("Settings", Settings(report));
  out +=
      "<footer>Made by Lowtide. Energy is that of the counted components without PUE; carbon "
      "includes PUE where one is set. &ndash; means unknown, never zero.</footer>\n";
  return out + "</body></html>\n";
}

}  // namespace lowtide
