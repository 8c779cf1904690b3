// What the store keeps of a run. Plain data: times are UTC, energies joules, powers watts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/provenance.h"
#include "base/time.h"
#include "base/units.h"

namespace lowtide {

enum class RunState : std::uint8_t {
  kRunning,
  kFinished,     // the command ended; exit_code is set
  kInterrupted,  // lowtide itself ended before the command did (SIGKILL, power loss)
};

// Identifies the process that writes a run, across pid reuse and reboots.
struct ProcessIdentity {
  std::int64_t pid = 0;
  std::int64_t start_ticks = 0;  // field 22 of /proc/<pid>/stat
  std::string boot_id;           // /proc/sys/kernel/random/boot_id
};

// Fixed at the start.
struct RunRecord {
  std::string run_id;  // 26 characters, sorts by time of start
  std::string name;    // --name, or what DefaultRunName makes of the command
  std::vector<std::string> command;
  std::string working_directory;
  std::string host;
  TimePoint started_at;
  ProcessIdentity writer;
  std::string zone;    // empty when unknown
  std::string policy;  // as given: "none", "fixed:200", "zeus", "chase"
  // Settings that the numbers depend on, as a JSON object: eta, max_carbon_intensity_g_per_kwh,
  // pue, cpu_energy, period, versions. Shown, exported, never interpreted by the store.
  std::string settings_json = "{}";
  // The grid's clock: grid time = grid_start + time_scale x (time - started_at).
  TimePoint grid_start;
  double time_scale = 1;
};

// One line of a report's components; the latest state wins.
struct ComponentRecord {
  int index = 0;
  std::string kind;  // "gpu", "cpu", "dram"
  std::string name;
  std::string uuid;
  std::string backend;
  std::string driver;
  Provenance status = Provenance::kMissing;
  std::string method;                 // "nvml energy counter", "integrated power at 10 Hz", ...
  std::string note;                   // why missing, MIG, share of the host, ...
  std::optional<Joules> energy;       // what counts in the run's total; nothing when missing
  std::optional<Joules> host_energy;  // of the whole host, where that is what is measured
  std::optional<double> disagreement_pct;  // counter against integrated power
  Seconds gaps{0};                         // time whose energy is unknown
  bool counted = true;                     // part of the total
};

// Energy of one component in one second (or, after compaction, in one minute).
struct SampleRecord {
  int component = 0;
  std::int64_t unix_s = 0;  // start of the second
  std::int32_t span_s = 1;  // 1, or 60 once compacted
  double energy_j = 0;
  std::optional<double> limit_w;  // the power limit in force at the end of it
};

struct EpochRecord {
  int index = 0;
  TimePoint started_at;
  std::optional<TimePoint> ended_at;  // nothing while it runs (or when the run was cut off)
  Seconds duration{0};                // monotonic, so far
  Joules energy;
  std::optional<Grams> carbon;       // of the part whose intensity is known
  Joules energy_without_intensity;   // the rest
  std::optional<Watts> power_limit;  // at its end, one GPU's
  std::int64_t steps = 0;
  std::map<std::string, double> metrics;
};

struct DecisionRecord {
  TimePoint at;
  std::optional<Watts> power_limit;  // nothing: left alone
  std::string reason;
  std::optional<GramsPerKwh> forecast;
  bool applied = true;  // false: decided, but not set (see reason)
};

// An intensity slot that energy was multiplied with; times are grid times.
struct IntensityRecord {
  TimePoint from;
  TimePoint to;
  GramsPerKwh value;
  std::string source;
  std::string signal;  // "average", "marginal"
  std::string basis;   // "lifecycle", "direct", "unstated"
  std::string kind;    // "measured", "estimated", "forecast", "yearly_average", "constant"
};

// Something a reader of the report must know: a lost GPU, a limit that was refused, a gap.
struct EventRecord {
  TimePoint at;
  std::string kind;  // "warning", "info"
  std::string message;
};

struct CurvePointRecord {
  double limit_w = 0;
  double throughput_per_s = 0;
  double draw_w = 0;
};

// Running totals.
struct TotalsRecord {
  Seconds duration{0};              // monotonic since the start
  Joules energy;                    // of counted components, without PUE
  bool energy_known = false;        // false: nothing could be measured; energy is null
  std::optional<Grams> carbon;      // energy x PUE x intensity where known; null if nowhere
  Joules energy_without_intensity;  // part of `energy`
  Joules energy_with_estimated_intensity;
};

// Everything new since the last commit; written in one transaction.
struct RunUpdate {
  std::vector<ComponentRecord> components;  // upserted by index
  std::vector<SampleRecord> samples;        // upserted by (component, unix_s); energies add up
  std::vector<EpochRecord> epochs;          // upserted by index
  std::vector<DecisionRecord> decisions;    // appended
  std::vector<IntensityRecord> intensity;   // upserted by `from`
  std::vector<EventRecord> events;          // appended
  std::vector<CurvePointRecord> curve;      // replaces the run's curve when not empty
  std::optional<TotalsRecord> totals;
};

struct RunEnd {
  TimePoint ended_at;
  int exit_code = 0;
};

// All of one run.
struct RunData {
  RunRecord record;
  RunState state = RunState::kRunning;
  std::optional<RunEnd> end;
  TotalsRecord totals;
  std::vector<ComponentRecord> components;
  std::vector<SampleRecord> samples;  // ordered by component, then time
  std::vector<EpochRecord> epochs;
  std::vector<DecisionRecord> decisions;
  std::vector<IntensityRecord> intensity;
  std::vector<EventRecord> events;
  std::vector<CurvePointRecord> curve;  // falling limits
};

// A profiled power curve is reused only for the same work on the same device.
struct CurveKey {
  std::string gpu_model;
  std::string driver;
  std::string job_name;
  std::int64_t batch_size = 0;  // 0: never said
  int gpus = 1;

  bool operator==(const CurveKey&) const = default;
};

struct StoredCurve {
  CurveKey key;
  TimePoint saved_at;
  std::vector<CurvePointRecord> points;  // falling limits
};

}  // namespace lowtide
