#include "run/counterfactuals.h"

#include <algorithm>
#include <map>
#include <span>

#include "base/series.h"
#include "plan/power_curve.h"
#include "run/report.h"

namespace lowtide {
namespace {

// Less than this of the time may lack an intensity before carbon counts as unknown.
constexpr double kLargestMissingShare = 0.01;
// Rounding in sums over a run.
constexpr double kDurationTolerance = 1e-6;

// What the curve expects of the run as it was.
struct Expected {
  double steps = 0;
  Seconds time{0};
  Joules energy;
};

// The base that stays, whatever the limit.
struct Actual {
  Seconds duration{0};
  Joules gpu_energy;
  Joules other_energy;
};

Result<PowerCurve> CurveOf(const RunData& run) {
  std::vector<PowerPoint> points;
  for (const CurvePointRecord& p : run.curve) {
    points.push_back({Watts(p.limit_w), p.throughput_per_s, Watts(p.draw_w)});
  }
  const auto gpus = std::ranges::count_if(
      run.components, [](const ComponentRecord& c) { return c.kind == "gpu" && c.counted; });
  return MakePowerCurve("", run.record.name, std::max<int>(1, static_cast<int>(gpus)),
                        std::move(points));
}

// Samples of one GPU in the order of time; all GPUs have the same limit.
std::span<const SampleRecord> GpuSamples(const RunData& run) {
  const auto gpu = std::ranges::find_if(
      run.components, [](const ComponentRecord& c) { return c.kind == "gpu" && c.counted; });
  if (gpu == run.components.end()) return {};
  return std::ranges::equal_range(run.samples, gpu->index, {}, &SampleRecord::component);
}

// Seconds of the epoch at each limit.
std::map<double, double> TimeAtLimits(std::span<const SampleRecord> samples,
                                      const EpochRecord& epoch) {
  std::map<double, double> out;
  if (!epoch.ended_at) return out;
  const double from = UnixSeconds(epoch.started_at);
  const double to = UnixSeconds(*epoch.ended_at);
  const auto first = std::ranges::partition_point(samples, [from](const SampleRecord& s) {
    return static_cast<double>(s.unix_s) + s.span_s <= from;
  });
  for (auto s = first; s != samples.end() && static_cast<double>(s->unix_s) < to; ++s) {
    const auto start = static_cast<double>(s->unix_s);
    const double overlap = std::min(to, start + s->span_s) - std::max(from, start);
    if (s->limit_w && overlap > 0) out[*s->limit_w] += overlap;
  }
  return out;
}

// Time and energy that the curve expects for the epoch's steps at the limits that were in force: of
// a mixture, throughput and draw are the time-weighted means.
void AddExpected(const PowerCurve& curve, std::span<const SampleRecord> samples,
                 const EpochRecord& epoch, Expected& sum) {
  if (epoch.steps <= 0) return;
  std::map<double, double> limits = TimeAtLimits(samples, epoch);
  if (limits.empty()) limits[epoch.power_limit.value_or(curve.Highest().limit).v] = 1;
  double weight = 0;
  double throughput = 0;
  Watts draw;
  for (const auto& [limit, seconds] : limits) {
    const PowerPoint point = Interpolate(curve, Watts(limit));
    weight += seconds;
    throughput += seconds * point.throughput_per_s;
    draw += point.draw * seconds;
  }
  const auto steps = static_cast<double>(epoch.steps);
  const Seconds time(steps / (throughput / weight));
  sum.steps += steps;
  sum.time += time;
  sum.energy += draw / weight * time;
}

// `actual` with what was expected of the steps exchanged for what is expected at another limit. A
// run that was quicker or thriftier than its curve is scaled instead, so nothing goes below 0.
double Exchange(double actual, double expected, double other) {
  if (expected <= 0) return actual;
  return actual >= expected ? actual - expected + other : other * (actual / expected);
}

CounterfactualLine Replay(const RunData& run, const Actual& actual, const Expected& expected,
                          const Series<GramsPerKwh>& intensity, const PowerPoint& point,
                          std::string name) {
  CounterfactualLine line;
  line.name = std::move(name);
  line.power_limit = point.limit;
  const Seconds steps_time(expected.steps / point.throughput_per_s);
  line.duration =
      Seconds(Exchange(actual.duration.count(), expected.time.count(), steps_time.count()));
  const Joules gpu(Exchange(actual.gpu_energy.v, expected.energy.v, (point.draw * steps_time).v));
  line.energy = gpu + actual.other_energy * (line.duration / actual.duration);

  const RunRecord& record = run.record;
  const auto mean = MeanOver(intensity, record.grid_start,
                             record.grid_start + ToMilliseconds(line.duration * record.time_scale));
  if (mean.value && mean.coverage >= 1 - kLargestMissingShare) {
    line.carbon = line.energy * *mean.value * SettingsNumber(record, "pue").value_or(1.0);
  }
  return line;
}

// Least carbon, or least energy if the carbon of any is unknown; of equals, the highest limit.
std::optional<CounterfactualLine> Best(const std::vector<CounterfactualLine>& lines) {
  if (lines.empty()) return std::nullopt;
  const bool carbon_known = std::ranges::all_of(
      lines, [](const CounterfactualLine& line) { return line.carbon.has_value(); });
  return *std::ranges::min_element(lines, {}, [carbon_known](const CounterfactualLine& line) {
    return carbon_known ? line.carbon->v : line.energy.v;
  });
}

Series<GramsPerKwh> IntensityOf(const RunData& run) {
  Series<GramsPerKwh> out;
  for (const IntensityRecord& r : run.intensity) {
    const TimePoint from = out.empty() ? r.from : std::max(r.from, out.back().to);
    if (from < r.to) out.push_back({from, r.to, r.value});
  }
  return out;
}

}  // namespace

std::vector<CounterfactualLine> RunCounterfactuals(const RunData& run) {
  if (run.curve.empty() || !run.totals.energy_known || run.totals.duration.count() <= 0 ||
      !(run.record.time_scale > 0)) {
    return {};
  }
  const auto curve = CurveOf(run);
  if (!curve) return {};
  Expected expected;
  const auto samples = GpuSamples(run);
  for (const EpochRecord& epoch : run.epochs) AddExpected(*curve, samples, epoch, expected);
  if (expected.steps <= 0) return {};
  Actual actual{run.totals.duration, Joules(0), Joules(0)};
  for (const ComponentRecord& c : run.components) {
    if (c.kind == "gpu" && c.counted && c.energy) actual.gpu_energy += *c.energy;
  }
  if (!(actual.gpu_energy.v > 0)) return {};
  actual.other_energy = std::max(Joules(0), run.totals.energy - actual.gpu_energy);

  const auto intensity = IntensityOf(run);
  std::vector<CounterfactualLine> out = {
      Replay(run, actual, expected, intensity, curve->Highest(), "full_power")};
  std::vector<CounterfactualLine> in_time;
  for (const PowerPoint& point : curve->points) {
    auto line = Replay(run, actual, expected, intensity, point, "best_constant_limit");
    if (line.duration <= actual.duration * (1 + kDurationTolerance)) {
      in_time.push_back(std::move(line));
    }
  }
  if (auto best = Best(in_time)) out.push_back(*std::move(best));
  return out;
}

}  // namespace lowtide
