// --intensity, --trace and --zone: the carbon intensity that a verb works with.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "grid/source.h"

namespace CLI {
class App;
}

namespace lowtide::cli {

// As written on the command line; empty: not given.
struct IntensityFlags {
  std::string intensity;
  std::string trace;
  std::string zone;
};

// Adds the three options to `app`, in the group "Carbon intensity". `flags` must outlive `app`.
void AddIntensityOptions(CLI::App& app, IntensityFlags& flags);

// The source that the flags stand for, with the yearly averages built into the program; a source
// without values when none is given (grid/make_source.h, WhyNoIntensity). Errors name the option.
Result<std::unique_ptr<Source>> MakeSource(const IntensityFlags& flags);

}  // namespace lowtide::cli
