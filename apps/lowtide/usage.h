// What is wrong with a command line, in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace lowtide::cli {

struct UsageProblem {
  std::string message;
  const CLI::App* verb;  // whose help explains it
};

// "no verb 'rnu'; did you mean run? There are ..." when `args` (without the program's name) name a
// verb that is not there, at any depth; also before --help, which would otherwise hide it.
std::optional<UsageProblem> UnknownVerb(const CLI::App& app, const std::vector<std::string>& args);

// After a parse that failed: the verb that was reached, the innermost one.
const CLI::App& ChosenVerb(const CLI::App& app);

// "lowtide runs show --help".
std::string HelpCommand(const CLI::App& verb);

// What could not be placed: an option that the verb does not have, with those that come near, or a
// word too many. Empty when all was placed.
std::string Unexpected(const CLI::App& app);

// A flag that was given something else than true or false; empty: none was.
std::string BadFlag(const CLI::App& verb);
// What is wrong with a flag's value; empty: nothing.
std::string FlagProblem(const std::string& value);

// A verb below `verb` is needed and was not given; empty otherwise.
std::string MissingVerb(const CLI::App& verb);

}  // namespace lowtide::cli
