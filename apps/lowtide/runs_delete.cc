// lowtide runs delete RUN...
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "runs_verbs.h"

namespace lowtide::cli {
namespace {

struct DeleteOptions {
  std::vector<std::string> ids;
  bool json = false;
};

Status Delete(const DeleteOptions& options) {
  LOWTIDE_TRY(auto store, OpenExistingStore());
  LOWTIDE_TRY(const auto deleted, store->DeleteRuns(options.ids));
  if (options.json) {
    Json ids = Json::array();
    for (const std::string& id : deleted) ids.push_back(id);
    PrintOut(DumpJson({{"deleted", std::move(ids)}}) + "\n");
    return {};
  }
  for (const std::string& id : deleted) {
    WriteToStandardError(fmt::format("lowtide: deleted run {}\n", id));
  }
  return {};
}

}  // namespace

void AddRunsDelete(CLI::App& runs, int& exit_code) {
  auto options = std::make_shared<DeleteOptions>();
  CLI::App& app =
      *runs.add_subcommand("delete", "Delete runs for good; all that are named, or none");
  app.add_option("ids", options->ids, kRunIdHelp)->required();
  app.add_flag("--json", options->json, "Print {\"deleted\": [...]}, the ids, when done");
  app.callback([options, &exit_code] { Finish(Delete(*options), exit_code); });
}

}  // namespace lowtide::cli
