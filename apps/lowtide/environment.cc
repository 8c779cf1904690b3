#include "environment.h"

#include "base/log.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace lowtide::cli {
namespace {

std::string Home() {
  if (auto home = Environment("HOME"); home && home->starts_with('/')) return *std::move(home);
  const passwd* const user = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe): one thread
  return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "/";
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

std::filesystem::path StateDirectory() {
  if (const auto dir = Environment("LOWTIDE_STATE_DIR"); dir && !dir->empty()) return *dir;
  if (const auto xdg = Environment("XDG_STATE_HOME"); xdg && xdg->starts_with('/')) {
    return std::filesystem::path(*xdg) / "lowtide";
  }
  return std::filesystem::path(Home()) / ".local/state/lowtide";
}

int PrintError(const Error& error) {
  WriteToStandardError(fmt::format("lowtide: error: {}\n", error.message));
  return ExitCodeFor(error.code);
}

}  // namespace lowtide::cli
