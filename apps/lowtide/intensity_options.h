// --intensity, --trace, --zone, --sources and --signal: the carbon intensity that a verb works
// with.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "grid/source.h"
#include "live_grid.h"

namespace CLI {
class App;
}

namespace lowtide::cli {

// As written on the command line; empty: not given.
struct IntensityFlags {
  std::string intensity;
  std::string trace;
  std::string zone;
  std::vector<std::string> sources;
  std::string signal;
};

// Adds the options to `app`, in the group "Carbon intensity". `flags` must outlive `app`.
void AddIntensityOptions(CLI::App& app, IntensityFlags& flags);
// Only --sources and --signal.
void AddSourceOptions(CLI::App& app, IntensityFlags& flags);

// What the flags stand for: exactly one of the two is set.
struct GridAccess {
  std::unique_ptr<LiveGrid> live;  // --sources
  // --intensity, --trace, or the yearly average of --zone, from what is built into the program; a
  // source without values when nothing is given (grid/make_source.h, WhyNoIntensity).
  std::unique_ptr<Source> fixed;

  const Source& Get() const { return live ? live->Chain() : *fixed; }
};

// Asks nobody, but where --zone is a coordinate. Errors name the option.
Result<GridAccess> OpenGrid(const IntensityFlags& flags, Clock& clock);

// kNotFound when `source` is a trace in which `at` does not lie: the message names what it covers.
Status CheckTraceCovers(const Source& source, TimePoint at);

}  // namespace lowtide::cli
