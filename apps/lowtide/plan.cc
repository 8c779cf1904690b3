// lowtide plan: what a policy would do with a job, without running it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "environment.h"
#include "forecast/source_forecast.h"
#include "grid/make_source.h"
#include "grid/max_intensity.h"
#include "intensity_options.h"
#include "option_checks.h"
#include "plan/limit_plan.h"
#include "plan/power_curve_reader.h"
#include "plan_output.h"
#include "verbs.h"

namespace lowtide::cli {
namespace {

// As written; empty: not given.
struct PlanFlags {
  std::string policy;
  std::string power_curve;
  IntensityFlags intensity;
  std::string start;
  std::optional<double> eta;
  std::string max_carbon_intensity = "750";
  std::string selector = "zeus";
  std::string duration = "1h";
  std::string period;
  std::string min_dwell = "5m";
  double min_gain = 0.001;
  int gpu_count = 0;
  bool json = false;
};

Result<Seconds> Duration(const char* option, const std::string& text) {
  auto duration = ParseDuration(text);
  if (!duration) return Annotate(std::move(duration).error(), option);
  return duration;
}

Result<TimePoint> StartOf(const PlanFlags& flags) {
  if (flags.start.empty()) {
    return TimePoint(std::chrono::floor<std::chrono::seconds>(RealClock().Now()));
  }
  auto start = ParseTime(flags.start);
  if (!start) return Annotate(std::move(start).error(), "--start");
  return start;
}

Result<PowerCurve> CurveOf(const PlanFlags& flags, std::string& file,
                           std::vector<std::string>& notes) {
  const CurveArgument argument = SplitCurveArgument(flags.power_curve);
  file = argument.file;
  auto text = ReadFile(argument.file);
  if (!text) return Annotate(std::move(text).error(), "--power-curve");
  const auto count = flags.gpu_count > 0 ? std::optional(flags.gpu_count) : std::nullopt;
  auto curve = ReadPowerCurve(*text, argument.file, argument.selector, count);
  if (!curve) return Annotate(std::move(curve).error(), "--power-curve");
  if (!count || curve->gpus == *count) return curve;
  notes.push_back(
      fmt::format("throughput and draw of {} GPU{} taken in proportion for {}: perfect "
                  "scaling is assumed",
                  curve->gpus, curve->gpus == 1 ? "" : "s", *count));
  return ScaleToGpus(*curve, *count);
}

Result<Policy> PolicyOf(const PlanFlags& flags, const Source& source, TimePoint start,
                        std::vector<std::string>& notes) {
  PolicyOptions options;
  options.eta = flags.eta;
  options.selector = flags.selector;
  Hysteresis hysteresis;
  LOWTIDE_TRY(hysteresis.min_dwell, Duration("--min-dwell", flags.min_dwell));
  hysteresis.min_gain = flags.min_gain;
  options.hysteresis = hysteresis;
  if (flags.policy == "chase") {
    if (const auto why = WhyNoIntensity(source)) {
      return Fail(Code::kInvalidArgument,
                  "--policy chase needs a carbon intensity: give --intensity, --trace or --zone");
    }
    auto setting = ParseMaxCarbonIntensity(flags.max_carbon_intensity);
    if (!setting) return Annotate(std::move(setting).error(), "--max-carbon-intensity");
    auto maximum = Resolve(*setting, source, start);
    if (!maximum) return Annotate(std::move(maximum).error(), "--max-carbon-intensity");
    options.max_intensity = maximum->value;
    if (maximum->coverage < 0.999) {
      notes.push_back(fmt::format("the intensity is known for {:.0f} % of {} only",
                                  100 * maximum->coverage, flags.max_carbon_intensity));
    }
  }
  auto policy = ParsePolicy(flags.policy, options);
  if (!policy) return Annotate(std::move(policy).error(), "--policy");
  return policy;
}

// The intensity that a plan from `start` to at most `end` reckons with.
struct Outlook {
  std::optional<GramsPerKwh> constant;
  Series<GramsPerKwh> series;
};

// A trace is taken as the future it records: what is known of it at `end` is the forecast.
Result<Outlook> OutlookOf(const Source& source, TimePoint start, TimePoint end,
                          std::vector<std::string>& notes) {
  Outlook outlook;
  if (const auto why = WhyNoIntensity(source)) {
    notes.push_back(*why);
    return outlook;
  }
  const IntensityKind kind = source.Origin().kind;
  if (kind == IntensityKind::kConstant || kind == IntensityKind::kYearlyAverage) {
    LOWTIDE_TRY(const IntensityReading reading, source.Latest(start));
    outlook.constant = reading.slot.value;
    return outlook;
  }
  LOWTIDE_TRY(IntensitySeries history, source.History(start, end, end));
  if (history.slots.empty()) {
    const auto latest = source.Latest(start);
    notes.push_back(latest ? "no intensity is known for this time" : latest.error().message);
  }
  outlook.series = std::move(history.slots);
  return outlook;
}

// What has been told up to now, and the forecast from there on as far as it goes.
Result<Outlook> LiveOutlook(const Source& source, TimePoint start, TimePoint end, TimePoint now,
                            PlanReport& report) {
  constexpr auto kFarthest = std::chrono::hours(96);
  const TimePoint reach = std::min<TimePoint>(end, std::max(start, now) + kFarthest);
  if (start < now) {
    LOWTIDE_TRY(IntensitySeries history, source.History(start, std::min(now, reach), now));
    Outlook outlook{std::nullopt, std::move(history.slots)};
    if (reach <= now) return outlook;
    LOWTIDE_TRY(IntensitySeries ahead, SourceForecast().Predict(source, now, reach, now));
    if (!outlook.series.empty()) outlook.series.back().to = std::min(outlook.series.back().to, now);
    std::ranges::move(ahead.slots, std::back_inserter(outlook.series));
    report.origin = std::move(ahead.origin);
    return outlook;
  }
  LOWTIDE_TRY(IntensitySeries ahead, SourceForecast().Predict(source, start, reach, now));
  report.origin = std::move(ahead.origin);
  return Outlook{std::nullopt, std::move(ahead.slots)};
}

Status CheckFixedLimit(const Policy& policy, const PowerCurve& curve) {
  if (policy.kind != PolicyKind::kFixed) return {};
  const double low = curve.Lowest().limit.v;
  const double high = curve.Highest().limit.v;
  if (policy.fixed_limit.v >= low - 0.5 && policy.fixed_limit.v <= high + 0.5) return {};
  return Fail(Code::kInvalidArgument,
              fmt::format("--policy {}: the power curve covers {:g} to {:g} W", PolicyName(policy),
                          low, high));
}

// When the slowest limit would be done.
TimePoint LatestFinish(const PowerCurve& curve, TimePoint start, Seconds duration) {
  const auto slowest = std::ranges::min_element(
      curve.points, {}, [](const PowerPoint& p) { return p.throughput_per_s; });
  const double factor = curve.Highest().throughput_per_s / slowest->throughput_per_s;
  constexpr Seconds kHundredYears = std::chrono::hours(100 * 366 * 24);
  return start + ToMilliseconds(std::min(duration * factor, kHundredYears)) +
         std::chrono::hours(24);
}

Result<int> MakePlan(const PlanFlags& flags) {
  PlanReport report;
  LOWTIDE_TRY(const TimePoint start, StartOf(flags));
  LOWTIDE_TRY(const Seconds duration, Duration("--duration", flags.duration));
  LOWTIDE_TRY(report.curve, CurveOf(flags, report.curve_file, report.notes));
  RealClock clock;
  LOWTIDE_TRY(const GridAccess grid, OpenGrid(flags.intensity, clock));
  const Source& source = grid.Get();
  if (auto covered = CheckTraceCovers(source, start); !covered) {
    return Fail(
        covered.error().code,
        fmt::format("--trace: {}; --start chooses when the job starts", covered.error().message));
  }
  LOWTIDE_TRY(report.policy, PolicyOf(flags, source, start, report.notes));
  if (!WhyNoIntensity(source)) report.origin = source.Origin();
  const TimePoint end = LatestFinish(report.curve, start, duration);
  // A job that starts now starts at the second that goes on.
  const TimePoint now = flags.start.empty() ? start : clock.Now();
  LOWTIDE_TRY(const Outlook outlook, grid.live ? LiveOutlook(source, start, end, now, report)
                                               : OutlookOf(source, start, end, report.notes));
  for (std::string& notice : source.TakeNotices()) report.notes.push_back(std::move(notice));

  LimitPlanRequest request;
  request.curve = report.curve;
  request.policy = report.policy;
  request.duration = duration;
  request.start = start;
  request.intensity = {outlook.constant, &outlook.series};
  if (!flags.period.empty() && flags.period != "epoch") {
    LOWTIDE_TRY(request.period, Duration("--period", flags.period));
  }
  LOWTIDE_TRY_STATUS(CheckFixedLimit(report.policy, report.curve));
  LOWTIDE_TRY(report.plan, MakeLimitPlan(request));
  if (!report.plan.carbon && report.plan.known_carbon.v > 0) {
    report.notes.push_back(
        fmt::format("the intensity is unknown for {:.3f} kWh; the rest emits {:.1f} g",
                    ToKwh(report.plan.energy_without_intensity).v, report.plan.known_carbon.v));
  }
  fmt::print("{}", flags.json ? PlanJson(report) : PlanText(report));
  return 0;
}

CLI::Option* Single(CLI::Option* option) {
  return option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

}  // namespace

void AddPlanVerb(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand(
      "plan", "What a policy would do with a job, without running it, and what it would save");
  const auto flags = std::make_shared<PlanFlags>();
  Single(verb->add_option("--policy", flags->policy,
                          "Rule for the GPU power limit: none, fixed:WATTS, zeus, chase"))
      ->check(PolicyText())
      ->required();
  Single(verb->add_option("--power-curve", flags->power_curve,
                          "The job's throughput and draw at each limit: Zeus's summary CSV with "
                          "the selector DATASET/NETWORK/BATCH_SIZE/OPTIMIZER, a Zeus profile (CSV "
                          "or JSON), a power curve or JSON report of Lowtide's"))
      ->type_name("FILE[:SELECTOR]")
      ->required();
  Single(verb->add_option("--duration", flags->duration,
                          "How long the job takes at the highest limit, such as 90m or 2d"))
      ->check(DurationFrom("1ms", "3660d"))
      ->capture_default_str();
  Single(verb->add_option("--start", flags->start,
                          "When it starts, e.g. in the past of a trace (RFC 3339; default: now)"))
      ->check(AnyTime());
  Single(verb->add_option("--gpu-count", flags->gpu_count,
                          "GPUs of the job. A curve measured on another number of them is taken in "
                          "proportion (default: as measured; 1 where the file does not say)"))
      ->check(WholeNumberFrom(1, kMaxGpus));
  AddIntensityOptions(*verb, flags->intensity);
  Single(verb->add_option("--eta", flags->eta,
                          "Weight of energy (zeus) or carbon (chase) against time, 0 to 1 "
                          "(default: 0.5 for zeus, 0.24 for chase)"))
      ->check(NumberFrom(0, 1))
      ->group("Steering");
  Single(verb->add_option("--selector", flags->selector,
                          "How zeus chooses: energy, time, zeus[:ETA], max-slowdown:FACTOR"))
      ->check(SelectorText())
      ->capture_default_str()
      ->group("Steering");
  Single(verb->add_option("--max-carbon-intensity", flags->max_carbon_intensity,
                          "MaxCarbonIntensity of chase in g/kWh, or dynamic:60d: the highest of "
                          "that long before the start"))
      ->check(MaxCarbonIntensityText())
      ->capture_default_str()
      ->group("Steering");
  Single(verb->add_option("--period", flags->period,
                          "How often the policy decides, such as 30m (default: whenever the "
                          "intensity changes, as does 'epoch')"))
      ->check(PeriodText("1s"))
      ->group("Steering");
  Single(verb->add_option("--min-dwell", flags->min_dwell, "A limit stays at least this long"))
      ->check(AnyDuration())
      ->capture_default_str()
      ->group("Steering");
  Single(
      verb->add_option("--min-gain", flags->min_gain, "A change must lower the cost by this share"))
      ->check(NumberFrom(0, 0.999))
      ->capture_default_str()
      ->group("Steering");
  verb->add_flag("--json", flags->json, "Print the plan as JSON");
  verb->callback([flags, &exit_code] {
    auto code = MakePlan(*flags);
    exit_code = code ? *code : PrintError(code.error());
  });
}

}  // namespace lowtide::cli
