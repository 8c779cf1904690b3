// Completion scripts for shells, written from the options that the program has.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace lowtide::cli {

// Offers verbs, options, the words that an option takes, and files where it takes one; after "--"
// what the shell offers for a command of its own.
std::string BashCompletion(CLI::App& app);
std::string ZshCompletion(CLI::App& app);
std::string FishCompletion(CLI::App& app);

}  // namespace lowtide::cli
