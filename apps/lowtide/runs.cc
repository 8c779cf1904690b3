// lowtide runs list | show | report | export: what past runs cost. The verbs that forget are in
// runs_delete.cc and runs_curves.cc.
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/near_names.h"
#include "environment.h"
#include "option_checks.h"
#include "run/codecarbon_file.h"
#include "run/report.h"
#include "run/report_codecarbon.h"
#include "run/report_html.h"
#include "run/report_json.h"
#include "run/report_text.h"
#include "runs_verbs.h"
#include "store/store.h"
#include "verbs.h"

namespace lowtide::cli {
namespace {

constexpr std::size_t kDefaultListLimit = 20;
constexpr std::size_t kAllRuns = 1'000'000;

struct ListOptions {
  std::string name;
  std::size_t limit = kDefaultListLimit;
  bool json = false;
};

struct ShowOptions {
  std::string id;
  bool json = false;
};

struct ReportOptions {
  std::string id;
  std::string html;
  bool json = false;
};

struct ExportOptions {
  std::vector<std::string> ids;
  bool all = false;
  std::string format;
  std::string output;
  bool json = false;
};

std::string LocalTime(TimePoint time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm local{};
  std::array<char, 32> text{};
  if (::localtime_r(&seconds, &local) == nullptr) return {};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &local);
  return {text.data(), size};
}

Report ReportOf(RunData run) {
  auto counterfactuals = RunCounterfactuals(run);
  return BuildReport(std::move(run), std::move(counterfactuals));
}

// As Store::LoadRun; the error says which run may have been meant.
Result<RunData> LoadRun(Store& store, const std::string& id) {
  auto run = store.LoadRun(id);
  if (run) return run;
  const Code code = run.error().code;
  if (code != Code::kNotFound && code != Code::kInvalidArgument) return run;
  const auto runs = store.ListRuns("", kAllRuns);
  if (!runs) return run;
  std::vector<std::string> ids = {"last"};
  for (const RunData& other : *runs) {
    if (other.record.name == id) {
      return Fail(code,
                  fmt::format("{}; that is a name: `lowtide runs list --name {}` shows the ids",
                              run.error().message, id));
    }
    ids.push_back(other.record.run_id);
  }
  const std::string near = DidYouMean(id, ids);
  if (near.empty() || code != Code::kNotFound) return run;
  return Fail(Code::kNotFound, fmt::format("{}; {}", run.error().message, near));
}

Result<Report> LoadReport(const std::string& id) {
  LOWTIDE_TRY(auto store, OpenExistingStore());
  LOWTIDE_TRY(RunData run, LoadRun(*store, id));
  return ReportOf(std::move(run));
}

Status List(const ListOptions& options) {
  LOWTIDE_TRY_STATUS(CheckStateDirectory());
  std::error_code ignored;
  std::vector<RunData> runs;
  if (std::filesystem::exists(StorePath(), ignored)) {
    LOWTIDE_TRY(auto store, OpenExistingStore());
    LOWTIDE_TRY(runs, store->ListRuns(options.name, options.limit));
  }
  if (options.json) {
    Json out = Json::array();
    for (RunData& run : runs) {
      out.push_back(ReportSummaryJson(BuildReport(std::move(run), {})));
    }
    PrintOut(DumpJsonPretty({{"runs", std::move(out)}}) + "\n");
    return {};
  }
  if (runs.empty()) {
    WriteToStandardError(
        fmt::format("lowtide: no runs{}\n",
                    options.name.empty() ? "" : fmt::format(" named \"{}\"", options.name)));
    return {};
  }
  PrintOut(FormatRunListHeader() + "\n");
  for (RunData& run : runs) {
    PrintOut(FormatRunListRow(BuildReport(std::move(run), {})) + "\n");
  }
  return {};
}

Status Show(const ShowOptions& options) {
  LOWTIDE_TRY(const Report report, LoadReport(options.id));
  if (options.json) {
    PrintOut(DumpJsonPretty(ReportJson(report)) + "\n");
    return {};
  }
  const bool colour = ::isatty(STDOUT_FILENO) == 1 && !Environment("NO_COLOR");
  const std::string epochs = FormatEpochTable(report);
  if (!epochs.empty()) PrintOut(epochs + "\n");
  PrintOut(FormatSummary(report, colour ? TextStyle::kColour : TextStyle::kPlain));
  return {};
}

Status WriteReport(const ReportOptions& options) {
  LOWTIDE_TRY_STATUS(CheckOutputFile("--html", options.html));
  LOWTIDE_TRY(const Report report, LoadReport(options.id));
  LOWTIDE_TRY_STATUS(WriteUserFile(options.html, ReportHtml(report)));
  if (options.json) {
    PrintOut(DumpJson({{"run_id", report.run.record.run_id}, {"html", options.html}}) + "\n");
  } else {
    WriteToStandardError(fmt::format("lowtide: wrote {}\n", options.html));
  }
  return {};
}

// The runs to export, oldest first as rows of a file that grows; with --all without those that
// still go on, whose numbers are not final.
Result<std::vector<Report>> ExportedReports(const ExportOptions& options) {
  LOWTIDE_TRY(auto store, OpenExistingStore());
  std::vector<std::string> ids = options.ids;
  if (options.all) {
    LOWTIDE_TRY(const auto runs, store->ListRuns("", kAllRuns));
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      if (run->state != RunState::kRunning) ids.push_back(run->record.run_id);
    }
  }
  std::vector<Report> out;
  for (const auto& id : ids) {
    LOWTIDE_TRY(RunData run, LoadRun(*store, id));
    out.push_back(ReportOf(std::move(run)));
  }
  return out;
}

// What was written, and where, for --output.
void SayExported(const ExportOptions& options, std::size_t written, std::size_t asked) {
  if (options.json) {
    PrintOut(DumpJson({{"output", options.output}, {"written", written}, {"runs", asked}}) + "\n");
    return;
  }
  WriteToStandardError(fmt::format("lowtide: wrote {} run{} to {}", written,
                                   written == 1 ? "" : "s", options.output));
  if (written < asked)
    WriteToStandardError(fmt::format("; {} of them were there already", asked - written));
  WriteToStandardError("\n");
}

Status ExportCodecarbon(const ExportOptions& options, const std::vector<Report>& reports) {
  std::vector<CodecarbonRowOf> rows;
  rows.reserve(reports.size());
  for (const Report& report : reports) {
    rows.push_back({report.run.record.run_id, CodecarbonRow(report, LocalTime)});
  }
  if (options.output.empty()) {
    PrintOut(CodecarbonHeader());
    for (const auto& row : rows) PrintOut(row.row);
    return {};
  }
  RealClock clock;
  LOWTIDE_TRY(const std::size_t added, AppendCodecarbon(options.output, rows, clock));
  SayExported(options, added, rows.size());
  return {};
}

Status ExportJson(const ExportOptions& options, const std::vector<Report>& reports) {
  Json out = Json::array();
  for (const Report& report : reports) out.push_back(ReportJson(report));
  const std::string text = DumpJsonPretty({{"runs", std::move(out)}}) + "\n";
  if (options.output.empty()) {
    PrintOut(text);
    return {};
  }
  LOWTIDE_TRY_STATUS(WriteUserFile(options.output, text));
  SayExported(options, reports.size(), reports.size());
  return {};
}

Status Export(const ExportOptions& options) {
  if (options.all == !options.ids.empty()) {
    return Fail(Code::kInvalidArgument, "runs export: give either run ids or --all");
  }
  LOWTIDE_TRY_STATUS(CheckOutputFile("--output", options.output));
  LOWTIDE_TRY(const auto reports, ExportedReports(options));
  return options.format == "json" ? ExportJson(options, reports)
                                  : ExportCodecarbon(options, reports);
}

template <class T>
CLI::Option* LastWins(CLI::App& app, const std::string& names, T& value, const std::string& help) {
  return app.add_option(names, value, help)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void AddList(CLI::App& runs, int& exit_code) {
  auto options = std::make_shared<ListOptions>();
  CLI::App& app = *runs.add_subcommand("list", "List past runs, newest first");
  LastWins(app, "--name", options->name, "Only runs of this name (default: all)");
  LastWins(app, "--limit", options->limit, "At most this many runs (default: 20)")
      ->check(WholeNumberFrom(1, kAllRuns));
  app.add_flag("--json", options->json, "Print JSON: {\"runs\": [...]}");
  app.callback([options, &exit_code] { Finish(List(*options), exit_code); });
}

void AddShow(CLI::App& runs, int& exit_code) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App& app = *runs.add_subcommand("show", "Print the report of a run");
  app.add_option("id", options->id, kRunIdHelp)->required();
  app.add_flag("--json", options->json, "Print the JSON report");
  app.callback([options, &exit_code] { Finish(Show(*options), exit_code); });
}

void AddReport(CLI::App& runs, int& exit_code) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App& app = *runs.add_subcommand("report", "Write the report of a run as one HTML page");
  app.add_option("id", options->id, kRunIdHelp)->required();
  LastWins(app, "--html", options->html, "File to write; one that is there is replaced")
      ->type_name("FILE")
      ->required();
  app.add_flag("--json", options->json, "Print {\"run_id\", \"html\"} when done");
  app.callback([options, &exit_code] { Finish(WriteReport(*options), exit_code); });
}

void AddExport(CLI::App& runs, int& exit_code) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App& app = *runs.add_subcommand("export", "Write runs as JSON or as codecarbon's CSV");
  app.add_option("ids", options->ids, kRunIdHelp);
  app.add_flag("--all", options->all, "Every run that has ended");
  LastWins(app, "--format", options->format,
           "json: full reports; codecarbon: its 38 columns, kg and kWh")
      ->required()
      ->check(OneOf({"json", "codecarbon"}));
  LastWins(app, "--output", options->output,
           "File (default: standard output); JSON replaces it, codecarbon rows are appended, "
           "leaving out runs that are in it")
      ->type_name("FILE");
  app.add_flag("--json", options->json,
               "With --output, print {\"output\", \"written\", \"runs\"} when done");
  app.callback([options, &exit_code] { Finish(Export(*options), exit_code); });
}

}  // namespace

Result<std::unique_ptr<Store>> OpenExistingStore() {
  LOWTIDE_TRY_STATUS(CheckStateDirectory());
  const auto path = StorePath();
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Fail(Code::kNotFound, fmt::format("there are no runs yet: {} does not exist; `lowtide "
                                             "run -- COMMAND` makes one",
                                             path.string()));
  }
  return Store::Open(path);
}

void AddRunsVerb(CLI::App& app, int& exit_code) {
  CLI::App& runs = *app.add_subcommand("runs", "List, show, export and delete past runs");
  runs.require_subcommand(1);
  AddList(runs, exit_code);
  AddShow(runs, exit_code);
  AddReport(runs, exit_code);
  AddExport(runs, exit_code);
  AddRunsDelete(runs, exit_code);
  AddRunsCurves(runs, exit_code);
  AddRunsForgetCurve(runs, exit_code);
}

}  // namespace lowtide::cli
