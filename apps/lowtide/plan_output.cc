#include "plan_output.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json.h"

namespace lowtide::cli {
namespace {

constexpr std::size_t kMaxRows = 60;

template <class T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(value->v) : Json(nullptr);
}

Json SlotJson(const Slot& slot) {
  return Json{{"from", FormatTime(slot.from)},
              {"to", FormatTime(slot.to)},
              {"power_limit_w", OrNull(slot.limit)},
              {"intensity_g_per_kwh", OrNull(slot.intensity)},
              {"energy_kwh", ToKwh(slot.energy).v},
              {"carbon_g", OrNull(slot.carbon)},
              {"reason", slot.reason}};
}

Json CounterfactualJson(const Counterfactual& c) {
  return Json{{"name", c.name},
              {"power_limit_w", OrNull(c.limit)},
              {"carbon_g", OrNull(c.carbon)},
              {"energy_kwh", ToKwh(c.energy).v},
              {"duration_s", c.duration.count()}};
}

Json OriginJson(const IntensityOrigin& origin) {
  return Json{{"source", origin.source},
              {"zone", origin.zone.key},
              {"signal", std::string(SignalName(origin.signal))},
              {"basis", std::string(BasisName(origin.basis))},
              {"kind", std::string(KindName(origin.kind))}};
}

Json PolicyJson(const Policy& policy) {
  Json json{{"policy", PolicyName(policy)}};
  if (policy.kind == PolicyKind::kZeus) json["selector"] = Describe(policy.selector);
  if (policy.kind == PolicyKind::kChase) {
    json["eta"] = policy.weights.eta;
    json["max_carbon_intensity_g_per_kwh"] = policy.weights.max_intensity.v;
  }
  if (policy.kind == PolicyKind::kChase || policy.kind == PolicyKind::kZeus) {
    json["min_dwell_s"] = policy.hysteresis.min_dwell.count();
    json["min_gain"] = policy.hysteresis.min_gain;
  }
  return json;
}

Seconds DurationOf(const Plan& plan) {
  return ToSeconds(plan.finishes_at - plan.slots.front().from);
}

std::string Number(const std::optional<double>& value, std::string_view unit) {
  return value ? fmt::format("{:.1f} {}", *value, unit) : "unknown";
}

template <class T>
std::optional<double> Raw(const std::optional<T>& value) {
  return value ? std::optional(value->v) : std::nullopt;
}

std::string CurveText(const PlanReport& report) {
  const PowerCurve& curve = report.curve;
  std::string text = curve.device.empty() ? "GPU" : curve.device;
  if (curve.gpus != 1) text = fmt::format("{} x {}", curve.gpus, text);
  return fmt::format("{} on {}", curve.job.empty() ? report.curve_file : curve.job, text);
}

std::string PolicyText(const Policy& policy) {
  if (policy.kind == PolicyKind::kZeus) {
    return fmt::format("zeus, selector {}", Describe(policy.selector));
  }
  if (policy.kind == PolicyKind::kChase) {
    return fmt::format("chase, eta {:g}, maximum carbon intensity {:g} g/kWh", policy.weights.eta,
                       policy.weights.max_intensity.v);
  }
  return PolicyName(policy);
}

std::string SlotRow(const Slot& slot) {
  return fmt::format(
      "{:<24}{:<24}{:>8}  {:>13}  {:>11}  {:>11}\n", FormatTime(slot.from), FormatTime(slot.to),
      slot.limit ? fmt::format("{:g} W", slot.limit->v) : "paused",
      Number(Raw(slot.intensity), "g/kWh"), fmt::format("{:.3f} kWh", ToKwh(slot.energy).v),
      Number(Raw(slot.carbon), "g"));
}

// "-9.9 %" of the plan against `other`.
std::string Change(double plan, double other) {
  if (!(other > 0)) return "-";
  const double percent = 100 * (plan / other - 1);
  return std::abs(percent) < 0.05 ? "0.0 %" : fmt::format("{:+.1f} %", percent);
}

std::string TotalRow(std::string_view name, const std::optional<Watts>& limit, Seconds duration,
                     Joules energy, const std::optional<Grams>& carbon) {
  return fmt::format("{:<22}{:>8}  {:>8}  {:>11}  {:>11}", name,
                     limit ? fmt::format("{:g} W", limit->v) : "", FormatDuration(duration),
                     fmt::format("{:.3f} kWh", ToKwh(energy).v), Number(Raw(carbon), "g"));
}

std::string ComparisonText(const Plan& plan) {
  std::string text =
      TotalRow("this plan", std::nullopt, DurationOf(plan), plan.energy, plan.carbon);
  text += '\n';
  for (const auto& c : plan.counterfactuals) {
    text += TotalRow(c.name, c.limit, c.duration, c.energy, c.carbon);
    text += fmt::format("   the plan against it: time {}, energy {}",
                        Change(DurationOf(plan).count(), c.duration.count()),
                        Change(plan.energy.v, c.energy.v));
    if (plan.carbon && c.carbon) text += ", carbon " + Change(plan.carbon->v, c.carbon->v);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string PlanJson(const PlanReport& report) {
  const Plan& plan = report.plan;
  Json json = PolicyJson(report.policy);
  json["device"] = report.curve.device;
  json["job"] = report.curve.job;
  json["gpus"] = report.curve.gpus;
  json["power_curve"] = Json::array();
  for (const auto& point : report.curve.points) {
    json["power_curve"].push_back(Json{{"limit_w", point.limit.v},
                                       {"throughput_per_s", point.throughput_per_s},
                                       {"draw_w", point.draw.v}});
  }
  json["intensity"] = report.origin ? OriginJson(*report.origin) : Json(nullptr);
  json["slots"] = Json::array();
  for (const auto& slot : plan.slots) json["slots"].push_back(SlotJson(slot));
  json["energy_kwh"] = ToKwh(plan.energy).v;
  json["carbon_g"] = OrNull(plan.carbon);
  json["known_carbon_g"] = plan.known_carbon.v;
  json["energy_without_intensity_kwh"] = ToKwh(plan.energy_without_intensity).v;
  json["starts_at"] = FormatTime(plan.slots.front().from);
  json["finishes_at"] = FormatTime(plan.finishes_at);
  json["duration_s"] = DurationOf(plan).count();
  json["counterfactuals"] = Json::array();
  for (const auto& c : plan.counterfactuals) {
    json["counterfactuals"].push_back(CounterfactualJson(c));
  }
  json["notes"] = report.notes;
  return DumpJsonPretty(json) + "\n";
}

std::string PlanText(const PlanReport& report) {
  const Plan& plan = report.plan;
  std::string text = fmt::format("{}\npolicy {}\n", CurveText(report), PolicyText(report.policy));
  text += report.origin ? fmt::format("intensity {} ({})\n\n", report.origin->source,
                                      KindName(report.origin->kind))
                        : "intensity unknown\n\n";
  text += fmt::format("{:<24}{:<24}{:>8}  {:>13}  {:>11}  {:>11}\n", "from", "to", "limit",
                      "intensity", "energy", "carbon");
  const std::size_t count = plan.slots.size();
  const std::size_t head = count > kMaxRows ? kMaxRows / 2 : count;
  for (std::size_t i = 0; i < head; ++i) text += SlotRow(plan.slots[i]);
  if (head < count) {
    text += fmt::format("... {} more slots; --json shows them all\n", count - kMaxRows);
    for (std::size_t i = count - kMaxRows / 2; i < count; ++i) text += SlotRow(plan.slots[i]);
  }
  text += fmt::format("\n{}\nfinishes at {}\n", ComparisonText(plan), FormatTime(plan.finishes_at));
  if (count == 1) text += fmt::format("why: {}\n", plan.slots.front().reason);
  for (const auto& note : report.notes) text += fmt::format("note: {}\n", note);
  return text;
}

}  // namespace lowtide::cli
