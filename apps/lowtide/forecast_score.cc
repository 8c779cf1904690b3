#include "forecast_score.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "environment.h"
#include "forecast/hourly_forecast.h"
#include "forecast/score.h"
#include "grid/trace.h"
#include "live_grid.h"
#include "mix_option.h"
#include "option_checks.h"
#include "verbs.h"

namespace lowtide::cli {
namespace {

// As written; empty: not given.
struct ScoreFlags {
  std::string trace;
  std::string source;
  std::string zone;
  std::string weather;
  std::string mix;
  std::string train_until;
  std::string from;
  std::string to;
  std::string horizon = "96h";
  std::string issue_every = "24h";
  std::string method = "blend";
  bool json = false;
};

struct ScoreReport {
  std::string trace;             // or the source and zone
  std::string weather;           // empty: without
  std::vector<std::string> mix;  // kinds of power stations; empty: without
  std::string mix_left_out;      // why, where there might have been one
  std::string method;
  TimePoint train_until;
  TimePoint from;
  TimePoint to;
  std::size_t horizon = 0;
  std::size_t issue_every = 0;
  ForecastScore score;
  Seconds train{0};
  Seconds predict{0};
};

// Adds up how long learning and the rest took.
class Stopwatch {
 public:
  Stopwatch() : last_(clock_.Monotonic()) {}

  void Begin(Phase phase) {
    const MonoTime now = clock_.Monotonic();
    (phase_ == Phase::kLearn ? learn_ : predict_) += ToSeconds(now - last_);
    last_ = now;
    phase_ = phase;
  }
  Seconds Learning() const { return learn_; }
  Seconds Predicting() const { return predict_; }

 private:
  RealClock clock_;
  MonoTime last_;
  Phase phase_ = Phase::kPredict;
  Seconds learn_{0};
  Seconds predict_{0};
};

// Text of an option's file; the error names the option.
Result<std::string> Content(const char* option, const std::string& path) {
  auto text = ReadFile(path);
  if (!text) return Annotate(std::move(text).error(), option);
  return text;
}

Result<HourlySeries> SeriesOf(const ScoreFlags& flags) {
  const auto argument = SplitTraceArgument(flags.trace);
  if (!argument) return Annotate(argument.error(), "--trace");
  LOWTIDE_TRY(const std::string text, Content("--trace", argument->path));
  auto trace = ParseTrace(text, argument->path, argument->column, {});
  if (!trace) return Annotate(std::move(trace).error(), "--trace");
  const auto& slots = trace->slots;
  return ToHourly(slots, slots.front().from, slots.back().to);
}

// The hour of the series that the option's time begins.
Result<std::size_t> HourOf(const char* option, const std::string& text,
                           const HourlySeries& series) {
  auto time = ParseTime(text);
  if (!time) return Annotate(std::move(time).error(), option);
  const TimePoint end = series.TimeOf(series.values.size());
  if (*time < series.start || *time > end ||
      *time != std::chrono::floor<std::chrono::hours>(*time)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: {} is not a whole hour within the trace, {} to {}", option,
                            FormatTime(*time), FormatTime(series.start), FormatTime(end)));
  }
  return static_cast<std::size_t>((*time - series.start) / std::chrono::hours(1));
}

Result<std::size_t> HoursOf(const char* option, const std::string& text, std::size_t most) {
  const auto duration = ParseDuration(text);
  if (!duration) return Annotate(duration.error(), option);
  const double hours = duration->count() / 3600;
  if (hours < 1 || hours > static_cast<double>(most) || hours != std::floor(hours)) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{}: {} is not allowed; expected whole hours, 1h to {}h", option, text, most));
  }
  return static_cast<std::size_t>(hours);
}

Result<ScoreReport> MakeScore(const ScoreFlags& flags) {
  constexpr std::size_t kMostBetweenIssues = std::size_t{366} * 24;
  ScoreReport report;
  HourlyRequest request;
  LOWTIDE_TRY(request.horizon, HoursOf("--horizon", flags.horizon, kMaxHorizon));
  LOWTIDE_TRY(report.issue_every, HoursOf("--issue-every", flags.issue_every, kMostBetweenIssues));
  auto method = ParseMethod(flags.method);
  if (!method) return Annotate(std::move(method).error(), "--method");
  request.method = *method;
  LOWTIDE_TRY(const HourlySeries series, SeriesOf(flags));
  request.intensity = &series;
  Weather weather;
  if (!flags.weather.empty()) {
    LOWTIDE_TRY(const std::string text, Content("--weather", flags.weather));
    auto read = ParseWeather(text, flags.weather);
    if (!read) return Annotate(std::move(read).error(), "--weather");
    weather = *std::move(read);
    request.weather = &weather;
  }
  MixChoice mix;
  if (request.method == ForecastMethod::kBlend) {
    LOWTIDE_TRY(mix, ReadMix(flags.mix, flags.trace));
  }
  if (mix.mix) {
    request.mix = &*mix.mix;
    report.mix = mix.mix->names;
  }
  report.mix_left_out = std::move(mix.left_out);
  LOWTIDE_TRY(const std::size_t from, HourOf("--from", flags.from, series));
  LOWTIDE_TRY(const std::size_t to, HourOf("--to", flags.to, series));
  request.train_until = from;
  if (!flags.train_until.empty()) {
    LOWTIDE_TRY(request.train_until, HourOf("--train-until", flags.train_until, series));
  }
  if (request.train_until > from || from >= to) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--train-until {}, --from {} and --to {} must come in this order",
                            FormatTime(series.TimeOf(request.train_until)),
                            FormatTime(series.TimeOf(from)), FormatTime(series.TimeOf(to))));
  }
  for (std::size_t i = from; i < to && i + request.horizon <= series.values.size();
       i += report.issue_every) {
    request.issues.push_back(i);
  }
  if (mix.mix && !UsesMix(request)) {
    report.mix.clear();
    report.mix_left_out =
        fmt::format("that takes {} days of history before --train-until", kFewestMixHours / 24);
  }
  if (request.issues.empty()) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("--from {}: no forecast of {} h ends within the trace, which ends at {}",
                    FormatTime(series.TimeOf(from)), request.horizon,
                    FormatTime(series.TimeOf(series.values.size()))));
  }
  Stopwatch watch;
  request.phase = [&](Phase phase) { watch.Begin(phase); };
  LOWTIDE_TRY(const auto forecasts, ForecastHours(request));
  watch.Begin(Phase::kPredict);
  report.trace = flags.trace;
  report.weather = flags.weather;
  report.method = MethodName(request.method);
  report.train_until = series.TimeOf(request.train_until);
  report.from = series.TimeOf(from);
  report.to = series.TimeOf(to);
  report.horizon = request.horizon;
  report.score = Score(series, forecasts);
  report.train = watch.Learning();
  report.predict = watch.Predicting();
  return report;
}

Result<TimePoint> TimeOf(const char* option, const std::string& text) {
  auto time = ParseTime(text);
  if (!time) return Annotate(std::move(time).error(), option);
  return time;
}

// The source's own forecasts, as they were issued.
Result<ScoreReport> MakeSourceScore(const ScoreFlags& flags) {
  constexpr std::size_t kMostBetweenIssues = std::size_t{366} * 24;
  ScoreReport report;
  RealClock clock;
  Stopwatch watch;
  LOWTIDE_TRY(report.horizon, HoursOf("--horizon", flags.horizon, kMaxHorizon));
  LOWTIDE_TRY(report.issue_every, HoursOf("--issue-every", flags.issue_every, kMostBetweenIssues));
  LOWTIDE_TRY(report.from, TimeOf("--from", flags.from));
  LOWTIDE_TRY(report.to, TimeOf("--to", flags.to));
  const TimePoint now = clock.Now();
  if (report.from >= report.to || report.to > now) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--from {} and --to {} must come in this order, and not after now",
                            flags.from, flags.to));
  }
  LOWTIDE_TRY(const auto grid, LiveGrid::Open({{flags.source}, std::nullopt, flags.zone}, clock));
  if (grid->Providers().empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--source {}: it gives no forecasts of its own", flags.source));
  }
  const ProviderSource& source = *grid->Providers().front();
  LOWTIDE_TRY(const auto issued, source.IssuedForecasts(report.from, report.to, now));
  const TimePoint end = std::min<TimePoint>(now, report.to + std::chrono::hours(report.horizon));
  LOWTIDE_TRY(const auto history, source.History(report.from, end, now));
  LOWTIDE_TRY(const HourlySeries outcomes, ToHourly(history.slots, report.from, end));
  std::vector<HourlyForecast> forecasts;
  for (const IntensitySeries& series : issued) {
    auto forecast = AsHourlyForecast(series, outcomes, report.horizon);
    if (!forecast) continue;
    if (!forecasts.empty() && forecast->issue < forecasts.back().issue + report.issue_every)
      continue;
    forecasts.push_back(*std::move(forecast));
  }
  if (forecasts.empty()) {
    return Fail(Code::kNotFound,
                fmt::format("--source {}: no forecast of {} that it issued from {} to {} is known; "
                            "those that it gives are kept for 60 days from when they are asked for",
                            flags.source, grid->ZoneUsed().key, FormatTime(report.from),
                            FormatTime(report.to)));
  }
  report.trace = fmt::format("{}, zone {}", flags.source, grid->ZoneUsed().key);
  report.method = "source";
  report.train_until = report.from;
  report.score = Score(outcomes, forecasts);
  report.predict = watch.Predicting();
  return report;
}

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string ScoreJson(const ScoreReport& report) {
  Json days = Json::array();
  for (const auto& day : report.score.mape_pct_by_day) days.push_back(OrNull(day));
  return DumpJsonPretty(
             Json{{"trace", report.trace},
                  {"weather", report.weather.empty() ? Json(nullptr) : Json(report.weather)},
                  {"mix", report.mix.empty() ? Json(nullptr) : Json(report.mix)},
                  {"method", report.method},
                  {"train_until", FormatTime(report.train_until)},
                  {"from", FormatTime(report.from)},
                  {"to", FormatTime(report.to)},
                  {"horizon_h", report.horizon},
                  {"issue_every_h", report.issue_every},
                  {"windows", report.score.windows},
                  {"hours", report.score.hours},
                  {"mape_pct_by_day", days},
                  {"mape_pct", OrNull(report.score.mape_pct)},
                  {"mae_g_per_kwh", OrNull(report.score.mae)},
                  {"coverage_80_pct", OrNull(report.score.coverage_pct)},
                  {"train_s", report.train.count()},
                  {"predict_s", report.predict.count()}}) +
         "\n";
}

std::string Percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f} %", *value) : std::string("unknown");
}

std::string ScoreText(const ScoreReport& report) {
  std::string out =
      fmt::format("{} of {}{}, issued every {} h from {} to {}\n", report.method, report.trace,
                  report.weather.empty() ? "" : " with " + report.weather, report.issue_every,
                  FormatTime(report.from), FormatTime(report.to));
  if (!report.mix.empty()) {
    out +=
        fmt::format("  learned from the generation of {} as well\n", fmt::join(report.mix, ", "));
  }
  if (!report.mix_left_out.empty()) {
    out += fmt::format("  without the generation mix: {}\n", report.mix_left_out);
  }
  out += fmt::format("  {} forecasts of {} h, {} outcomes\n", report.score.windows, report.horizon,
                     report.score.hours);
  out += fmt::format("  mean absolute percentage error  {}\n", Percent(report.score.mape_pct));
  for (std::size_t d = 0; d < report.score.mape_pct_by_day.size(); ++d) {
    out += fmt::format("    day {:<2}                        {}\n", d + 1,
                       Percent(report.score.mape_pct_by_day[d]));
  }
  if (report.score.mae) {
    out += fmt::format("  mean absolute error             {:.2f} g/kWh\n", *report.score.mae);
  }
  out += fmt::format("  outcomes in the 80 % band       {}\n", Percent(report.score.coverage_pct));
  out += fmt::format("  learning took {:.2f} s, the rest {:.2f} s\n", report.train.count(),
                     report.predict.count());
  return out;
}

CLI::Option* Single(CLI::Option* option) {
  return option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

}  // namespace

void AddForecastScore(CLI::App& forecast, int& exit_code) {
  CLI::App* const verb = forecast.add_subcommand(
      "score", "How far a method's forecasts of a trace would have been from what came");
  const auto flags = std::make_shared<ScoreFlags>();
  Single(verb->add_option("--trace", flags->trace,
                          "Carbon intensity in g/kWh: CSV with a UTC time in the first column"))
      ->type_name("FILE[:COLUMN]");
  Single(verb->add_option("--source", flags->source,
                          "Instead of a --trace: the forecasts that this source has issued itself, "
                          "against what it told later"))
      ->type_name("NAME")
      ->excludes("--trace");

  Single(verb->add_option("--zone", flags->zone, "Zone of the --source"))
      ->type_name("Z")
      ->excludes("--trace");
  Single(verb->add_option("--weather", flags->weather,
                          "Hourly weather to learn from as well: CSV with a UTC time in the first "
                          "column (default: none). It is read at the forecast hours too, as a "
                          "weather forecast would be"))
      ->type_name("FILE");
  AddMixOption(*verb, flags->mix);
  Single(verb->add_option("--from", flags->from, "First issue (RFC 3339, a whole hour)"))
      ->check(AnyTime())
      ->required();
  Single(verb->add_option("--to", flags->to, "Issues end before it (RFC 3339, a whole hour)"))
      ->check(AnyTime())
      ->required();
  Single(verb->add_option("--train-until", flags->train_until,
                          "Learn from what lies before (RFC 3339; default: --from). blend learns "
                          "on every week from there; ridge does not"))
      ->check(AnyTime());
  Single(verb->add_option("--horizon", flags->horizon,
                          "How far each forecast reaches, whole hours, at most 336h"))
      ->check(AnyDuration())
      ->capture_default_str();
  Single(verb->add_option("--issue-every", flags->issue_every,
                          "Time between two forecasts, whole hours"))
      ->check(AnyDuration())
      ->capture_default_str();
  Single(verb->add_option("--method", flags->method, "persistence, weekly, ridge or blend"))
      ->check(ParsedBy(ParseMethod))
      ->capture_default_str();
  for (const char* of_traces : {"--weather", "--mix", "--train-until", "--method"}) {
    verb->get_option("--source")->excludes(of_traces);
  }
  verb->add_flag("--json", flags->json, "Print the score as JSON");
  verb->callback([flags, &exit_code] {
    if (flags->trace.empty() == flags->source.empty()) {
      exit_code =
          PrintError({Code::kInvalidArgument, "give a --trace, or a --source with its --zone"});
      return;
    }
    const auto report = flags->source.empty() ? MakeScore(*flags) : MakeSourceScore(*flags);
    if (!report) {
      exit_code = PrintError(report.error());
      return;
    }
    fmt::print("{}", flags->json ? ScoreJson(*report) : ScoreText(*report));
  });
}

}  // namespace lowtide::cli
