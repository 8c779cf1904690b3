#include "store/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/json.h"
#include "store/store.h"

namespace lowtide {
namespace {

constexpr std::string_view kRunColumns =
    "SELECT key, run_id, name, command, working_directory, host, started_at, writer_pid, "
    "writer_start_ticks, writer_boot_id, zone, policy, settings, grid_start, time_scale, ended_at, "
    "exit_code, duration_s, energy_j, energy_known, carbon_g, energy_without_intensity_j, "
    "energy_with_estimated_intensity_j FROM runs ";

template <class Unit>
std::optional<Unit> OptionalUnit(const sqlite::Query& query, int column) {
  const auto value = query.OptionalDouble(column);
  return value ? std::optional<Unit>(Unit(*value)) : std::nullopt;
}

// What we write is within these bounds; anything else is a damaged file's and is clamped, so that
// sums of times stay defined.
constexpr std::int64_t kLastMillis = 253'402'300'799'999;  // 9999-12-31T23:59:59.999Z
constexpr double kLongestSeconds = 4e9;
constexpr double kLargestTimeScale = 1e6;

TimePoint ClampedTime(std::int64_t millis) {
  return FromUnixMillis(std::clamp<std::int64_t>(millis, 0, kLastMillis));
}

Seconds Duration(const sqlite::Query& query, int column) {
  return Seconds(std::clamp(query.Double(column), 0.0, kLongestSeconds));
}

int SmallInt(const sqlite::Query& query, int column) {
  return static_cast<int>(std::clamp<std::int64_t>(
      query.Int(column), std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

Result<std::vector<std::string>> ParseCommand(const std::string& text, const std::string& run_id) {
  const std::string name = fmt::format("command of run {}", run_id);
  LOWTIDE_TRY(const Json parsed, ParseJson(text, name));
  std::vector<std::string> out;
  if (!parsed.is_array()) return Fail(Code::kDataLoss, name + " is not a list");
  for (const auto& word : parsed) {
    if (!word.is_string()) return Fail(Code::kDataLoss, name + " holds something else than text");
    out.push_back(word.get<std::string>());
  }
  return out;
}

Result<std::map<std::string, double>> ParseMetrics(const std::string& text) {
  LOWTIDE_TRY(const Json parsed, ParseJson(text, "metrics of an epoch"));
  std::map<std::string, double> out;
  if (!parsed.is_object()) return Fail(Code::kDataLoss, "metrics of an epoch are not an object");
  for (const auto& [name, value] : parsed.items()) {
    if (value.is_number()) {
      out.emplace(name, value.get<double>());
    } else if (value.is_null()) {
      out.emplace(name, std::numeric_limits<double>::quiet_NaN());
    }
  }
  return out;
}

Result<RunRow> ReadRun(const sqlite::Query& query) {
  RunRow row;
  row.key = query.Int(0);
  RunRecord& record = row.data.record;
  record.run_id = query.Text(1);
  record.name = query.Text(2);
  LOWTIDE_TRY(record.command, ParseCommand(query.Text(3), record.run_id));
  record.working_directory = query.Text(4);
  record.host = query.Text(5);
  record.started_at = ReadTime(query, 6);
  record.writer = {query.Int(7), query.Int(8), query.Text(9)};
  record.zone = query.Text(10);
  record.policy = query.Text(11);
  record.settings_json = query.Text(12);
  record.grid_start = ReadTime(query, 13);
  record.time_scale = std::clamp(query.Double(14), 0.0, kLargestTimeScale);
  if (const auto ended = query.OptionalInt(15)) {
    row.data.end = RunEnd{ClampedTime(*ended), SmallInt(query, 16)};
  }
  TotalsRecord& totals = row.data.totals;
  totals.duration = Duration(query, 17);
  totals.energy = Joules(query.Double(18));
  totals.energy_known = query.Int(19) != 0;
  totals.carbon = OptionalUnit<Grams>(query, 20);
  totals.energy_without_intensity = Joules(query.Double(21));
  totals.energy_with_estimated_intensity = Joules(query.Double(22));
  if (row.data.end) {
    row.data.state = RunState::kFinished;
  } else {
    row.data.state = IsAlive(record.writer) ? RunState::kRunning : RunState::kInterrupted;
  }
  return row;
}

// Calls `read` for each row; the whole is an error as soon as one row is.
template <class Record, class Read>
Result<std::vector<Record>> ReadAll(sqlite::Query& query, Read read) {
  std::vector<Record> out;
  while (true) {
    LOWTIDE_TRY(const bool more, query.Next());
    if (!more) return out;
    LOWTIDE_TRY(Record record, read(query));
    out.push_back(std::move(record));
  }
}

bool IsRunIdText(std::string_view id) {
  return !id.empty() && id.size() <= 26 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
}

std::string UpperCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

}  // namespace

TimePoint ReadTime(const sqlite::Query& query, int column) {
  return ClampedTime(query.Int(column));
}

Result<std::vector<RunRow>> ReadRuns(sqlite::Database& db, std::string_view name,
                                     std::size_t limit) {
  const auto bound = static_cast<std::int64_t>(
      std::min<std::size_t>(limit, static_cast<std::size_t>(std::numeric_limits<int>::max())));
  if (name.empty()) {
    LOWTIDE_TRY(auto query, db.Prepare(std::string(kRunColumns) + "ORDER BY run_id DESC LIMIT ?1"));
    return ReadAll<RunRow>(query.Bind(bound), ReadRun);
  }
  LOWTIDE_TRY(auto query, db.Prepare(std::string(kRunColumns) +
                                     "WHERE name = ?1 ORDER BY run_id DESC LIMIT ?2"));
  return ReadAll<RunRow>(query.Bind(name, bound), ReadRun);
}

Result<RunRow> FindRun(sqlite::Database& db, std::string_view id) {
  if (id == "last") {
    LOWTIDE_TRY(auto runs, ReadRuns(db, "", 1));
    if (runs.empty()) return Fail(Code::kNotFound, "there is no run yet");
    return std::move(runs.front());
  }
  if (!IsRunIdText(id)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("\"{}\" is no run id: expected up to 26 letters and digits, or "
                            "\"last\"",
                            id));
  }
  // Upper bound of the prefix: '~' sorts after every character of an id.
  const std::string prefix = UpperCase(id);
  LOWTIDE_TRY(auto query,
              db.Prepare(std::string(kRunColumns) +
                         "WHERE run_id >= ?1 AND run_id < ?2 ORDER BY run_id DESC LIMIT 3"));
  LOWTIDE_TRY(auto found, ReadAll<RunRow>(query.Bind(prefix, prefix + "~"), ReadRun));
  if (found.empty()) {
    return Fail(Code::kNotFound,
                fmt::format("no run \"{}\"; `lowtide runs list` shows those there are", id));
  }
  if (found.size() > 1) {
    return Fail(Code::kInvalidArgument,
                fmt::format("\"{}\" is the beginning of several runs ({}, {}{}): give more of it",
                            id, found[0].data.record.run_id, found[1].data.record.run_id,
                            found.size() > 2 ? ", ..." : ""));
  }
  return std::move(found.front());
}

Result<std::vector<ComponentRecord>> ReadComponents(sqlite::Database& db, std::int64_t run) {
  LOWTIDE_TRY(auto query, db.Prepare("SELECT idx, kind, name, uuid, backend, driver, status, "
                                     "method, note, energy_j, host_energy_j, disagreement_pct, "
                                     "gaps_s, counted FROM components WHERE run = ? ORDER BY idx"));
  return ReadAll<ComponentRecord>(
      query.Bind(run), [](const sqlite::Query& row) -> Result<ComponentRecord> {
        ComponentRecord c;
        c.index = SmallInt(row, 0);
        c.kind = row.Text(1);
        c.name = row.Text(2);
        c.uuid = row.Text(3);
        c.backend = row.Text(4);
        c.driver = row.Text(5);
        const auto status = ParseProvenance(row.Text(6));
        if (!status) {
          return Fail(Code::kDataLoss,
                      fmt::format("component {}: unknown status \"{}\"", c.index, row.Text(6)));
        }
        c.status = *status;
        c.method = row.Text(7);
        c.note = row.Text(8);
        c.energy = OptionalUnit<Joules>(row, 9);
        c.host_energy = OptionalUnit<Joules>(row, 10);
        c.disagreement_pct = row.OptionalDouble(11);
        c.gaps = Duration(row, 12);
        c.counted = row.Int(13) != 0;
        return c;
      });
}

Result<std::vector<SampleRecord>> ReadSamples(sqlite::Database& db, std::int64_t run) {
  LOWTIDE_TRY(auto query, db.Prepare("SELECT component, unix_s, span_s, energy_j, limit_w "
                                     "FROM samples WHERE run = ?"));
  LOWTIDE_TRY(
      auto samples,
      ReadAll<SampleRecord>(query.Bind(run), [](const sqlite::Query& row) -> Result<SampleRecord> {
        return SampleRecord{SmallInt(row, 0), row.Int(1), SmallInt(row, 2), row.Double(3),
                            row.OptionalDouble(4)};
      }));
  std::ranges::sort(samples, {},
                    [](const SampleRecord& s) { return std::pair(s.component, s.unix_s); });
  return samples;
}

Result<std::vector<EpochRecord>> ReadEpochs(sqlite::Database& db, std::int64_t run) {
  LOWTIDE_TRY(auto query,
              db.Prepare("SELECT idx, started_at, ended_at, duration_s, energy_j, carbon_g, "
                         "energy_without_intensity_j, power_limit_w, steps, metrics FROM epochs "
                         "WHERE run = ? ORDER BY idx"));
  return ReadAll<EpochRecord>(query.Bind(run), [](const sqlite::Query& row) -> Result<EpochRecord> {
    EpochRecord e;
    e.index = SmallInt(row, 0);
    e.started_at = ReadTime(row, 1);
    if (const auto end = row.OptionalInt(2)) {
      e.ended_at = ClampedTime(*end);
    }
    e.duration = Duration(row, 3);
    e.energy = Joules(row.Double(4));
    e.carbon = OptionalUnit<Grams>(row, 5);
    e.energy_without_intensity = Joules(row.Double(6));
    e.power_limit = OptionalUnit<Watts>(row, 7);
    e.steps = row.Int(8);
    LOWTIDE_TRY(e.metrics, ParseMetrics(row.Text(9)));
    return e;
  });
}

Result<std::vector<DecisionRecord>> ReadDecisions(sqlite::Database& db, std::int64_t run) {
  LOWTIDE_TRY(auto query,
              db.Prepare("SELECT at, power_limit_w, reason, forecast_g_per_kwh, applied "
                         "FROM decisions WHERE run = ? ORDER BY seq"));
  return ReadAll<DecisionRecord>(
      query.Bind(run), [](const sqlite::Query& row) -> Result<DecisionRecord> {
        return DecisionRecord{ReadTime(row, 0), OptionalUnit<Watts>(row, 1), row.Text(2),
                              OptionalUnit<GramsPerKwh>(row, 3), row.Int(4) != 0};
      });
}

Result<std::vector<IntensityRecord>> ReadIntensity(sqlite::Database& db, std::int64_t run) {
  LOWTIDE_TRY(auto query,
              db.Prepare("SELECT from_ms, to_ms, value_g_per_kwh, source, signal, basis, kind "
                         "FROM intensity WHERE run = ? ORDER BY from_ms"));
  return ReadAll<IntensityRecord>(
      query.Bind(run), [](const sqlite::Query& row) -> Result<IntensityRecord> {
        return IntensityRecord{ReadTime(row, 0), ReadTime(row, 1), GramsPerKwh(row.Double(2)),
                               row.Text(3),      row.Text(4),      row.Text(5),
                               row.Text(6)};
      });
}

Result<std::vector<EventRecord>> ReadEvents(sqlite::Database& db, std::int64_t run) {
  LOWTIDE_TRY(auto query,
              db.Prepare("SELECT at, kind, message FROM events WHERE run = ? ORDER BY seq"));
  return ReadAll<EventRecord>(query.Bind(run), [](const sqlite::Query& row) -> Result<EventRecord> {
    return EventRecord{ReadTime(row, 0), row.Text(1), row.Text(2)};
  });
}

Result<std::vector<CurvePointRecord>> ReadCurve(sqlite::Database& db, std::int64_t run) {
  LOWTIDE_TRY(auto query, db.Prepare("SELECT limit_w, throughput_per_s, draw_w FROM run_curves "
                                     "WHERE run = ? ORDER BY limit_w DESC"));
  return ReadAll<CurvePointRecord>(
      query.Bind(run), [](const sqlite::Query& row) -> Result<CurvePointRecord> {
        return CurvePointRecord{row.Double(0), row.Double(1), row.Double(2)};
      });
}

}  // namespace lowtide
