// --mix: what each kind of power station fed in, for the forecasts that learn from it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "forecast/hourly.h"

namespace CLI {
class App;
}

namespace lowtide::cli {

struct MixChoice {
  std::optional<GenerationMix> mix;
  std::string left_out;  // why there is none, where there might have been one
};

// Adds --mix to a verb that takes a --trace. `value` outlives the parsing.
void AddMixOption(CLI::App& verb, std::string& value);

// `option` as written: a file; "none"; or nothing, for what `trace` (FILE[:COLUMN]) itself has in
// columns named as kinds of power stations. A file that is asked for by name must be good; a trace
// that is not hourly is only left out.
Result<MixChoice> ReadMix(const std::string& option, const std::string& trace);

}  // namespace lowtide::cli
