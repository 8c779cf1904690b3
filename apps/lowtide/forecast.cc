// lowtide forecast: what a zone's electricity is going to emit.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/log.h"
#include "environment.h"
#include "forecast/learned_forecast.h"
#include "forecast/source_forecast.h"
#include "forecast_score.h"
#include "intensity_options.h"
#include "mix_option.h"
#include "option_checks.h"
#include "series_output.h"
#include "verbs.h"

namespace lowtide::cli {
namespace {

struct Flags {
  std::string zone;  // as a positional; empty: that of the settings
  IntensityFlags grid;
  std::string at;
  std::string horizon = "96h";
  std::string method = "source";
  std::string fetch_history;
  std::string mix;
  bool json = false;
};

struct Answer {
  TimePoint at;
  TimePoint to;
  std::string zone;
  IntensitySeries series;
  std::vector<std::string> notices;
};

Result<Seconds> HorizonOf(const Flags& flags) {
  auto horizon = ParseDuration(flags.horizon);
  if (!horizon) return Annotate(std::move(horizon).error(), "--horizon");
  return horizon;
}

Result<TimePoint> MomentOf(const Flags& flags, const GridAccess& grid, Clock& clock) {
  if (flags.at.empty()) return clock.Now();
  if (grid.live) {
    return Fail(Code::kInvalidArgument,
                "--at is for a recorded --trace: --sources tell of the present");
  }
  auto at = ParseTime(flags.at);
  if (!at) return Annotate(std::move(at).error(), "--at");
  return at;
}

Result<IntensitySeries> Predict(const Flags& flags, const Source& source, TimePoint from,
                                TimePoint to) {
  if (flags.method == "persistence") return DayPersistence().Predict(source, from, to, from);
  // A recording makes no forecast of its own.
  const bool own = flags.method == "blend" || !flags.grid.trace.empty();
  if (!own) return SourceForecast().Predict(source, from, to, from);
  MixChoice mix;
  if (!flags.grid.trace.empty()) {
    LOWTIDE_TRY(mix, ReadMix(flags.mix, flags.grid.trace));
  }
  if (!mix.left_out.empty()) LogWarning("without the generation mix: " + mix.left_out);
  const LearnedForecast learned(std::nullopt, std::move(mix.mix));
  LOWTIDE_TRY(BandedForecast forecast, learned.PredictBand(source, from, to, from));
  IntensitySeries series = std::move(forecast.middle);
  series.p10 = std::move(forecast.p10);
  series.p90 = std::move(forecast.p90);
  return series;
}

Result<Answer> Ask(const Flags& flags) {
  RealClock clock;
  IntensityFlags asked = flags.grid;
  if (!flags.zone.empty()) asked.zone = flags.zone;
  if (asked.zone.empty() && asked.trace.empty()) {
    return Fail(Code::kInvalidArgument,
                "of which zone? Give a key such as DE, or a cloud region such as "
                "gcp:europe-north1 ('lowtide zones' lists them), or a --trace");
  }
  if (!flags.mix.empty() && asked.trace.empty()) {
    return Fail(Code::kInvalidArgument, "--mix is for a --trace");
  }
  LOWTIDE_TRY(const Seconds horizon, HorizonOf(flags));
  LOWTIDE_TRY(const GridAccess grid, OpenGrid(asked, clock));
  const Source& source = grid.Get();
  Answer answer;
  LOWTIDE_TRY(answer.at, MomentOf(flags, grid, clock));
  answer.to = answer.at + ToMilliseconds(horizon);
  answer.zone = source.Origin().zone.key;
  if (auto covered = CheckTraceCovers(source, answer.at); !covered) {
    return Fail(
        covered.error().code,
        fmt::format("--trace: {}; --at chooses the time of the forecast", covered.error().message));
  }
  if (!flags.fetch_history.empty()) {
    auto length = ParseDuration(flags.fetch_history);
    if (!length) return Annotate(std::move(length).error(), "--fetch-history");
    const auto history = source.History(answer.at - ToMilliseconds(*length), answer.at, answer.at);
    if (!history) answer.notices.push_back("--fetch-history: " + history.error().message);
  }
  auto series = Predict(flags, source, answer.at, answer.to);
  if (!series) {
    for (const std::string& notice : source.TakeNotices()) LogWarning(notice);
    return std::unexpected(std::move(series).error());
  }
  answer.series = *std::move(series);
  for (std::string& notice : source.TakeNotices()) answer.notices.push_back(std::move(notice));
  return answer;
}

Json ToJson(const Answer& answer) {
  Json out = OriginJson(answer.series.origin);
  out["zone"] = answer.zone.empty() ? Json() : Json(answer.zone);
  out["at"] = FormatTime(answer.at);
  const auto& issued = answer.series.issued_at;
  out["issued_at"] = issued ? Json(FormatTime(*issued)) : Json();
  out["slots"] = SlotsJson(answer.series);
  out["notices"] = answer.notices;
  return out;
}

std::string Minute(TimePoint t) { return FormatTime(t).substr(0, 16).replace(10, 1, " "); }

// The stretch of that length, from a whole hour on, with the lowest mean.
std::optional<Sample<GramsPerKwh>> Cleanest(const Answer& answer, std::chrono::hours length) {
  std::optional<Sample<GramsPerKwh>> best;
  for (TimePoint t = std::chrono::ceil<std::chrono::hours>(answer.at); t + length <= answer.to;
       t += std::chrono::hours(1)) {
    const auto mean = MeanOver(answer.series.slots, t, t + length);
    if (!mean.value || mean.coverage < 0.999) continue;
    if (!best || *mean.value < best->value) best = {t, t + length, *mean.value};
  }
  return best;
}

void PrintText(const Answer& answer) {
  const IntensitySeries& series = answer.series;
  fmt::print("{} from {} UTC\n", answer.zone.empty() ? "Forecast" : "Forecast of " + answer.zone,
             Minute(answer.at));
  fmt::print("  by {}\n", DescribeOrigin(series.origin, series.origin.kind));
  if (series.issued_at) {
    fmt::print("  issued {} ago\n", AgeText(answer.at - *series.issued_at));
  }
  const std::string chart = ChartFor(series, answer.at, answer.to);
  fmt::print("\n{}{}", chart, chart.empty() ? "" : "\n");
  const bool banded = !series.p10.empty();
  fmt::print("  day           mean  lowest  highest{}\n", banded ? "   8 times of 10" : "");
  for (TimePoint t = answer.at; t < answer.to;) {
    const TimePoint end = std::min<TimePoint>(
        std::chrono::floor<std::chrono::days>(t) + std::chrono::days(1), answer.to);
    const auto summary = Summarise(series.slots, t, end);
    std::string line = "  " + FormatTime(t).substr(0, 10);
    if (summary.mean) {
      line += fmt::format("  {:>6.0f}  {:>6.0f}  {:>7.0f}", summary.mean->v, summary.lowest.value.v,
                          summary.highest.value.v);
      const auto low = MeanOver(series.p10, t, end).value;
      const auto high = MeanOver(series.p90, t, end).value;
      if (low && high) line += fmt::format("   {:.0f} to {:.0f}", low->v, high->v);
      if (summary.known_share < 0.995) {
        line += fmt::format("   ({:.0f} % of it)", 100 * summary.known_share);
      }
    } else {
      line += "  not forecast";
    }
    fmt::print("{}\n", line);
    t = end;
  }
  if (const auto best = Cleanest(answer, std::chrono::hours(4)); best && !chart.empty()) {
    fmt::print("  cleanest 4 h: {} UTC, {:.0f} g/kWh\n", Minute(best->from), best->value.v);
  }
  for (const auto& notice : answer.notices) fmt::print("note: {}\n", notice);
}

CLI::Option* Single(CLI::Option* option) {
  return option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

}  // namespace

void AddForecastVerb(CLI::App& app, int& exit_code) {
  CLI::App* const verb =
      app.add_subcommand("forecast",
                         "What a zone's electricity is going to emit; 'forecast score' "
                         "tells how far a method has been out");
  const auto flags = std::make_shared<Flags>();
  verb->add_option("ZONE", flags->zone,
                   "A key such as DE, a cloud region such as gcp:europe-north1, or "
                   "LATITUDE,LONGITUDE (default: --zone)");
  AddIntensityOptions(*verb, flags->grid);
  Single(verb->add_option("--horizon", flags->horizon, "How far ahead, 1h to 13d"))
      ->check(DurationFrom("1h", "13d"))
      ->capture_default_str();
  Single(verb->add_option("--method", flags->method,
                          "source: what --sources forecast, or else persistence; blend: learned "
                          "from what is kept or recorded; persistence: yesterday, corrected by the "
                          "latest reading. A trace is always forecast by blend or persistence"))
      ->check(OneOf({"source", "blend", "persistence"}))
      ->capture_default_str();
  Single(verb->add_option("--fetch-history", flags->fetch_history,
                          "First ask the sources for that much of the past, such as 120d, so that "
                          "blend can learn from it (default: what is kept already)"))
      ->check(AnyDuration());
  AddMixOption(*verb, flags->mix);
  Single(verb->add_option("--at", flags->at,
                          "With --trace: the time of the forecast; what was recorded later is not "
                          "looked at (RFC 3339; default: now)"))
      ->check(AnyTime());
  verb->add_flag("--json", flags->json, "Print JSON");
  verb->require_subcommand(0, 1);
  AddForecastScore(*verb, exit_code);
  verb->callback([verb, flags, &exit_code] {
    if (!verb->get_subcommands().empty()) return;
    const auto answer = Ask(*flags);
    if (!answer) {
      exit_code = PrintError(answer.error());
    } else if (flags->json) {
      fmt::print("{}\n", DumpJsonPretty(ToJson(*answer)));
    } else {
      PrintText(*answer);
    }
  });
}

}  // namespace lowtide::cli
