// lowtide version: what this program is and was built with.
#include <fmt/format.h>
#include <sqlite3.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/json.h"
#include "verbs.h"

namespace lowtide::cli {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "gcc " __VERSION__;
#endif

void PrintVersion(bool as_json) {
  if (as_json) {
    fmt::print("{}\n", DumpJson(Json{{"version", LOWTIDE_VERSION},
                                     {"compiler", kCompiler},
                                     {"build", LOWTIDE_BUILD_TYPE},
                                     {"sqlite", ::sqlite3_libversion()}}));
    return;
  }
  fmt::print("lowtide {}\ncompiler: {} ({})\nSQLite: {}\n", LOWTIDE_VERSION, kCompiler,
             LOWTIDE_BUILD_TYPE, ::sqlite3_libversion());
}

}  // namespace

void AddVersionVerb(CLI::App& app, int& /*exit_code*/) {
  auto* verb = app.add_subcommand("version", "Version, compiler and SQLite of this program");
  verb->group("Setup");
  auto as_json = std::make_shared<bool>(false);
  verb->add_flag("--json", *as_json, "Print JSON");
  verb->callback([as_json] { PrintVersion(*as_json); });
}

}  // namespace lowtide::cli
