#include "option_lookup.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace lowtide::cli {
namespace {

bool Hidden(const CLI::App& app) { return app.get_parent() != nullptr && app.get_group().empty(); }

}  // namespace

std::vector<const CLI::App*> Children(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* child) { return !Hidden(*child); });
}

const CLI::App* Child(const CLI::App& app, const std::string& name) {
  for (const CLI::App* child : Children(app)) {
    if (child->check_name(name)) return child;
  }
  return nullptr;
}

const CLI::App* FindVerb(const CLI::App& app, std::string_view path) {
  const CLI::App* at = &app;
  while (!path.empty() && at != nullptr) {
    const auto end = std::min(path.find(' '), path.size());
    at = Child(*at, std::string(path.substr(0, end)));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return at;
}

const CLI::Option* FindOption(const CLI::App& app, std::string_view key) {
  if (key == "help" || key == "help-all" || key == "version") return nullptr;
  for (const CLI::Option* option : app.get_options()) {
    if (std::ranges::find(option->get_lnames(), key) != option->get_lnames().end()) return option;
  }
  return nullptr;
}

const CLI::Option* TypedOption(const CLI::App& app, std::string_view arg) {
  if (arg.size() < 2 || arg[0] != '-') return nullptr;
  if (arg[1] == '-') return FindOption(app, arg.substr(2, arg.find('=') - 2));
  for (const CLI::Option* option : app.get_options()) {
    if (std::ranges::find(option->get_snames(), arg.substr(1, 1)) != option->get_snames().end()) {
      return option;
    }
  }
  return nullptr;
}

bool ValueFollows(const CLI::Option& option, std::string_view arg) {
  return option.get_items_expected_max() > 0 && arg.find('=') == std::string_view::npos &&
         (arg[1] == '-' || arg.size() == 2);
}

}  // namespace lowtide::cli
