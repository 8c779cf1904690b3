// lowtide run [options] -- COMMAND...
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/log.h"
#include "device/patient_device.h"
#include "environment.h"
#include "forecast/source_forecast.h"
#include "grid/make_source.h"
#include "option_checks.h"
#include "run/counterfactuals.h"
#include "run/job_share.h"
#include "run/limit_journal.h"
#include "run/report_html.h"
#include "run/report_json.h"
#include "run/report_text.h"
#include "run/runtime_folder.h"
#include "run_flags.h"
#include "run_output.h"
#include "verbs.h"

namespace lowtide::cli {
namespace {

// Whether this process already runs under `lowtide run`, whose measurement covers it.
bool InsideRun() {
  const auto path = Environment("LOWTIDE_SOCKET");
  sockaddr_un address{};
  if (!path || path->empty() || path->size() >= sizeof(address.sun_path)) return false;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path->c_str(), path->size() + 1);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return fd.Valid() &&
         ::connect(fd.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

// A run inside a run (torchrun starts one per rank) is the outer one's to measure: become the
// command.
int BecomeCommand(const std::vector<std::string>& command) {
  std::vector<std::string> arguments = command;
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  const int error_number = errno;
  WriteToStandardError(
      fmt::format("lowtide: error: {}: {}\n", command[0], std::strerror(error_number)));
  return error_number == ENOENT ? 127 : 126;
}

// A folder for the socket whose path is short enough for one.
std::filesystem::path FolderForSocket() {
  const auto xdg = Environment("XDG_RUNTIME_DIR");
  const bool usable =
      xdg && xdg->starts_with('/') && xdg->size() < 60 && ::access(xdg->c_str(), W_OK | X_OK) == 0;
  const std::filesystem::path parent = usable ? *xdg : "/tmp";
  RemoveAbandonedFolders(parent, ::getuid());
  return RuntimeFolder(parent, ::getuid(), ::getpid());
}

std::unique_ptr<Store> OpenStore(const RunFlags& flags) {
  if (flags.no_store) return nullptr;
  // The run tries again by itself: a call need not wait long.
  auto store = Store::Open(StorePath(), std::chrono::milliseconds(500));
  if (store) return *std::move(store);
  LogWarning("the run is not kept: " + store.error().message);
  return nullptr;
}

// What a killed run left behind is put right before anything is measured. False when a driver
// hangs.
bool RestoreFromEarlierRuns(const Machine& machine, const std::filesystem::path& folder) {
  if (!HasAbandonedLimits(folder)) return true;
  std::vector<std::unique_ptr<PatientDevice>> controls;
  std::vector<PowerDevice*> devices;
  for (const auto& d : machine.devices) {
    controls.push_back(std::make_unique<PatientDevice>(*d, Seconds(5)));
    devices.push_back(controls.back().get());
  }
  for (const RestoreOutcome& o : RestoreAbandoned(folder, devices)) {
    LogWarning("after a run that was cut off: " + o.message);
  }
  return std::ranges::none_of(controls, [](const auto& c) { return c->Hangs(); });
}

// A report that cannot be written is better known before the training than after it.
Status CheckReportFiles(const RunFlags& flags) {
  LOWTIDE_TRY_STATUS(CheckOutputFile("--json-report", flags.json_report));
  return CheckOutputFile("--html-report", flags.html_report);
}

// Reports go to their files even when one of them fails; the first failure is told.
void WriteReports(const RunFlags& flags, const Report& report) {
  const auto write = [](const std::string& path, const std::string& text) {
    if (path.empty()) return;
    if (auto status = WriteUserFile(path, text); !status) LogError(status.error().message);
  };
  if (!flags.json_report.empty()) {
    write(flags.json_report, DumpJsonPretty(ReportJson(report)) + "\n");
  }
  if (!flags.html_report.empty()) write(flags.html_report, ReportHtml(report));
}

void PrintReport(const RunFlags& flags, const Report& report, bool epochs_shown) {
  if (flags.json) {
    WriteToStandardError(DumpJsonPretty(ReportJson(report)) + "\n");
    return;
  }
  if (flags.quiet) return;
  if (!epochs_shown) WriteToStandardError(FormatEpochTable(report));
  const TextStyle style = ::isatty(STDERR_FILENO) == 1 && !Environment("NO_COLOR")
                              ? TextStyle::kColour
                              : TextStyle::kPlain;
  WriteToStandardError(FormatSummary(report, style));
}

// The training waits no longer than this for the first answer of the network.
constexpr Seconds kPatienceForGrid{3};

const Source& Watch(LiveGrid& grid, const RunConfig& config) {
  BackgroundOptions options;
  options.kept_lookback = config.max_intensity_window.value_or(Seconds(0));
  return grid.Watch(options, kPatienceForGrid);
}

// The grid's time is this time of the run; what cannot be known then is better told before the
// training than after it.
Status CheckGridTime(const RunConfig& config, const GridAccess& grid, TimePoint now) {
  if (grid.live && (config.grid_start || config.time_scale != 1)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} is for a recorded --trace: --sources tell of the present",
                            config.grid_start ? "--grid-time" : "--time-scale"));
  }
  auto covered = CheckTraceCovers(grid.Get(), config.grid_start.value_or(now));
  if (covered) return covered;
  return Fail(
      covered.error().code,
      fmt::format("--trace: {}; --grid-time chooses the time at which the run starts on the "
                  "grid",
                  covered.error().message));
}

// A fixed limit that no GPU here can have is better known before the training than after it.
Status CheckFixedLimit(const RunConfig& config, Machine& machine) {
  if (config.policy.kind != PolicyKind::kFixed) return {};
  for (const auto& device : machine.devices) {
    if (device->Info().kind != DeviceKind::kGpu) continue;
    PatientDevice patient(*device, Seconds(5));
    const auto limits = patient.Limits();
    if (patient.Hangs()) {
      machine.driver_hangs = true;
      return {};
    }
    if (!limits) continue;  // said when the run steers it
    const Watts limit = config.policy.fixed_limit;
    if (limit >= limits->min && limit <= limits->max) continue;
    return Fail(Code::kInvalidArgument,
                fmt::format("--policy {}: {} takes {:g} to {:g} W", PolicyName(config.policy),
                            device->Info().name, limits->min.v, limits->max.v));
  }
  return {};
}

// Errors before the command has started end the verb: the user asked for something that cannot be.
Result<int> Run(const RunFlags& flags, const std::vector<std::string>& command) {
  if (command.empty()) {
    return Fail(Code::kInvalidArgument, "no command; usage: lowtide run [options] -- COMMAND...");
  }
  if (InsideRun()) return BecomeCommand(command);

  LOWTIDE_TRY_STATUS(CheckReportFiles(flags));
  RealClock clock;
  LOWTIDE_TRY(SignalQueue signals, SignalQueue::Open());
  LOWTIDE_TRY(const GridAccess grid, OpenGrid(flags.intensity, clock));
  LOWTIDE_TRY(Machine machine, OpenMachine(clock, MachineOptionsOf(flags)));
  LOWTIDE_TRY(RunConfig config, MakeRunConfig(flags, command, machine, grid.Get()));
  LOWTIDE_TRY_STATUS(CheckGridTime(config, grid, clock.Now()));
  LOWTIDE_TRY_STATUS(CheckFixedLimit(config, machine));
  config.runtime_folder = FolderForSocket();
  for (const std::string& warning : machine.warnings) LogWarning(warning);
  if (!RestoreFromEarlierRuns(machine, config.limits_folder)) machine.driver_hangs = true;

  const std::unique_ptr<Store> store = OpenStore(flags);
  const SourceForecast forecaster;
  JobShare job_share(clock, *machine.job_usage, *machine.host_cpu);

  RunParts parts;
  parts.clock = &clock;
  parts.signals = &signals;
  parts.store = store.get();
  parts.devices = std::move(machine.devices);
  parts.problems = std::move(machine.problems);
  parts.simulated = machine.simulated;
  parts.job_usage = machine.job_usage.get();
  parts.job_share = &job_share;
  if (!WhyNoIntensity(grid.Get())) {
    parts.source = grid.live ? &Watch(*grid.live, config) : grid.fixed.get();
    parts.forecaster = &forecaster;
  }

  const bool live = !flags.quiet && !flags.json && ::isatty(STDERR_FILENO) == 1;
  RunPrinter printer(live ? LiveTable::kShow : LiveTable::kHide, config.ledger.pue);
  const RunOutcome outcome = RunCommand(std::move(config), std::move(parts), printer);
  if (outcome.start_error) {
    WriteToStandardError(fmt::format("lowtide: error: {}\n", outcome.start_error->message));
  } else {
    const Report report = BuildReport(outcome.data, RunCounterfactuals(outcome.data));
    PrintReport(flags, report, printer.ShownEpochs());
    WriteReports(flags, report);
  }
  if (outcome.must_exit_hard || machine.driver_hangs) {
    std::fflush(nullptr);
    ::_exit(outcome.exit_code);
  }
  return outcome.exit_code;
}

class RunFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return "Usage: lowtide run [OPTIONS] -- COMMAND [ARGS...]\n";
  }
};

}  // namespace

void AddRunVerb(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  CLI::App* const verb = app.add_subcommand("run", "Measure, report and steer a training command");
  const auto formatter = std::make_shared<RunFormatter>();
  formatter->column_width(app.get_formatter()->get_column_width());
  verb->formatter(formatter);
  const auto flags = std::make_shared<RunFlags>();
  AddRunOptions(*verb, *flags);
  verb->footer(
      "The command's exit code is lowtide's. Its streams, signals and environment pass through; "
      "what\nlowtide has to say goes to standard error.\n\n"
      "Examples:\n"
      "  lowtide run --zone DE -- python3 train.py\n"
      "  lowtide run --policy chase --zone US-CAL-CISO --html-report run.html -- python3 train.py");
  verb->callback([flags, &command, &exit_code] {
    auto code = Run(*flags, command);
    exit_code = code ? *code : PrintError(code.error());
  });
}

}  // namespace lowtide::cli
