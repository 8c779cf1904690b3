// The one place that reads the process environment: everything below apps/ takes values.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace lowtide::cli {

// The variable's value; nothing when it is not set. An empty value is a value.
std::optional<std::string> Environment(const char* name);

// The variables whose names begin so, in the order of their names.
std::vector<std::pair<std::string, std::string>> EnvironmentStartingWith(std::string_view prefix);

// $LOWTIDE_STATE_DIR, else $XDG_STATE_HOME/lowtide, else ~/.local/state/lowtide; ~ is $HOME or,
// where there is none (cron, some services), the home of this user.
std::filesystem::path StateDirectory();
// kInvalidArgument, naming the variable that chose it, where it is something else than a folder.
// One that is not there is fine.
Status CheckStateDirectory();
inline std::filesystem::path StorePath() { return StateDirectory() / "lowtide.db"; }

// Where an option that nobody typed got its value from: "--zone" and "./lowtide.toml:3".
struct OptionOrigin {
  std::string option;
  std::string origin;
};

// " (set in ./lowtide.toml:3)" for the options that `message` names; empty where it names none.
std::string OriginsIn(std::string_view message, const std::vector<OptionOrigin>& origins);

// From here on PrintError says it too. Once, before a verb does its work, as with ConfigureLog.
void TellOrigins(std::vector<OptionOrigin> origins);

// Prints "lowtide: error: <message>" on standard error; returns the exit code for it.
int PrintError(const Error& error);

}  // namespace lowtide::cli
