#include "run/report_json.h"

#include <cmath>

namespace lowtide {
namespace {

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json Number(const std::optional<double>& value) { return value ? Number(*value) : Json(nullptr); }
template <class Tag>
Json Number(const std::optional<Quantity<Tag>>& value) {
  return value ? Number(value->v) : Json(nullptr);
}
Json Kwh(const std::optional<Joules>& energy) {
  return energy ? Number(ToKwh(*energy).v) : Json(nullptr);
}
Json Time(TimePoint time) { return FormatTime(time); }
Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json Components(const Report& report) {
  Json out = Json::array();
  for (const ComponentLine& line : report.components) {
    const ComponentRecord& c = line.record;
    out.push_back({{"name", c.name},
                   {"kind", c.kind},
                   {"uuid", c.uuid},
                   {"status", ProvenanceName(c.status)},
                   {"method", c.method},
                   {"energy_j", Number(c.energy)},
                   {"share", Number(line.share)},
                   {"mean_power_w", Number(line.mean_power)},
                   {"host_energy_j", Number(c.host_energy)},
                   {"disagreement_pct", Number(c.disagreement_pct)},
                   {"gaps_s", Number(c.gaps.count())},
                   {"counted", c.counted},
                   {"backend", c.backend},
                   {"driver", c.driver},
                   {"note", c.note}});
  }
  return out;
}

Json Shares(const Report& report) {
  Json out = Json::array();
  for (const ProvenanceShare& share : report.shares) {
    out.push_back({{"status", ProvenanceName(share.status)},
                   {"components", share.components},
                   {"energy_j", Number(share.energy)},
                   {"share", Number(share.share)}});
  }
  return out;
}

Json Intensity(const Report& report) {
  const IntensitySummary& s = report.intensity;
  return {{"source", TextOrNull(s.source)},
          {"signal", TextOrNull(s.signal)},
          {"basis", TextOrNull(s.basis)},
          {"kind", TextOrNull(s.kind)},
          {"mean_g_per_kwh", Number(s.mean)},
          {"min_g_per_kwh", Number(s.lowest)},
          {"max_g_per_kwh", Number(s.highest)},
          {"estimated_share", Number(s.estimated_share)},
          {"missing_share", Number(s.missing_share)}};
}

Json Epochs(const Report& report) {
  Json out = Json::array();
  for (const EpochLine& line : report.epochs) {
    const EpochRecord& e = line.record;
    Json metrics = Json::object();
    for (const auto& [name, value] : e.metrics) metrics[name] = Number(value);
    out.push_back({{"index", e.index},
                   {"started_at", Time(e.started_at)},
                   {"ended_at", e.ended_at ? Time(*e.ended_at) : Json(nullptr)},
                   {"duration_s", Number(e.duration.count())},
                   {"energy_j", Number(line.energy)},
                   {"carbon_g", Number(e.carbon)},
                   {"mean_power_w", Number(line.mean_power)},
                   {"intensity_g_per_kwh", Number(line.intensity)},
                   {"energy_without_intensity_j",
                    line.energy ? Number(e.energy_without_intensity.v) : Json(nullptr)},
                   {"power_limit_w", Number(e.power_limit)},
                   {"steps", e.steps},
                   {"metrics", std::move(metrics)}});
  }
  return out;
}

Json Decisions(const Report& report) {
  Json out = Json::array();
  for (const DecisionRecord& d : report.run.decisions) {
    out.push_back({{"at", Time(d.at)},
                   {"power_limit_w", Number(d.power_limit)},
                   {"reason", d.reason},
                   {"forecast_g_per_kwh", Number(d.forecast)},
                   {"applied", d.applied}});
  }
  return out;
}

Json Curve(const Report& report) {
  Json out = Json::array();
  for (const CurvePointRecord& p : report.run.curve) {
    out.push_back({{"limit_w", Number(p.limit_w)},
                   {"throughput_per_s", Number(p.throughput_per_s)},
                   {"draw_w", Number(p.draw_w)}});
  }
  return out;
}

Json Counterfactuals(const Report& report) {
  Json out = Json::array();
  for (const CounterfactualLine& c : report.counterfactuals) {
    out.push_back({{"name", c.name},
                   {"power_limit_w", Number(c.power_limit)},
                   {"carbon_g", Number(c.carbon)},
                   {"energy_kwh", Number(ToKwh(c.energy).v)},
                   {"duration_s", Number(c.duration.count())}});
  }
  return out;
}

Json Events(const Report& report) {
  Json out = Json::array();
  for (const EventRecord& e : report.run.events) {
    out.push_back({{"at", Time(e.at)}, {"kind", e.kind}, {"message", e.message}});
  }
  return out;
}

}  // namespace

Json ReportSummaryJson(const Report& report) {
  const RunRecord& run = report.run.record;
  const auto& end = report.run.end;
  return {{"run_id", run.run_id},
          {"name", run.name},
          {"state", RunStateName(report.run.state)},
          {"command", run.command},
          {"exit_code", end ? Json(end->exit_code) : Json(nullptr)},
          {"started_at", Time(run.started_at)},
          {"ended_at", end ? Time(end->ended_at) : Json(nullptr)},
          {"duration_s", Number(report.duration.count())},
          {"host", run.host},
          {"zone", TextOrNull(run.zone)},
          {"policy", run.policy},
          {"energy_kwh", Kwh(report.energy)},
          {"energy_missing_reason", TextOrNull(report.energy_missing_reason)},
          {"pue", Number(report.pue)},
          {"facility_energy_kwh", Kwh(report.facility_energy)},
          {"carbon_g", Number(report.carbon)},
          {"carbon_missing_reason", TextOrNull(report.carbon_missing_reason)}};
}

Json ReportJson(const Report& report) {
  const RunRecord& run = report.run.record;
  Json out = {{"schema", kReportSchemaVersion}};
  out.update(ReportSummaryJson(report));
  out["working_directory"] = run.working_directory;
  out["grid_start"] = Time(run.grid_start);
  out["time_scale"] = Number(run.time_scale);
  out["components"] = Components(report);
  out["shares"] = Shares(report);
  out["intensity"] = Intensity(report);
  out["epochs"] = Epochs(report);
  out["decisions"] = Decisions(report);
  out["power_curve"] = Curve(report);
  out["counterfactuals"] = Counterfactuals(report);
  auto settings = ParseJson(run.settings_json, "settings");
  out["settings"] = settings && settings->is_object() ? *std::move(settings) : Json::object();
  out["events"] = Events(report);
  out["warnings"] = report.warnings;
  return out;
}

}  // namespace lowtide
