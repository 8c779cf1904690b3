#include "usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>

#include "base/near_names.h"

namespace lowtide::cli {
namespace {

std::vector<const CLI::App*> Below(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
}

std::vector<std::string> NamesBelow(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : Below(app)) names.push_back(verb->get_name());
  return names;
}

bool TakesWords(const CLI::App& app) {
  return std::ranges::any_of(app.get_options(), &CLI::Option::get_positional);
}

// The option of that name, of the app or of one above it.
const CLI::Option* FindOption(const CLI::App& app, const std::string& name) {
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
    if (const auto* option = at->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

// "lowtide runs" -> "runs"; empty for the program itself.
std::string PathOf(const CLI::App& verb) {
  if (verb.get_parent() == nullptr) return {};
  const std::string above = PathOf(*verb.get_parent());
  return above.empty() ? verb.get_name() : above + " " + verb.get_name();
}

std::string ThereAre(const CLI::App& app) {
  return fmt::format("there are {}", fmt::join(NamesBelow(app), ", "));
}

}  // namespace

std::optional<UsageProblem> UnknownVerb(const CLI::App& app, const std::vector<std::string>& args) {
  const CLI::App* at = &app;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& word = args[i];
    if (word.size() > 1 && word[0] == '-') {
      const auto equals = word.find('=');
      const CLI::Option* option = FindOption(*at, word.substr(0, equals));
      if (option == nullptr) return std::nullopt;  // said elsewhere
      if (equals == std::string::npos && option->get_items_expected_max() > 0) ++i;
      continue;
    }
    const auto verbs = Below(*at);
    const auto found = std::ranges::find(verbs, word, &CLI::App::get_name);
    if (found != verbs.end()) {
      at = *found;
      continue;
    }
    if (verbs.empty() || TakesWords(*at)) return std::nullopt;
    const std::string path = PathOf(*at);
    const std::string near = DidYouMean(word, NamesBelow(*at));
    return UsageProblem{
        fmt::format("no verb '{}'{}; {}{}{}", word.substr(0, 64), path.empty() ? "" : " of " + path,
                    near, near.empty() ? "" : " ", ThereAre(*at)),
        at};
  }
  return std::nullopt;
}

const CLI::App& ChosenVerb(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

std::string HelpCommand(const CLI::App& verb) {
  const std::string path = PathOf(verb);
  return fmt::format("lowtide{}{} --help", path.empty() ? "" : " ", path);
}

std::string Unexpected(const CLI::App& app) {
  const auto remaining = app.remaining(true);
  if (remaining.empty()) return {};
  const auto dashed = std::ranges::find_if(
      remaining, [](const auto& word) { return word.size() > 1 && word[0] == '-'; });
  if (dashed == remaining.end()) {
    return fmt::format("unexpected argument '{}'", remaining.front().substr(0, 64));
  }
  const std::string name = dashed->substr(0, dashed->find('='));
  std::vector<std::string> names;
  for (const CLI::App* at = &ChosenVerb(app); at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      if (option->get_group().empty()) continue;
      for (const auto& known : option->get_lnames()) names.push_back("--" + known);
    }
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  const std::string near = DidYouMean(name, names);
  const std::string path = PathOf(ChosenVerb(app));
  return fmt::format("no option '{}'{}{}{}", name.substr(0, 64), path.empty() ? "" : " of " + path,
                     near.empty() ? "" : "; ", near);
}

std::string FlagProblem(const std::string& value) {
  try {
    CLI::detail::to_flag_value(value);
    return {};
  } catch (const std::invalid_argument&) {
    return fmt::format("'{}' is not allowed; give true or false", value.substr(0, 64));
  }
}

std::string BadFlag(const CLI::App& verb) {
  for (const CLI::App* at = &verb; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      if (option->get_items_expected_max() > 0) continue;
      for (const std::string& value : option->results()) {
        const std::string problem = FlagProblem(value);
        if (!problem.empty()) return fmt::format("{}: {}", option->get_name(), problem);
      }
    }
  }
  return {};
}

std::string MissingVerb(const CLI::App& verb) {
  if (verb.get_require_subcommand_min() == 0 || !verb.get_subcommands().empty()) return {};
  return fmt::format("{}: a verb is missing; {}", PathOf(verb), ThereAre(verb));
}

}  // namespace lowtide::cli
