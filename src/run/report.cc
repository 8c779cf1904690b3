#include "run/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "run/quantity_text.h"

namespace lowtide {
namespace {

// Shares below this are rounding, not missing data.
constexpr double kNoticeableShare = 1e-6;

std::optional<GramsPerKwh> MeanIntensity(std::optional<Grams> carbon, Joules known, double pue) {
  if (!carbon || !(known.v > 0) || !(pue > 0)) return std::nullopt;
  return GramsPerKwh(carbon->v / (ToKwh(known).v * pue));
}

// The distinct values in order of first use.
template <class Get>
std::string Joined(const std::vector<IntensityRecord>& records, Get get) {
  std::vector<std::string> seen;
  for (const auto& record : records) {
    if (std::ranges::find(seen, get(record)) == seen.end()) seen.push_back(get(record));
  }
  return fmt::format("{}", fmt::join(seen, ", "));
}

IntensitySummary Summarise(const RunData& run, std::optional<Joules> energy,
                           std::optional<Grams> carbon, double pue) {
  IntensitySummary out;
  out.source = Joined(run.intensity, [](const auto& r) { return r.source; });
  out.signal = Joined(run.intensity, [](const auto& r) { return r.signal; });
  out.basis = Joined(run.intensity, [](const auto& r) { return r.basis; });
  out.kind = Joined(run.intensity, [](const auto& r) { return r.kind; });
  for (const auto& record : run.intensity) {
    out.lowest = std::min(out.lowest.value_or(record.value), record.value);
    out.highest = std::max(out.highest.value_or(record.value), record.value);
  }
  if (!energy) return out;
  out.mean = MeanIntensity(carbon, *energy - run.totals.energy_without_intensity, pue);
  if (energy->v > 0) {
    const auto share = [&](Joules part) { return std::clamp(part / *energy, 0.0, 1.0); };
    out.missing_share = carbon ? share(run.totals.energy_without_intensity) : 1.0;
    out.estimated_share = share(run.totals.energy_with_estimated_intensity);
  }
  return out;
}

std::vector<ComponentLine> ComponentLines(const RunData& run, std::optional<Joules> total) {
  std::vector<ComponentLine> out;
  for (const ComponentRecord& record : run.components) {
    ComponentLine line{record, std::nullopt, std::nullopt};
    if (record.energy && run.totals.duration.count() > 0) {
      line.mean_power = *record.energy / run.totals.duration;
    }
    if (record.energy && record.counted && total && total->v > 0) {
      line.share = *record.energy / *total;
    }
    out.push_back(std::move(line));
  }
  return out;
}

std::vector<ProvenanceShare> Shares(const RunData& run, std::optional<Joules> total) {
  std::vector<ProvenanceShare> out;
  for (const auto status : {Provenance::kMeasured, Provenance::kModelled, Provenance::kSimulated,
                            Provenance::kMissing}) {
    ProvenanceShare share;
    share.status = status;
    for (const ComponentRecord& c : run.components) {
      // A component that is missing does not count in the energy, and is named all the same.
      if (c.status != status || (!c.counted && status != Provenance::kMissing)) continue;
      ++share.components;
      if (c.energy) share.energy = share.energy.value_or(Joules(0)) + *c.energy;
    }
    if (share.components == 0) continue;
    if (share.energy && total && total->v > 0) share.share = *share.energy / *total;
    out.push_back(share);
  }
  return out;
}

std::string WhyNoEnergy(const RunData& run) {
  if (run.components.empty()) return "no component that could be measured or modelled was found";
  for (const ComponentRecord& c : run.components) {
    if (c.status == Provenance::kMissing && !c.note.empty()) {
      return fmt::format("no component gave energy; {}: {}", c.name.empty() ? c.kind : c.name,
                         c.note);
    }
  }
  return "no component gave energy";
}

std::string WhyNoCarbon(const Report& report) {
  const RunRecord& record = report.run.record;
  if (!report.energy) return "the energy is unknown: " + report.energy_missing_reason;
  const auto settings = ParseJson(record.settings_json, "settings");
  if (settings) {
    if (auto reason = JsonString(*settings, "intensity_missing_reason")) return *reason;
  }
  if (settings) {
    if (const auto source = JsonString(*settings, "intensity_source")) {
      return report.energy->v <= 0 ? "no energy was counted"
                                   : *source + " has no value for the time of the run";
    }
  }
  if (!report.run.intensity.empty()) return "no intensity slot covered the time of the run";
  return record.zone.empty()
             ? std::string("no carbon intensity was given (--intensity, --trace, --zone)")
             : fmt::format("no carbon intensity was known for zone {}", record.zone);
}

std::vector<std::string> Warnings(const Report& report) {
  std::vector<std::string> out;
  const RunData& run = report.run;
  if (run.state == RunState::kInterrupted) {
    out.emplace_back(
        "lowtide itself ended before the command did: the numbers stop at the last second written");
  }
  for (const ComponentRecord& c : run.components) {
    const std::string name = c.name.empty() ? c.kind : c.name;
    if (c.status == Provenance::kMissing) {
      out.push_back(fmt::format("{}: energy missing, see the components", name));
    } else if (c.gaps.count() >= 1) {
      out.push_back(
          fmt::format("{}: its energy is unknown for {} of the run", name, FormatDuration(c.gaps)));
    }
  }
  const auto& missing = report.intensity.missing_share;
  if (report.carbon && missing && *missing > kNoticeableShare) {
    out.push_back(fmt::format("{} of the energy has no carbon intensity and is not in the carbon",
                              FormatShare(*missing)));
  }
  return out;
}

}  // namespace

std::string_view RunStateName(RunState state) {
  switch (state) {
    case RunState::kRunning: return "running";
    case RunState::kFinished: return "finished";
    case RunState::kInterrupted: return "interrupted";
  }
  return "interrupted";
}

std::optional<double> SettingsNumber(const RunRecord& run, std::string_view key) {
  const auto settings = ParseJson(run.settings_json, "settings");
  return settings ? JsonNumber(*settings, key) : std::nullopt;
}

EpochLine MakeEpochLine(const EpochRecord& epoch, const TotalsRecord& totals, double pue) {
  EpochLine line;
  line.record = epoch;
  if (!totals.energy_known) return line;
  line.energy = epoch.energy;
  if (epoch.duration.count() > 0) line.mean_power = epoch.energy / epoch.duration;
  line.intensity = MeanIntensity(epoch.carbon, epoch.energy - epoch.energy_without_intensity, pue);
  return line;
}

Report BuildReport(RunData run, std::vector<CounterfactualLine> counterfactuals) {
  Report report;
  report.run = std::move(run);
  const RunData& data = report.run;
  report.duration = data.totals.duration;
  report.pue = SettingsNumber(data.record, "pue");
  const double pue = report.pue.value_or(1.0);
  if (data.totals.energy_known) {
    report.energy = data.totals.energy;
    if (report.pue) report.facility_energy = *report.energy * pue;
    report.carbon = data.totals.carbon;
  } else {
    report.energy_missing_reason = WhyNoEnergy(data);
  }
  if (!report.carbon) report.carbon_missing_reason = WhyNoCarbon(report);
  report.components = ComponentLines(data, report.energy);
  report.shares = Shares(data, report.energy);
  report.intensity = Summarise(data, report.energy, report.carbon, pue);
  for (const EpochRecord& epoch : data.epochs) {
    report.epochs.push_back(MakeEpochLine(epoch, data.totals, pue));
  }
  report.counterfactuals = std::move(counterfactuals);
  report.warnings = Warnings(report);
  return report;
}

}  // namespace lowtide
