// lowtide completion bash | zsh | fish
#include "completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "base/json.h"
#include "option_checks.h"
#include "verbs.h"

namespace lowtide::cli {
namespace {

enum class Values : std::uint8_t { kNone, kAny, kFile, kWords };

struct OptionEntry {
  std::vector<std::string> names;  // "--quiet", "-q"
  std::string about;
  Values values = Values::kNone;
  std::vector<std::string> words;
};

struct VerbEntry {
  std::string path;  // "runs list"; empty: the program
  std::string about;
  std::vector<std::string> below;
  std::vector<std::string> words;    // that stand without an option: "bash"
  std::vector<OptionEntry> options;  // those of the verbs above included
};

// The first clause of a help text: shells show one line.
std::string Brief(const std::string& text) {
  const auto end = text.find_first_of(";:(\n");
  std::string brief = text.substr(0, end);
  while (!brief.empty() && (brief.back() == ' ' || brief.back() == ',')) brief.pop_back();
  return brief;
}

std::vector<std::string> WordsOf(CLI::Option& option) {
  std::vector<std::string> words;
  for (int i = 0;; ++i) {
    try {
      const std::string name = option.get_validator(i)->get_name();
      if (!name.empty()) words = CLI::detail::split(name, ' ');
    } catch (const CLI::OptionNotFound&) {
      return words;
    }
  }
}

OptionEntry EntryOf(CLI::Option& option) {
  OptionEntry entry;
  for (const auto& name : option.get_lnames()) entry.names.push_back("--" + name);
  for (const auto& name : option.get_snames()) entry.names.push_back("-" + name);
  entry.about = Brief(option.get_description());
  if (option.get_items_expected_max() == 0) return entry;
  entry.words = WordsOf(option);
  const bool is_file = option.get_type_name().starts_with("FILE");
  entry.values = !entry.words.empty() ? Values::kWords : (is_file ? Values::kFile : Values::kAny);
  return entry;
}

void Collect(CLI::App& app, const std::string& path, std::vector<OptionEntry> options,
             std::vector<VerbEntry>& out) {
  // --help and --version are of each program by itself.
  std::erase_if(options, [](const OptionEntry& o) {
    return o.names.front() == "--help" || o.names.front() == "--version";
  });
  std::vector<std::string> words;
  for (CLI::Option* option : app.get_options()) {
    if (option->get_positional()) std::ranges::move(WordsOf(*option), std::back_inserter(words));
    if (option->get_group().empty() || option->get_lnames().empty()) continue;
    OptionEntry entry = EntryOf(*option);
    // A verb's own option stands before one of the same name above it.
    std::erase_if(options,
                  [&](const OptionEntry& o) { return o.names.front() == entry.names.front(); });
    options.push_back(std::move(entry));
  }
  VerbEntry entry{path, Brief(app.get_description()), {}, std::move(words), options};
  const auto verbs = app.get_subcommands([](CLI::App* verb) { return !verb->get_group().empty(); });
  for (CLI::App* verb : verbs) entry.below.push_back(verb->get_name());
  out.push_back(std::move(entry));
  for (CLI::App* verb : verbs) {
    Collect(*verb, path.empty() ? verb->get_name() : path + " " + verb->get_name(), options, out);
  }
}

std::vector<VerbEntry> EntriesOf(CLI::App& app) {
  std::vector<VerbEntry> out;
  Collect(app, "", {}, out);
  return out;
}

std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// fish escapes a quote within quotes by a backslash.
std::string QuotedForFish(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// What bash and zsh share: functions of the shell's own language that say, for a path of verbs,
// what there is. `name` is put before the names of the functions.
std::string Tables(const std::vector<VerbEntry>& entries) {
  std::string verbs;
  std::string options;
  std::string valued;
  std::string values;
  for (const VerbEntry& entry : entries) {
    const std::string path = Quoted(entry.path);
    if (!entry.below.empty()) {
      verbs += fmt::format("    {}) echo {} ;;\n", path,
                           Quoted(fmt::format("{}", fmt::join(entry.below, " "))));
    }
    if (!entry.words.empty()) {
      values += fmt::format("    {}) echo {} ;;\n", Quoted(entry.path + " "),
                            Quoted(fmt::format("{}", fmt::join(entry.words, " "))));
    }
    std::vector<std::string> all;
    std::vector<std::string> with_value;
    for (const OptionEntry& option : entry.options) {
      for (const auto& name : option.names) {
        all.push_back(name);
        if (option.values != Values::kNone) with_value.push_back(name);
      }
      const std::string& name = option.names.front();
      if (option.values == Values::kWords) {
        values += fmt::format("    {}) echo {} ;;\n", Quoted(entry.path + " " + name),
                              Quoted(fmt::format("{}", fmt::join(option.words, " "))));
      } else if (option.values == Values::kFile) {
        values += fmt::format("    {}) echo FILE ;;\n", Quoted(entry.path + " " + name));
      }
    }
    options +=
        fmt::format("    {}) echo {} ;;\n", path, Quoted(fmt::format("{}", fmt::join(all, " "))));
    valued += fmt::format("    {}) echo {} ;;\n", path,
                          Quoted(fmt::format("{}", fmt::join(with_value, " "))));
  }
  const auto function = [](std::string_view name, const std::string& cases) {
    return fmt::format("{}() {{\n  case $1 in\n{}  esac\n}}\n", name, cases);
  };
  return function("_lowtide_verbs", verbs) + function("_lowtide_options", options) +
         function("_lowtide_valued", valued) + function("_lowtide_values", values);
}

constexpr const char* kBashMain = R"SHELL(
_lowtide() {
  local cur=${COMP_WORDS[COMP_CWORD]} path='' word option='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      elif ((COMP_CWORD == i + 1)); then
        COMPREPLY=($(compgen -c -- "$cur"))
      else
        COMPREPLY=($(compgen -f -- "$cur"))
      fi
      return
    fi
    if [[ $word == -* ]]; then
      option=''
      if [[ " $(_lowtide_valued "$path") " == *" $word "* ]]; then
        option=$word
        # readline makes three words of --option=value
        [[ ${COMP_WORDS[i + 1]} == '=' ]] && ((i++))
        ((i++))
      fi
    elif [[ " $(_lowtide_verbs "$path") " == *" $word "* ]]; then
      path=${path:+$path }$word
    fi
  done
  [[ $cur == '=' ]] && cur=''
  if ((i > COMP_CWORD)); then
    local values
    values=$(_lowtide_values "$path $option")
    if [[ $values == FILE ]]; then
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "$cur"))
    else
      COMPREPLY=($(compgen -W "$values" -- "$cur"))
      [[ ${COMPREPLY[0]} == *: ]] && compopt -o nospace 2>/dev/null
    fi
    return
  fi
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$(_lowtide_options "$path")" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$(_lowtide_verbs "$path") $(_lowtide_values "$path ")" -- "$cur"))
  fi
}
complete -F _lowtide lowtide
)SHELL";

constexpr const char* kZshMain = R"SHELL(
_lowtide() {
  local lowtide_path='' word option='' values
  integer i
  for ((i = 2; i < CURRENT; i++)); do
    word=${words[i]}
    if [[ $word == -- ]]; then
      shift $i words
      ((CURRENT -= i))
      _normal
      return
    fi
    if [[ $word == -* ]]; then
      option=''
      if [[ " $(_lowtide_valued "$lowtide_path") " == *" $word "* ]]; then
        option=$word
        ((i++))
      fi
    elif [[ " $(_lowtide_verbs "$lowtide_path") " == *" $word "* ]]; then
      lowtide_path=${lowtide_path:+$lowtide_path }$word
    fi
  done
  if ((i > CURRENT)); then
    values=$(_lowtide_values "$lowtide_path $option")
    if [[ $values == FILE ]]; then
      _files
    else
      compadd -- ${=values}
    fi
    return
  fi
  if [[ ${words[CURRENT]} == -* ]]; then
    compadd -- ${=$(_lowtide_options "$lowtide_path")}
  else
    compadd -- ${=$(_lowtide_verbs "$lowtide_path")} ${=$(_lowtide_values "$lowtide_path ")}
  fi
}
if [[ $funcstack[1] == _lowtide ]]; then
  _lowtide "$@"
else
  compdef _lowtide lowtide
fi
)SHELL";

constexpr const char* kFishMain = R"SHELL(
# Whether the words before the cursor name exactly this path of verbs, and no command has begun.
function __lowtide_at
    set -l path
    for word in (commandline -opc)[2..]
        if test "$word" = --
            return 1
        end
        if contains -- "$word" $__lowtide_verbs
            set -a path $word
        end
    end
    test "$path" = "$argv[1]"
end
function __lowtide_in_command
    contains -- -- (commandline -opc)
end
complete -c lowtide -f
complete -c lowtide -n __lowtide_in_command -xa '(__fish_complete_subcommand --fcs-skip=(contains -i -- -- (commandline -opc)))'
)SHELL";

struct Flags {
  std::string shell;
  bool json = false;
};

std::string ScriptFor(const std::string& shell, CLI::App& app) {
  if (shell == "bash") return BashCompletion(app);
  return shell == "zsh" ? ZshCompletion(app) : FishCompletion(app);
}

}  // namespace

std::string BashCompletion(CLI::App& app) {
  return "# bash completion for lowtide, made by: lowtide completion bash\n" +
         Tables(EntriesOf(app)) + kBashMain;
}

std::string ZshCompletion(CLI::App& app) {
  return "#compdef lowtide\n# zsh completion for lowtide, made by: lowtide completion zsh\n" +
         Tables(EntriesOf(app)) + kZshMain;
}

std::string FishCompletion(CLI::App& app) {
  const auto entries = EntriesOf(app);
  std::string out = "# fish completion for lowtide, made by: lowtide completion fish\n";
  std::vector<std::string> verbs;
  for (const VerbEntry& entry : entries) {
    verbs.insert(verbs.end(), entry.below.begin(), entry.below.end());
  }
  out += fmt::format("set -g __lowtide_verbs {}\n{}", fmt::join(verbs, " "), kFishMain + 1);
  for (const VerbEntry& entry : entries) {
    const auto complete = [&](const std::string& path, const std::string& what) {
      out += fmt::format("complete -c lowtide -n {} {}\n",
                         QuotedForFish("__lowtide_at " + QuotedForFish(path)), what);
    };
    if (!entry.path.empty()) {
      const auto blank = entry.path.rfind(' ');
      const std::string above = blank == std::string::npos ? "" : entry.path.substr(0, blank);
      const std::string name =
          blank == std::string::npos ? entry.path : entry.path.substr(blank + 1);
      complete(above, fmt::format("-a {} -d {}", name, QuotedForFish(entry.about)));
    }
    if (!entry.words.empty()) {
      complete(entry.path, "-a " + QuotedForFish(fmt::format("{}", fmt::join(entry.words, " "))));
    }
    for (const OptionEntry& option : entry.options) {
      std::string what;
      for (const std::string& name : option.names) {
        what += name.starts_with("--") ? "-l " + name.substr(2) : "-s " + name.substr(1);
        what += ' ';
      }
      if (option.values == Values::kFile) what += "-rF ";
      if (option.values == Values::kAny) what += "-x ";
      if (option.values == Values::kWords) {
        what +=
            fmt::format("-xa {} ", QuotedForFish(fmt::format("{}", fmt::join(option.words, " "))));
      }
      complete(entry.path, what + "-d " + QuotedForFish(option.about));
    }
  }
  return out;
}

void AddCompletionVerb(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand("completion", "Print a completion script for a shell");
  verb->group("Setup");
  const auto flags = std::make_shared<Flags>();
  verb->add_option("SHELL", flags->shell, "bash, zsh or fish")
      ->required()
      ->check(OneOf({"bash", "zsh", "fish"}));
  verb->add_flag("--json", flags->json, "Print {\"shell\", \"script\"}");
  verb->footer(
      "cmake --install puts the scripts where the shells look for them. Without that:\n"
      "  source <(lowtide completion bash)");
  verb->callback([&app, &exit_code, flags] {
    const std::string script = ScriptFor(flags->shell, app);
    fmt::print("{}", flags->json ? DumpJson({{"shell", flags->shell}, {"script", script}}) + "\n"
                                 : script);
    exit_code = 0;
  });
}

}  // namespace lowtide::cli
