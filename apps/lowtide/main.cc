#include <CLI/CLI.hpp>

#include "verbs.h"

int main(int argc, char** argv) {
  CLI::App app("Train machine-learning models at low carbon", "lowtide");
  app.require_subcommand(1);
  int exit_code = 0;
  lowtide::cli::AddMarkVerb(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return exit_code;
}
