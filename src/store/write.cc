#include "store/write.h"

#include <cmath>

#include "base/json.h"

namespace lowtide {
namespace {

// Not-a-number (a diverged loss) is kept as null.
std::string MetricsJson(const std::map<std::string, double>& metrics) {
  Json out = Json::object();
  for (const auto& [name, value] : metrics) {
    if (std::isfinite(value)) {
      out[name] = value;
    } else {
      out[name] = nullptr;
    }
  }
  return DumpJson(out);
}

}  // namespace

Status WriteComponents(sqlite::Database& db, const RunKey& run,
                       const std::vector<ComponentRecord>& components) {
  if (components.empty()) return {};
  LOWTIDE_TRY(
      auto query,
      db.Prepare("INSERT OR REPLACE INTO components VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  for (const auto& c : components) {
    LOWTIDE_TRY_STATUS(query
                           .Bind(run.key, c.index, c.kind, c.name, c.uuid, c.backend, c.driver,
                                 ProvenanceName(c.status), c.method, c.note, c.energy,
                                 c.host_energy, c.disagreement_pct, c.gaps, c.counted)
                           .Run());
  }
  return {};
}

Status WriteSamples(sqlite::Database& db, const RunKey& run,
                    const std::vector<SampleRecord>& samples) {
  if (samples.empty()) return {};
  LOWTIDE_TRY(auto query,
              db.Prepare("INSERT INTO samples VALUES(?,?,?,?,?,?) ON CONFLICT DO UPDATE SET "
                         "span_s = max(span_s, excluded.span_s), "
                         "energy_j = energy_j + excluded.energy_j, "
                         "limit_w = coalesce(excluded.limit_w, limit_w)"));
  for (const auto& s : samples) {
    // A late second of a compacted minute joins its minute.
    const bool late = s.unix_s < run.compacted_until;
    LOWTIDE_TRY_STATUS(query
                           .Bind(run.key, late ? MinuteOf(s.unix_s) : s.unix_s, s.component,
                                 late ? kMinuteSpan : s.span_s, s.energy_j, s.limit_w)
                           .Run());
  }
  return {};
}

Status WriteEpochs(sqlite::Database& db, const RunKey& run,
                   const std::vector<EpochRecord>& epochs) {
  if (epochs.empty()) return {};
  LOWTIDE_TRY(auto query,
              db.Prepare("INSERT OR REPLACE INTO epochs VALUES(?,?,?,?,?,?,?,?,?,?,?)"));
  for (const auto& e : epochs) {
    LOWTIDE_TRY_STATUS(query
                           .Bind(run.key, e.index, e.started_at, e.ended_at, e.duration, e.energy,
                                 e.carbon, e.energy_without_intensity, e.power_limit, e.steps,
                                 MetricsJson(e.metrics))
                           .Run());
  }
  return {};
}

Status WriteDecisions(sqlite::Database& db, const RunKey& run,
                      const std::vector<DecisionRecord>& decisions) {
  if (decisions.empty()) return {};
  LOWTIDE_TRY(auto query, db.Prepare("INSERT INTO decisions SELECT ?1, coalesce(max(seq), 0) + 1, "
                                     "?2, ?3, ?4, ?5, ?6 FROM decisions WHERE run = ?1"));
  for (const auto& d : decisions) {
    LOWTIDE_TRY_STATUS(
        query.Bind(run.key, d.at, d.power_limit, d.reason, d.forecast, d.applied).Run());
  }
  return {};
}

Status WriteIntensity(sqlite::Database& db, const RunKey& run,
                      const std::vector<IntensityRecord>& intensity) {
  if (intensity.empty()) return {};
  LOWTIDE_TRY(auto query, db.Prepare("INSERT OR REPLACE INTO intensity VALUES(?,?,?,?,?,?,?,?)"));
  for (const auto& i : intensity) {
    LOWTIDE_TRY_STATUS(
        query.Bind(run.key, i.from, i.to, i.value, i.source, i.signal, i.basis, i.kind).Run());
  }
  return {};
}

Status WriteEvents(sqlite::Database& db, const RunKey& run,
                   const std::vector<EventRecord>& events) {
  if (events.empty()) return {};
  LOWTIDE_TRY(auto query, db.Prepare("INSERT INTO events SELECT ?1, coalesce(max(seq), 0) + 1, ?2, "
                                     "?3, ?4 FROM events WHERE run = ?1"));
  for (const auto& e : events) {
    LOWTIDE_TRY_STATUS(query.Bind(run.key, e.at, e.kind, e.message).Run());
  }
  return {};
}

Status WriteCurve(sqlite::Database& db, const RunKey& run,
                  const std::vector<CurvePointRecord>& curve) {
  if (curve.empty()) return {};
  LOWTIDE_TRY(auto clear, db.Prepare("DELETE FROM run_curves WHERE run = ?"));
  LOWTIDE_TRY_STATUS(clear.Bind(run.key).Run());
  LOWTIDE_TRY(auto query, db.Prepare("INSERT INTO run_curves VALUES(?,?,?,?)"));
  for (const auto& p : curve) {
    LOWTIDE_TRY_STATUS(query.Bind(run.key, p.limit_w, p.throughput_per_s, p.draw_w).Run());
  }
  return {};
}

Status WriteTotals(sqlite::Database& db, const RunKey& run, const TotalsRecord& totals) {
  LOWTIDE_TRY(auto query,
              db.Prepare("UPDATE runs SET duration_s = ?2, energy_j = ?3, energy_known = ?4, "
                         "carbon_g = ?5, energy_without_intensity_j = ?6, "
                         "energy_with_estimated_intensity_j = ?7 WHERE key = ?1"));
  return query
      .Bind(run.key, totals.duration, totals.energy, totals.energy_known, totals.carbon,
            totals.energy_without_intensity, totals.energy_with_estimated_intensity)
      .Run();
}

}  // namespace lowtide
