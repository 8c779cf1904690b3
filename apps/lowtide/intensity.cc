// lowtide intensity: what a zone's electricity emits now and has emitted over the past day.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/log.h"
#include "environment.h"
#include "grid/make_source.h"
#include "intensity_options.h"
#include "series_output.h"
#include "verbs.h"
#include "zone_tables.h"

namespace lowtide::cli {
namespace {

constexpr auto kPast = std::chrono::hours(24);

struct Flags {
  std::string zone;  // as a positional; empty: that of the settings
  IntensityFlags grid;
  bool json = false;
};

struct Answer {
  TimePoint at;
  std::string zone;
  std::string name;  // empty: not in the table
  std::optional<IntensityReading> now;
  std::string why_not;  // now is not known
  IntensitySeries past;
  std::vector<std::string> notices;
};

std::string NameOf(const GridAccess& grid, const std::string& key) {
  if (grid.live) return grid.live->Info() != nullptr ? grid.live->Info()->name : "";
  const auto zones = EmbeddedZoneTable();
  const ZoneInfo* info = zones ? zones->Find(key) : nullptr;
  return info != nullptr ? info->name : "";
}

Result<Answer> Ask(const Flags& flags) {
  RealClock clock;
  IntensityFlags asked = flags.grid;
  if (!flags.zone.empty()) asked.zone = flags.zone;
  if (asked.zone.empty()) {
    return Fail(Code::kInvalidArgument,
                "of which zone? Give a key such as DE, or a cloud region such as "
                "gcp:europe-north1; 'lowtide zones' lists them");
  }
  LOWTIDE_TRY(const GridAccess grid, OpenGrid(asked, clock));
  const Source& source = grid.Get();
  Answer answer;
  answer.at = clock.Now();
  answer.zone = source.Origin().zone.key;
  answer.name = NameOf(grid, answer.zone);
  auto past = source.History(answer.at - kPast, answer.at, answer.at);
  if (past) {
    answer.past = *std::move(past);
  } else {
    answer.past.origin = source.Origin();
  }
  auto now = source.Latest(answer.at);
  if (now) {
    answer.now = *std::move(now);
  } else if (answer.past.slots.empty()) {
    for (const std::string& notice : source.TakeNotices()) LogWarning(notice);
    return std::unexpected(now.error());
  } else {
    answer.why_not = now.error().message;
  }
  answer.notices = source.TakeNotices();
  if (!grid.live) {
    answer.notices.emplace_back(
        "this is the average of a year; name live sources with --sources or in the settings");
  }
  return answer;
}

Json ToJson(const Answer& answer) {
  Json now;
  if (answer.now) {
    const auto& slot = answer.now->slot;
    now = OriginJson(answer.now->origin);
    now["g_per_kwh"] = IntensityNumber(slot.value);
    now["from"] = FormatTime(slot.from);
    now["to"] = FormatTime(slot.to);
    now["age_s"] = std::max(0.0, ToSeconds(answer.at - slot.to).count());
    const auto& fetched = answer.now->fetched_at;
    now["fetched_at"] = fetched ? Json(FormatTime(*fetched)) : Json();
  }
  const auto summary = Summarise(answer.past.slots, answer.at - kPast, answer.at);
  Json past = OriginJson(answer.past.origin);
  past["from"] = FormatTime(answer.at - kPast);
  past["to"] = FormatTime(answer.at);
  past["known_share"] = summary.known_share;
  past["mean_g_per_kwh"] = summary.mean ? IntensityNumber(*summary.mean) : Json();
  past["lowest_g_per_kwh"] = summary.mean ? IntensityNumber(summary.lowest.value) : Json();
  past["highest_g_per_kwh"] = summary.mean ? IntensityNumber(summary.highest.value) : Json();
  past["slots"] = SlotsJson(answer.past);
  return {{"zone", answer.zone},
          {"name", answer.name.empty() ? Json() : Json(answer.name)},
          {"at", FormatTime(answer.at)},
          {"now", std::move(now)},
          {"now_missing_reason", answer.now ? Json() : Json(answer.why_not)},
          {"past_day", std::move(past)},
          {"notices", answer.notices}};
}

std::string Clock(TimePoint t) { return FormatTime(t).substr(11, 5); }

void PrintNow(const Answer& answer) {
  if (!answer.now) {
    fmt::print("  now       not known: {}\n", answer.why_not);
    return;
  }
  const IntensityReading& now = *answer.now;
  fmt::print("  now       {:.0f} g/kWh   {}\n", now.slot.value.v,
             DescribeOrigin(now.origin, now.origin.kind));
  if (now.origin.kind == IntensityKind::kYearlyAverage) return;
  std::string when = fmt::format("of {} to {} UTC", Clock(now.slot.from), Clock(now.slot.to));
  if (now.slot.to <= answer.at)
    when += fmt::format(", over for {}", AgeText(answer.at - now.slot.to));
  if (now.fetched_at) when += fmt::format("; asked {} ago", AgeText(answer.at - *now.fetched_at));
  fmt::print("            {}\n", when);
}

void PrintText(const Answer& answer) {
  fmt::print("{}{}, {} UTC\n", answer.zone, answer.name.empty() ? "" : "  " + answer.name,
             FormatTime(answer.at).substr(0, 16).replace(10, 1, " "));
  PrintNow(answer);
  const TimePoint from = answer.at - kPast;
  const auto summary = Summarise(answer.past.slots, from, answer.at);
  const std::string chart = ChartFor(answer.past, from, answer.at);
  if (!summary.mean) {
    fmt::print("  past day  not known\n");
  } else if (!chart.empty()) {
    fmt::print(
        "  past day  mean {:.0f}, lowest {:.0f} at {}, highest {:.0f} at {} UTC; {:.0f} % of "
        "it known\n",
        summary.mean->v, summary.lowest.value.v, Clock(summary.lowest.from),
        summary.highest.value.v, Clock(summary.highest.from), 100 * summary.known_share);
    const auto& origin = answer.past.origin;
    if (!answer.now || answer.now->origin.source != origin.source) {
      fmt::print("            {}\n", DescribeOrigin(origin, origin.kind));
    }
    fmt::print("\n{}", chart);
  }
  for (const auto& notice : answer.notices) fmt::print("note: {}\n", notice);
}

}  // namespace

void AddIntensityVerb(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand(
      "intensity", "What a zone's electricity emits now and has emitted over the past day");
  const auto flags = std::make_shared<Flags>();
  verb->add_option("ZONE", flags->zone,
                   "A key such as DE, a cloud region such as gcp:europe-north1, or "
                   "LATITUDE,LONGITUDE (default: --zone)");
  verb->add_option("--zone", flags->grid.zone, "The same, for settings")
      ->type_name("Z")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  AddSourceOptions(*verb, flags->grid);
  verb->add_flag("--json", flags->json, "Print JSON");
  verb->callback([flags, &exit_code] {
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
