#include "mix_option.h"

#include <CLI/CLI.hpp>

#include <utility>

#include "base/file.h"
#include "environment.h"
#include "grid/trace.h"

namespace lowtide::cli {

void AddMixOption(CLI::App& verb, std::string& value) {
  verb.add_option("--mix", value,
                  "With --trace: hourly generation for blend to learn from as well: CSV with a UTC "
                  "time in the first column and columns named coal, nat_gas, wind, ... (default: "
                  "such columns of the --trace; none: without)")
      ->type_name("FILE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

Result<MixChoice> ReadMix(const std::string& option, const std::string& trace) {
  if (option == "none") return MixChoice{};
  std::string path = option;
  if (path.empty()) {
    auto argument = SplitTraceArgument(trace);
    if (!argument) return Annotate(std::move(argument).error(), "--trace");
    path = argument->path;
  }
  const auto text = ReadFile(path);
  if (!text) return Annotate(text.error(), option.empty() ? "--trace" : "--mix");
  auto mix = ParseGenerationMix(*text, path);
  if (mix) return MixChoice{*std::move(mix), {}};
  if (!option.empty()) return Annotate(std::move(mix).error(), "--mix");
  if (mix.error().code == Code::kNotFound) return MixChoice{};
  return MixChoice{std::nullopt, mix.error().message};
}

}  // namespace lowtide::cli
