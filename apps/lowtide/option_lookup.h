// Which verb and which option the words of a command line name, before they are parsed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lowtide::cli {

// The verbs below `app` that are shown in its help.
std::vector<const CLI::App*> Children(const CLI::App& app);

// nullptr: there is none.
const CLI::App* Child(const CLI::App& app, const std::string& name);

// By its path, such as "runs list"; empty: `app` itself.
const CLI::App* FindVerb(const CLI::App& app, std::string_view path);

// The app's own option of that long name, or nullptr; --help and --version are no settings.
const CLI::Option* FindOption(const CLI::App& app, std::string_view key);

// The option that a typed argument ("--zone", "--zone=DE", "-z") names, or nullptr.
const CLI::Option* TypedOption(const CLI::App& app, std::string_view arg);

// Whether the next argument is the value of the option that `arg` names.
bool ValueFollows(const CLI::Option& option, std::string_view arg);

}  // namespace lowtide::cli
