#include "run/run_name.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace lowtide {
namespace {

using Words = std::span<const std::string>;

std::string_view BaseName(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
}

template <std::size_t N>
bool IsOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

// "--" is one too: it ends the options.
bool IsOption(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

// python, python3, python3.11, python3.13t, pypy3.10, ipython3, ...
bool IsPython(std::string_view program) {
  constexpr std::array<std::string_view, 3> kPythons = {"ipython", "python", "pypy"};
  for (const std::string_view python : kPythons) {
    if (!program.starts_with(python)) continue;
    program.remove_prefix(python.size());
    if (program.ends_with('t')) program.remove_suffix(1);  // free-threaded
    return program.find_first_not_of("0123456789.") == std::string_view::npos;
  }
  return false;
}

constexpr std::array<std::string_view, 6> kShells = {"sh", "bash", "dash", "zsh", "ksh", "ash"};

// Interpreters whose options are many: their script is known by its ending.
struct ScriptEnding {
  std::string_view program;
  std::string_view ending;
};
constexpr std::array kScriptEndings = {
    ScriptEnding{"julia", ".jl"}, ScriptEnding{"Rscript", ".R"}, ScriptEnding{"Rscript", ".r"},
    ScriptEnding{"node", ".js"},  ScriptEnding{"node", ".mjs"},  ScriptEnding{"node", ".cjs"},
    ScriptEnding{"node", ".ts"},  ScriptEnding{"ruby", ".rb"},   ScriptEnding{"perl", ".pl"},
    ScriptEnding{"java", ".jar"}, ScriptEnding{"octave", ".m"},
};

// Programs that start a Python script, among options of their own.
constexpr std::array<std::string_view, 21> kLaunchers = {
    "torchrun", "accelerate", "deepspeed", "horovodrun", "colossalai", "composer",   "mpirun",
    "mpiexec",  "orterun",    "srun",      "uv",         "poetry",     "pipenv",     "pdm",
    "hatch",    "rye",        "pixi",      "conda",      "mamba",      "micromamba", "coverage"};
// The same as modules: python -m torch.distributed.run train.py.
constexpr std::array<std::string_view, 5> kLauncherModules = {
    "torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch",
    "deepspeed.launcher.runner", "coverage"};

// Programs that run the rest of their arguments; `with_value` are their short options whose value
// is a word of its own, `operands` how many words stand before the command.
struct Wrapper {
  std::string_view program;
  std::string_view with_value;
  int operands = 0;
};
constexpr std::array kWrappers = {
    Wrapper{"env", "uC", 0},     Wrapper{"nice", "n", 0},
    Wrapper{"ionice", "cn", 0},  Wrapper{"nohup", "", 0},
    Wrapper{"setsid", "", 0},    Wrapper{"time", "fo", 0},
    Wrapper{"stdbuf", "ioe", 0}, Wrapper{"timeout", "ks", 1},
    Wrapper{"taskset", "", 1},   Wrapper{"numactl", "iNmpCPlw", 0},
    Wrapper{"chrt", "TPD", 1},   Wrapper{"sudo", "ugpCDhRrtTU", 0},
    Wrapper{"exec", "a", 0},     Wrapper{"command", "", 0},
};

std::optional<std::string> NameOf(Words words);

// NAME=VALUE, as env takes them before its command.
bool IsAssignment(std::string_view word) {
  const auto equals = word.find('=');
  return equals != std::string_view::npos && equals > 0 && word.front() != '-';
}

// Whether the value of option `word` is the next word, where `with_value` are the letters of short
// options that take one: "-n", "-xn", but not "-n5".
bool TakesNextWord(std::string_view word, std::string_view with_value) {
  if (word.starts_with("--")) return false;
  const auto at = word.find_first_of(with_value, 1);
  return at != std::string_view::npos && at + 1 == word.size();
}

// Without the options at the start, and the "--" that ends them.
Words SkipOptions(Words words, std::string_view with_value) {
  while (!words.empty() && IsOption(words.front())) {
    const std::string_view option = words.front();
    const bool two = TakesNextWord(option, with_value) && words.size() > 1;
    words = words.subspan(two ? 2 : 1);
    if (option == "--") break;
  }
  return words;
}

std::optional<std::string> NameOfWrapped(Words words, const Wrapper& wrapper) {
  words = SkipOptions(words, wrapper.with_value);
  for (int i = 0; i < wrapper.operands && !words.empty(); ++i) words = words.subspan(1);
  while (!words.empty() && IsAssignment(words.front())) words = words.subspan(1);
  return NameOf(words);
}

// The script or module that a launcher starts: the first word that looks like one.
std::optional<std::string> NameOfLaunched(Words words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if ((word == "-m" || word == "--module") && i + 1 < words.size() && !IsOption(words[i + 1])) {
      return words[i + 1];
    }
    if (IsOption(word)) continue;
    const std::string_view name = BaseName(word);
    if (name.ends_with(".py") || name.ends_with(".sh")) return std::string(name);
    if (i > 0 && words[i - 1].starts_with("--") && !words[i - 1].contains('=')) {
      continue;  // may be that option's value
    }
    if (IsPython(name) || IsOneOf(name, kShells) || IsOneOf(name, kLaunchers)) {
      if (auto found = NameOf(words.subspan(i))) return found;
    }
  }
  return std::nullopt;
}

std::optional<std::string> NameOfPython(Words words) {
  while (!words.empty()) {
    const std::string_view word = words.front();
    if (word == "-") return std::nullopt;  // standard input
    if (!IsOption(word)) return std::string(BaseName(word));
    words = words.subspan(1);
    if (word == "--") continue;
    if (word.starts_with("--")) {
      if (word == "--check-hash-based-pycs" && !words.empty()) words = words.subspan(1);
      continue;
    }
    // Letters without a value, then perhaps one whose value is the rest or the next word.
    const auto at = word.find_first_of("cmWX", 1);
    if (at == std::string_view::npos) continue;
    const char letter = word[at];
    std::string value(word.substr(at + 1));
    if (value.empty()) {
      if (words.empty()) return std::nullopt;
      value = words.front();
      words = words.subspan(1);
    }
    if (letter == 'c') return std::nullopt;
    if (letter == 'm') {
      if (IsOneOf(value, kLauncherModules)) {
        if (auto launched = NameOfLaunched(words)) return launched;
      }
      return value;
    }
  }
  return std::nullopt;
}

std::optional<std::string> NameOfShell(Words words) {
  while (!words.empty()) {
    const std::string_view word = words.front();
    if (!IsOption(word) && !word.starts_with('+')) return std::string(BaseName(word));
    words = words.subspan(1);
    if (word.starts_with("--")) {
      if ((word == "--rcfile" || word == "--init-file") && !words.empty()) words = words.subspan(1);
      continue;
    }
    if (word.contains('c') || word.contains('s')) return std::nullopt;
    if (word.find_first_of("oO") != std::string_view::npos && !words.empty()) {
      words = words.subspan(1);
    }
  }
  return std::nullopt;
}

std::optional<std::string> NameOfScript(Words words, std::string_view program) {
  for (const std::string& word : words) {
    const bool is_script = std::ranges::any_of(kScriptEndings, [&](const ScriptEnding& script) {
      return script.program == program && !IsOption(word) && word.ends_with(script.ending);
    });
    if (is_script) return std::string(BaseName(word));
  }
  return std::nullopt;
}

// Nothing when there are no words.
std::optional<std::string> NameOf(Words words) {
  if (words.empty()) return std::nullopt;
  const std::string_view program = BaseName(words.front());
  const Words arguments = words.subspan(1);
  std::optional<std::string> name;
  const auto* wrapper = std::ranges::find(kWrappers, program, &Wrapper::program);
  if (wrapper != kWrappers.end()) {
    name = NameOfWrapped(arguments, *wrapper);
  } else if (IsPython(program)) {
    name = NameOfPython(arguments);
  } else if (IsOneOf(program, kShells)) {
    name = NameOfShell(arguments);
  } else if (IsOneOf(program, kLaunchers)) {
    name = NameOfLaunched(arguments);
  } else {
    name = NameOfScript(arguments, program);
  }
  if (name && !name->empty()) return name;
  return std::string(program);
}

}  // namespace

std::string DefaultRunName(Words command) { return NameOf(command).value_or(""); }

}  // namespace lowtide
