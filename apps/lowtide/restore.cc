// lowtide restore: puts power limits back after a run that could not do so itself. With --watch-fd
// it is the watchdog that a run starts.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/json.h"
#include "environment.h"
#include "machine.h"
#include "run/limit_journal.h"
#include "run/watchdog.h"
#include "verbs.h"

namespace lowtide::cli {
namespace {

std::vector<PowerDevice*> Borrow(const std::vector<std::unique_ptr<PowerDevice>>& devices) {
  std::vector<PowerDevice*> out;
  out.reserve(devices.size());
  for (const auto& d : devices) out.push_back(d.get());
  return out;
}

int Watch(int fd, const std::string& journal) {
  const UniqueFd watch_fd(fd);
  // The driver is loaded before it is needed: then restoring takes milliseconds.
  const auto gpus = OpenGpus();
  for (const RestoreOutcome& o : WatchAndRestore(watch_fd, journal, Borrow(gpus))) {
    if (!o.status) return ExitCodeFor(o.status.error().code);
  }
  return 0;
}

int RestoreNow(bool json) {
  if (const auto status = CheckStateDirectory(); !status) return PrintError(status.error());
  const auto gpus = OpenGpus();
  const auto outcomes = RestoreAbandoned(StateDirectory() / "limits", Borrow(gpus));
  int exit_code = 0;
  Json lines = Json::array();
  for (const RestoreOutcome& o : outcomes) {
    if (!o.status) exit_code = ExitCodeFor(o.status.error().code);
    lines.push_back(Json{{"uuid", o.uuid}, {"ok", o.status.has_value()}, {"message", o.message}});
    if (!json) fmt::print("{}\n", o.message);
  }
  if (json) fmt::print("{}\n", DumpJsonPretty(Json{{"restored", lines}}));
  if (!json && outcomes.empty()) fmt::print("no power limits are left to put back\n");
  return exit_code;
}

struct RestoreFlags {
  int watch_fd = -1;
  std::string journal;
  bool json = false;
};

}  // namespace

void AddRestoreVerb(CLI::App& app, int& exit_code) {
  CLI::App* const verb =
      app.add_subcommand("restore", "Put GPU power limits back that a killed run has left changed");
  const auto flags = std::make_shared<RestoreFlags>();
  verb->add_option("--watch-fd", flags->watch_fd)->group("");
  verb->add_option("--journal", flags->journal)->group("");
  verb->add_flag("--json", flags->json, "Print what was done as JSON");
  verb->callback([flags, &exit_code] {
    exit_code =
        flags->watch_fd >= 0 ? Watch(flags->watch_fd, flags->journal) : RestoreNow(flags->json);
  });
}

}  // namespace lowtide::cli
