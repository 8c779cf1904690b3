#include <CLI/CLI.hpp>

#include "verbs.h"

int main(int argc, char** argv) {
  int exit_code = 0;
  CLI::App app("Train machine-learning models at low carbon", "lowtide");
  app.require_subcommand(1);
  lowtide::cli::AddRunsVerb(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return exit_code;
}
