#include "environment.h"

#include "base/log.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

namespace lowtide::cli {
namespace {

std::string Home() {
  if (auto home = Environment("HOME"); home && home->starts_with('/')) return *std::move(home);
  const passwd* const user = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe): one thread
  return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "/";
}

struct StateChoice {
  const char* variable;  // that chose it
  std::filesystem::path path;
};

StateChoice ChosenStateDirectory() {
  if (const auto dir = Environment("LOWTIDE_STATE_DIR"); dir && !dir->empty()) {
    return {"LOWTIDE_STATE_DIR", *dir};
  }
  if (const auto xdg = Environment("XDG_STATE_HOME"); xdg && xdg->starts_with('/')) {
    return {"XDG_STATE_HOME", std::filesystem::path(*xdg) / "lowtide"};
  }
  return {"HOME", std::filesystem::path(Home()) / ".local/state/lowtide"};
}

// Where `message` names the option, and not a longer one that begins so.
std::optional<std::size_t> FindOptionIn(std::string_view message, std::string_view option) {
  for (auto at = message.find(option); at != std::string_view::npos;
       at = message.find(option, at + 1)) {
    const std::string_view behind = message.substr(at + option.size());
    const bool goes_on =
        !behind.empty() &&
        (behind[0] == '-' || std::isalnum(static_cast<unsigned char>(behind[0])) != 0);
    if (!goes_on) return at;
  }
  return std::nullopt;
}

std::vector<OptionOrigin>& Origins() {
  static std::vector<OptionOrigin> origins;
  return origins;
}

}  // namespace

std::optional<std::string> Environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no setenv here
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

std::vector<std::pair<std::string, std::string>> EnvironmentStartingWith(std::string_view prefix) {
  std::vector<std::pair<std::string, std::string>> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (text.starts_with(prefix) && equals != std::string_view::npos) {
      found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  std::ranges::sort(found);
  return found;
}

std::filesystem::path StateDirectory() { return ChosenStateDirectory().path; }

Status CheckStateDirectory() {
  const auto [variable, path] = ChosenStateDirectory();
  // A part of the path that is a file shows as ENOTDIR of all below it.
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  const bool below_a_file = error == std::errc::not_a_directory;
  if (!below_a_file &&
      (!std::filesystem::exists(status) || std::filesystem::is_directory(status))) {
    return {};
  }
  return Fail(
      Code::kInvalidArgument,
      fmt::format("{}: {} is not a folder; runs are kept in a folder", variable, path.string()));
}

std::string OriginsIn(std::string_view message, const std::vector<OptionOrigin>& origins) {
  std::string out;
  for (const auto& [option, origin] : origins) {
    const auto at = FindOptionIn(message, option);
    if (!at) continue;
    out += fmt::format("{}{}set in {}", out.empty() ? "" : "; ", *at == 0 ? "" : option + " is ",
                       origin);
  }
  return out.empty() ? out : fmt::format(" ({})", out);
}

void TellOrigins(std::vector<OptionOrigin> origins) { Origins() = std::move(origins); }

int PrintError(const Error& error) {
  WriteToStandardError(
      fmt::format("lowtide: error: {}{}\n", error.message, OriginsIn(error.message, Origins())));
  return ExitCodeFor(error.code);
}

}  // namespace lowtide::cli
