#include "simulate_option.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "base/embedded/embedded.h"
#include "base/file.h"
#include "plan/power_curve_reader.h"

namespace lowtide::cli {
namespace {

struct BuiltIn {
  std::string_view model;
  std::string_view file;
  std::string_view default_job;
};

constexpr std::array<BuiltIn, 2> kBuiltIn = {{
    {"A40", "zeus/summary_power_a40.csv", "imagenet/resnet50/256/adadelta"},
    {"V100", "zeus/summary_power_v100.csv", "imagenet/resnet50/256/adadelta"},
}};

}  // namespace

Result<SimulatedGpuOptions> ParseSimulateGpu(std::string_view text) {
  SimulatedGpuOptions options;
  for (const BuiltIn& built_in : kBuiltIn) {
    if (text != built_in.model && !text.starts_with(std::string(built_in.model) + ":")) continue;
    const std::string_view job =
        text == built_in.model ? built_in.default_job : text.substr(built_in.model.size() + 1);
    LOWTIDE_TRY(const std::string_view csv, EmbeddedFile(built_in.file));
    auto curve = ReadPowerCurve(csv, built_in.file, job);
    if (!curve) return Annotate(std::move(curve).error(), "--simulate-gpu");
    options.model = built_in.model;
    options.curve = *std::move(curve);
    return options;
  }
  const CurveArgument argument = SplitCurveArgument(text);
  auto content = ReadFile(argument.file);
  if (!content) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--simulate-gpu {}: neither a built-in GPU (A40, V100) nor a readable "
                            "power curve: {}",
                            text, content.error().message));
  }
  auto curve = ReadPowerCurve(*content, argument.file, argument.selector);
  if (!curve) return Annotate(std::move(curve).error(), "--simulate-gpu");
  options.model = curve->device.empty() ? "GPU" : curve->device;
  options.curve = *std::move(curve);
  return options;
}

}  // namespace lowtide::cli
