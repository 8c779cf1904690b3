// The command line: verbs, settings, errors. Everything after "--" is the user's command and is
// never looked at here.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/log.h"
#include "environment.h"
#include "option_checks.h"
#include "settings.h"
#include "usage.h"
#include "verbs.h"
#include "zone_settings.h"
#include "zone_tables.h"

namespace lowtide::cli {
namespace {

// These must work whatever the settings say: a training job's marks, the way back to the old power
// limits, and what one looks at when all else fails.
constexpr std::array<std::string_view, 4> kWithoutSettings = {"mark", "restore", "completion",
                                                              "version"};

struct CommandLine {
  std::vector<std::string> args;      // before "--", without the program's name
  std::vector<std::string> trailing;  // after it
  bool has_trailing = false;
};

CommandLine Split(int argc, char** argv) {
  CommandLine line;
  line.args.assign(argv + std::min(argc, 1), argv + argc);
  if (const auto dashes = std::ranges::find(line.args, "--"); dashes != line.args.end()) {
    line.has_trailing = true;
    line.trailing.assign(dashes + 1, line.args.end());
    line.args.erase(dashes, line.args.end());
  }
  // "lowtide help run" is "lowtide run --help".
  if (!line.args.empty() && line.args.front() == "help") {
    line.args.erase(line.args.begin());
    line.args.emplace_back("--help");
  }
  return line;
}

bool Has(const std::vector<std::string>& args, std::string_view a, std::string_view b) {
  return std::ranges::any_of(args, [&](const std::string& arg) { return arg == a || arg == b; });
}

void AddVerbs(CLI::App& app, const CommandLine& line, int& exit_code) {
  AddRunVerb(app, line.trailing, exit_code);
  AddDoctorVerb(app, exit_code);
  AddPlanVerb(app, exit_code);
  AddIntensityVerb(app, exit_code);
  AddForecastVerb(app, exit_code);
  AddRunsVerb(app, exit_code);
  AddMarkVerb(app, exit_code);
  AddRestoreVerb(app, exit_code);
  AddZonesVerb(app, exit_code);
  AddConfigVerb(app, exit_code);
  AddCompletionVerb(app, exit_code);
  AddVersionVerb(app, exit_code);
}

int UsageError(const CLI::App& verb, std::string message) {
  std::ranges::replace(message, '\n', ' ');
  WriteToStandardError(fmt::format("lowtide: error: {} (see: {})\n", message, HelpCommand(verb)));
  return ExitCodeFor(Code::kInvalidArgument);
}

std::vector<OptionOrigin> OriginsOf(const Settings& used) {
  std::vector<OptionOrigin> out;
  for (const auto& setting : used) out.push_back({"--" + setting.key, setting.origin});
  return out;
}

// What CLI11 has found wrong.
std::string Describe(const CLI::App& app, const CommandLine& line, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    std::string message = Unexpected(app);
    if (!line.has_trailing && app.got_subcommand("run")) {
      message += "; the command goes after --: lowtide run [options] -- COMMAND...";
    }
    return message;
  }
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ConversionError)) {
    if (std::string message = BadFlag(ChosenVerb(app)); !message.empty()) return message;
  }
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError)) {
    if (std::string message = MissingVerb(ChosenVerb(app)); !message.empty()) return message;
  }
  return error.what();
}

Result<InjectedArguments> WithSettings(const CLI::App& app, const std::vector<std::string>& args) {
  const auto verb =
      std::ranges::find_if(args, [](const auto& arg) { return !arg.starts_with('-'); });
  if (verb != args.end() && std::ranges::find(kWithoutSettings, *verb) != kWithoutSettings.end()) {
    return InjectedArguments{args, {}};
  }
  LOWTIDE_TRY(const Settings settings, LoadSettings(DefaultSettingsSources()));
  LOWTIDE_TRY(const CheckedSettings checked, CheckSettings(app, settings));
  for (const auto& name : checked.unknown_variables) {
    LogWarning(fmt::format("environment variable {} is not a setting and has no effect", name));
  }
  if (std::ranges::none_of(checked.settings, IsZoneSetting)) {
    return InjectSettings(app, args, checked.settings);
  }
  LOWTIDE_TRY(const ZoneTable zones, EmbeddedZoneTable());
  LOWTIDE_TRY_STATUS(CheckZoneSettings(checked.settings, zones));
  return InjectSettings(app, args, SettingsForZone(app, args, checked.settings, zones));
}

int Main(int argc, char** argv) {
  const CommandLine line = Split(argc, argv);
  int exit_code = 0;
  std::string log_level = "warning";
  std::string log_format = "text";

  CLI::App app(
      "Lowtide trains machine-learning models at low carbon: it measures what a training job\n"
      "draws, steers it by the grid's carbon intensity, and reports what it cost.",
      "lowtide");
  app.get_formatter()->column_width(34);
  app.set_version_flag("--version", "lowtide " LOWTIDE_VERSION, "Print the version and exit");
  app.add_option("--log-level", log_level,
                 "Diagnostics on standard error: debug, info, warning, error, off")
      ->check(OneOf({"debug", "info", "warning", "error", "off"}))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->capture_default_str();
  app.add_option("--log-format", log_format, "text, or json (one object a line)")
      ->check(OneOf({"text", "json"}))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->capture_default_str();
  app.require_subcommand(0, 1);
  app.fallthrough();  // --log-level may stand after the verb
  app.parse_complete_callback([&] {
    ConfigureLog(ParseLogLevel(log_level).value_or(LogLevel::kWarning),
                 log_format == "json" ? LogFormat::kJson : LogFormat::kText);
  });
  AddVerbs(app, line, exit_code);
  // After the verbs, which would inherit it.
  app.footer(
      "Settings may stand in ./lowtide.toml, ~/.config/lowtide/config.toml and LOWTIDE_* "
      "variables;\n"
      "'lowtide config' shows them. 'lowtide VERB --help' explains a verb.");

  if (const auto unknown = UnknownVerb(app, line.args))
    return UsageError(*unknown->verb, unknown->message);
  InjectedArguments injected{line.args, {}};
  if (!line.args.empty() && !Has(line.args, "--help", "-h") && !Has(line.args, "--version", "")) {
    auto with_settings = WithSettings(app, line.args);
    if (!with_settings) return PrintError(with_settings.error());
    injected = *std::move(with_settings);
    TellOrigins(OriginsOf(injected.used));
  }
  try {
    std::vector<std::string> reversed(injected.args.rbegin(), injected.args.rend());
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    std::string message = Describe(app, line, e);
    message += OriginsIn(message, OriginsOf(injected.used));
    return UsageError(ChosenVerb(app), std::move(message));
  }
  if (app.get_subcommands().empty()) fmt::print("{}", app.help());
  return exit_code;
}

// Where a standard stream is closed, the next file that is opened would take its number, and what
// is printed would land in it. The stand-ins close when a command is executed: it finds what we
// found.
void OccupyStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is this one. Read-only: writing there still fails, as on a closed one.
    [[maybe_unused]] const int opened = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
}

}  // namespace
}  // namespace lowtide::cli

int main(int argc, char** argv) {
  lowtide::cli::OccupyStandardStreams();
  int exit_code = 1;
  try {
    exit_code = lowtide::cli::Main(argc, argv);
  } catch (const std::exception& e) {
    lowtide::WriteToStandardError(fmt::format("lowtide: error: {}\n", e.what()));
  }
  // A full disk shows only now.
  if (std::fflush(stdout) != 0 && exit_code == 0) {
    lowtide::WriteToStandardError("lowtide: error: cannot write to standard output\n");
    exit_code = 1;
  }
  return exit_code;
}
