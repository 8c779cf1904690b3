// Looks into, and changes, the state file of a fake machine; prints plain lines for shell scripts.
#include <fmt/core.h>

#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/csv.h"
#include "base/file.h"
#include "world.h"

namespace lowtide::fake_nvml {
namespace {

constexpr const char* kUsage =
    "usage: fake_nvml_ctl COMMAND   (LOWTIDE_FAKE_NVML: scenario, LOWTIDE_FAKE_NVML_STATE: state)\n"
    "  limits                 the limit of each GPU in mW, one a line\n"
    "  true-energy            what each GPU drew since the state was made, in mJ, one a line\n"
    "  demand                 what the work on each GPU asks for now, in W, one a line\n"
    "  calls [FUNCTION]       NVML calls on each GPU, one a line\n"
    "  time                   scenario time in seconds\n"
    "  set-limit I MW         as if somebody else had set it (checked against the GPU's range)\n"
    "  set-busy I 0|1         idle: draws idle power only\n"
    "  relative-speed I       throughput under the limit, from 0 to 1 at full power\n"
    "  reload-driver [DOWN_S] counters and limits start anew, everyone must initialise again\n";

Result<unsigned int> Whole(std::string_view text, std::string_view what, double most) {
  const auto value = ParseNumber(text);
  if (!value || *value < 0 || *value > most || *value != static_cast<unsigned int>(*value)) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{} must be a whole number from 0 to {}, not \"{}\"", what, most, text));
  }
  return static_cast<unsigned int>(*value);
}

Result<std::unique_ptr<World>> OpenWorld() {
  const char* scenario_path = std::getenv("LOWTIDE_FAKE_NVML");
  const char* state_path = std::getenv("LOWTIDE_FAKE_NVML_STATE");
  if (scenario_path == nullptr || state_path == nullptr) {
    return Fail(Code::kInvalidArgument,
                "set LOWTIDE_FAKE_NVML (scenario) and LOWTIDE_FAKE_NVML_STATE (state file)");
  }
  LOWTIDE_TRY(const auto text, ReadFile(scenario_path));
  LOWTIDE_TRY(auto scenario, ParseScenario(text, scenario_path));
  return World::Open(std::move(scenario), state_path);
}

Status Run(World& world, std::span<const std::string_view> args) {
  const auto command = args[0];
  const auto each = [&](auto print) {
    for (unsigned int g = 0; g < world.GpuCount(); ++g) print(g);
    return Status{};
  };
  const auto gpu = [&]() -> Result<unsigned int> {
    if (args.size() < 2) return Fail(Code::kInvalidArgument, "which GPU?");
    return Whole(args[1], "the GPU", world.GpuCount() - 1.0);
  };
  if (command == "limits") return each([&](auto g) { fmt::print("{}\n", world.LimitMw(g)); });
  if (command == "true-energy") {
    return each([&](auto g) { fmt::print("{:.3f}\n", world.TrueEnergyMj(g)); });
  }
  if (command == "demand") return each([&](auto g) { fmt::print("{:.3f}\n", world.DemandW(g)); });
  if (command == "calls") {
    const auto which = args.size() > 1 ? FunctionByName(args[1]) : std::nullopt;
    if (args.size() > 1 && !which) {
      return Fail(Code::kInvalidArgument, fmt::format("{} is not counted", args[1]));
    }
    return each([&](auto g) { fmt::print("{}\n", world.Calls(g, which)); });
  }
  if (command == "time") {
    fmt::print("{:.6f}\n", static_cast<double>(world.NowNs()) / 1e9);
    return {};
  }
  if (command == "reload-driver") {
    const auto down = args.size() > 1 ? ParseNumber(args[1]) : 0.0;
    if (!down) return Fail(Code::kInvalidArgument, "DOWN_S must be a number of seconds");
    world.ReloadDriver(*down);
    return {};
  }
  if (command == "relative-speed") {
    LOWTIDE_TRY(const auto g, gpu());
    fmt::print("{:.6f}\n", world.RelativeSpeed(g));
    return {};
  }
  if (command == "set-limit" && args.size() == 3) {
    LOWTIDE_TRY(const auto g, gpu());
    LOWTIDE_TRY(const auto mw, Whole(args[2], "the limit in mW", 4e9));
    const auto& spec = world.Spec().gpus[g];
    if (mw < spec.min_limit_mw || mw > spec.max_limit_mw) {
      return Fail(Code::kInvalidArgument, fmt::format("{} mW is outside {} to {} mW", mw,
                                                      spec.min_limit_mw, spec.max_limit_mw));
    }
    world.SetLimitMw(g, mw);
    return {};
  }
  if (command == "set-busy" && args.size() == 3) {
    LOWTIDE_TRY(const auto g, gpu());
    LOWTIDE_TRY(const auto busy, Whole(args[2], "busy", 1));
    world.SetBusy(g, busy != 0);
    return {};
  }
  return Fail(Code::kInvalidArgument, fmt::format("no such command: {}\n{}", command, kUsage));
}

int Main(std::span<const std::string_view> args) {
  if (args.empty() || args[0] == "--help" || args[0] == "-h") {
    fmt::print("{}", kUsage);
    return args.empty() ? 2 : 0;
  }
  auto world = OpenWorld();
  Status status;
  if (world) {
    status = Run(**world, args);
  } else {
    status = std::unexpected(std::move(world).error());
  }
  if (status) return 0;
  fmt::print(stderr, "fake_nvml_ctl: {}\n", status.error().message);
  return 2;
}

}  // namespace
}  // namespace lowtide::fake_nvml

int main(int argc, char** argv) {
  std::vector<std::string_view> args(argv + 1, argv + argc);
  return lowtide::fake_nvml::Main(args);
}
