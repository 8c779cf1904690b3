#include "grid/providers/generation_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/csv.h"
#include "base/sort_stably.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;

// A fuel that is absent may have given this share of the rest, and the slot still counts.
constexpr double kNegligibleShare = 0.01;

struct Track {
  std::optional<GramsPerKwh> factor;
  std::vector<const Generation*> rows;  // ascending, disjoint
  std::size_t next = 0;                 // the first row that ends after the sweep's position
};

double Amount(const Generation& row) { return std::max(0.0, row.amount.value_or(0)); }

// What the track gave next to a stretch where it has no row: the larger of before and after.
double Beside(const Track& track) {
  double beside = 0;
  if (track.next > 0) beside = Amount(*track.rows[track.next - 1]);
  if (track.next < track.rows.size()) beside = std::max(beside, Amount(*track.rows[track.next]));
  return beside;
}

using Tracks = std::map<std::string_view, Track>;

Tracks MakeTracks(const std::vector<Generation>& rows, const EmissionFactors& factors, Basis basis,
                  Payload& out) {
  Tracks tracks;
  for (const Generation& row : rows) {
    if (row.from >= row.to) continue;
    const auto factor = factors.Of(row.fuel, basis);
    if (!factor) continue;
    Track& track = tracks[row.code];
    track.factor = factor;
    track.rows.push_back(&row);
  }
  for (auto& [code, track] : tracks) {
    SortStably(track.rows, &Generation::from);
    std::vector<const Generation*> kept;
    for (const Generation* row : track.rows) {
      if (!kept.empty() && kept.back()->from == row->from) {
        ++out.duplicates;
        kept.back() = row;
      } else {
        kept.push_back(row);
      }
    }
    track.rows = std::move(kept);
  }
  return tracks;
}

std::optional<GramsPerKwh> At(Tracks& tracks, TimePoint from) {
  double total = 0;
  double grams = 0;
  double absent = 0;
  for (auto& [code, track] : tracks) {
    while (track.next < track.rows.size() && track.rows[track.next]->to <= from) ++track.next;
    // Of two rows that overlap the later one holds.
    while (track.next + 1 < track.rows.size() && track.rows[track.next + 1]->from <= from) {
      ++track.next;
    }
    const bool covered = track.next < track.rows.size() && track.rows[track.next]->from <= from;
    if (!covered) {
      absent += Beside(track);
      continue;
    }
    const Generation& row = *track.rows[track.next];
    if (!row.amount) return std::nullopt;
    total += Amount(row);
    grams += Amount(row) * track.factor->v;
  }
  if (total <= 0 || absent > kNegligibleShare * total) return std::nullopt;
  return PlausibleIntensity(grams / total);
}

}  // namespace

Result<EmissionFactors> EmissionFactors::Parse(std::string_view csv) {
  LOWTIDE_TRY(const CsvTable table, ParseCsv(csv, "emission_factors.csv"));
  LOWTIDE_TRY(const std::size_t fuel, table.Require("fuel"));
  LOWTIDE_TRY(const std::size_t lifecycle, table.Require("lifecycle_g_per_kwh"));
  LOWTIDE_TRY(const std::size_t direct, table.Require("direct_g_per_kwh"));
  EmissionFactors out;
  for (const CsvRow& row : table.rows) {
    Row factors;
    const auto fail = [&](std::string_view what) {
      return Fail(Code::kInvalidArgument, fmt::format("{}:{}: {}", table.name, row.line, what));
    };
    if (row.fields[lifecycle].empty() != row.fields[direct].empty()) {
      return fail("one factor is empty, the other is not");
    }
    if (!row.fields[lifecycle].empty()) {
      LOWTIDE_TRY(const double of_life, CsvNumber(table, row, lifecycle));
      LOWTIDE_TRY(const double at_stack, CsvNumber(table, row, direct));
      factors.lifecycle = PlausibleIntensity(of_life);
      factors.direct = PlausibleIntensity(at_stack);
      if (!factors.lifecycle || !factors.direct) return fail("a factor is outside 0 to 5000");
    }
    if (!out.rows_.emplace(row.fields[fuel], factors).second) {
      return fail(fmt::format("fuel '{}' is given twice", row.fields[fuel]));
    }
  }
  const auto unknown = out.rows_.find("unknown");
  if (unknown == out.rows_.end() || !unknown->second.lifecycle) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: the fuel 'unknown' has no factor", table.name));
  }
  return out;
}

std::optional<GramsPerKwh> EmissionFactors::Of(std::string_view fuel, Basis basis) const {
  auto it = rows_.find(fuel);
  if (it == rows_.end()) it = rows_.find("unknown");
  if (it == rows_.end()) return std::nullopt;
  return basis == Basis::kDirect ? it->second.direct : it->second.lifecycle;
}

Payload IntensityFromMix(const std::vector<Generation>& rows, const EmissionFactors& factors,
                         Basis basis) {
  Payload out;
  Tracks tracks = MakeTracks(rows, factors, basis, out);
  std::set<TimePoint> edges;
  for (const auto& [code, track] : tracks) {
    for (const Generation* row : track.rows) {
      edges.insert(row->from);
      edges.insert(row->to);
    }
  }
  std::optional<TimePoint> from;
  for (const TimePoint to : edges) {
    if (from && to - *from <= 24h) {
      if (const auto value = At(tracks, *from)) {
        out.slots.push_back({*from, to, *value, false});
      } else {
        ++out.missing;
      }
    }
    from = to;
  }
  return out;
}

}  // namespace lowtide
