// What one run cost, from what the store keeps of it. The report at the end of a run and
// `lowtide runs show` later are made by this code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/provenance.h"
#include "base/units.h"
#include "run/counterfactuals.h"
#include "store/records.h"

namespace lowtide {

struct ComponentLine {
  ComponentRecord record;
  std::optional<Watts> mean_power;  // over the run
  std::optional<double> share;      // of the run's energy; nothing when not counted or missing
};

struct EpochLine {
  EpochRecord record;
  std::optional<Joules> energy;  // nothing when no component gave any
  std::optional<Watts> mean_power;
  std::optional<GramsPerKwh> intensity;  // energy-weighted mean of what is known
};

// Counted components of one provenance together.
struct ProvenanceShare {
  Provenance status = Provenance::kMissing;
  int components = 0;
  std::optional<Joules> energy;  // nothing for kMissing: unknown, not 0
  std::optional<double> share;   // of the run's energy
};

// Where several sources, signals or kinds were used they are joined by ", ".
struct IntensitySummary {
  std::string source;  // empty: none was used
  std::string signal;
  std::string basis;
  std::string kind;
  std::optional<GramsPerKwh> mean;  // energy-weighted over the energy whose intensity is known
  std::optional<GramsPerKwh> lowest;
  std::optional<GramsPerKwh> highest;
  std::optional<double> estimated_share;  // of the run's energy; nothing when energy is unknown
  std::optional<double> missing_share;
};

struct Report {
  RunData run;
  Seconds duration{0};
  // IT energy of the counted components, without PUE.
  std::optional<Joules> energy;
  std::string energy_missing_reason;      // why `energy` is nothing
  std::optional<double> pue;              // as the user set it; nothing: none was set, 1 applies
  std::optional<Joules> facility_energy;  // energy x PUE; nothing without PUE
  // Energy x PUE x intensity, of the part whose intensity is known (see missing_share).
  std::optional<Grams> carbon;
  std::string carbon_missing_reason;  // why `carbon` is nothing
  std::vector<ProvenanceShare>
      shares;  // of those there are: measured, modelled, simulated, missing
  std::vector<ComponentLine> components;
  IntensitySummary intensity;
  std::vector<EpochLine> epochs;
  std::vector<CounterfactualLine> counterfactuals;
  std::vector<std::string> warnings;  // what a reader must know, without the run's own events
};

Report BuildReport(RunData run, std::vector<CounterfactualLine> counterfactuals);

// One row, also for an epoch that is still running. `totals` says whether energy is known at all;
// `pue` (1 when none is set) is taken out of the intensity again.
EpochLine MakeEpochLine(const EpochRecord& epoch, const TotalsRecord& totals, double pue);

// "running", "finished", "interrupted".
std::string_view RunStateName(RunState state);

// The number at `key` of the run's settings; nothing when it is not there.
std::optional<double> SettingsNumber(const RunRecord& run, std::string_view key);

}  // namespace lowtide
