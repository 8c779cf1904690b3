#include "run_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>

#include "base/csv.h"
#include "base/embedded/embedded.h"
#include "base/file.h"
#include "base/json.h"
#include "environment.h"
#include "grid/make_source.h"
#include "grid/max_intensity.h"
#include "grid/sources/yearly_source.h"
#include "grid/zone.h"
#include "option_checks.h"
#include "plan/power_curve_reader.h"
#include "run/run_name.h"

namespace lowtide::cli {
namespace {

CLI::Option* Single(CLI::Option* option) {
  return option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

Result<Seconds> Duration(const char* option, const std::string& text) {
  auto duration = ParseDuration(text);
  if (!duration) return Annotate(std::move(duration).error(), option);
  return duration;
}

std::string HostName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "";
  return name.data();
}

// The country of the zone, for codecarbon's columns; null where the zone names none.
Json CountryOf(const std::string& zone_key) {
  const auto countries = FindEmbedded("grid/countries.csv");
  const auto yearly = FindEmbedded("grid/yearly_intensity.csv");
  const auto zone = ParseZone(zone_key);
  if (!countries || !yearly || !zone) return nullptr;
  const auto table = YearlyTable::Parse(*countries, *yearly);
  if (!table) return nullptr;
  const auto it = std::ranges::find(table->Averages(), CountryPart(*zone), &YearlyAverage::iso2);
  if (it == table->Averages().end()) return nullptr;
  return Json{{"iso_code", it->iso3}, {"name", it->country}, {"region", zone_key}};
}

std::string SettingsJson(const RunFlags& flags, const RunConfig& config, const Machine& machine,
                         const Source& source) {
  Json settings = Json::object();
  if (const auto why = WhyNoIntensity(source)) {
    settings["intensity_missing_reason"] = *why;
  } else {
    settings["intensity_source"] =
        flags.intensity.sources.empty()
            ? source.Origin().source
            : fmt::format("{}", fmt::join(flags.intensity.sources, ", "));
  }
  if (!config.zone.empty()) settings["country"] = CountryOf(config.zone);
  if (flags.pue > 0) settings["pue"] = flags.pue;
  settings["cpu_energy"] = flags.cpu_energy;
  if (config.policy.kind == PolicyKind::kChase) {
    settings["eta"] = config.policy.weights.eta;
    settings["max_carbon_intensity"] = flags.max_carbon_intensity;
  }
  if (config.policy.kind == PolicyKind::kZeus) {
    settings["selector"] = Describe(config.policy.selector);
  }
  if (config.period) settings["period_s"] = config.period->count();
  settings["sample_period_s"] = config.meter.period.count();
  Json environment{{"os", machine.facts.os},
                   {"cpu_model", machine.facts.cpu_model},
                   {"cpu_count", machine.facts.cpu_count},
                   {"ram_total_gb", machine.facts.ram_total_gb}};
  int gpus = 0;
  std::string gpu_model;
  for (const auto& device : machine.devices) {
    if (device->Info().kind != DeviceKind::kGpu) continue;
    ++gpus;
    gpu_model = device->Info().name;
  }
  if (gpus > 0) {
    environment["gpu_count"] = gpus;
    environment["gpu_model"] = fmt::format("{} x {}", gpus, gpu_model);
  }
  settings["environment"] = std::move(environment);
  settings["versions"] = Json{{"lowtide", LOWTIDE_VERSION}};
  return DumpJson(settings);
}

Status SetPolicy(const RunFlags& flags, const Source& source, RunConfig& config) {
  config.policy_text = flags.policy;
  PolicyOptions options;
  if (flags.eta >= 0) options.eta = flags.eta;
  options.selector = flags.selector;
  Hysteresis hysteresis;
  if (!flags.min_dwell.empty()) {
    LOWTIDE_TRY(hysteresis.min_dwell, Duration("--min-dwell", flags.min_dwell));
  }
  if (flags.min_gain >= 0) hysteresis.min_gain = flags.min_gain;
  options.hysteresis = hysteresis;
  auto maximum = ParseMaxCarbonIntensity(flags.max_carbon_intensity);
  if (!maximum) return Annotate(std::move(maximum).error(), "--max-carbon-intensity");
  if (const auto* number = std::get_if<GramsPerKwh>(&*maximum)) {
    options.max_intensity = *number;
  } else {
    config.max_intensity_window = std::get<DynamicMaximum>(*maximum).window;
  }
  auto policy = ParsePolicy(flags.policy, options);
  if (!policy) return Annotate(std::move(policy).error(), "--policy");
  config.policy = *std::move(policy);
  if (config.policy.kind == PolicyKind::kChase) {
    if (const auto why = WhyNoIntensity(source)) {
      return Fail(Code::kInvalidArgument,
                  "--policy chase needs a carbon intensity: give --intensity, --trace or --zone");
    }
  }
  if (!flags.period.empty() && flags.period != "epoch") {
    LOWTIDE_TRY(config.period, Duration("--period", flags.period));
  }
  return {};
}

Status SetProfiler(const RunFlags& flags, RunConfig& config) {
  if (!flags.power_curve.empty()) {
    const CurveArgument argument = SplitCurveArgument(flags.power_curve);
    auto text = ReadFile(argument.file);
    if (!text) return Annotate(std::move(text).error(), "--power-curve");
    auto curve = ReadPowerCurve(*text, argument.file, argument.selector);
    if (!curve) return Annotate(std::move(curve).error(), "--power-curve");
    config.curve = *std::move(curve);
  }
  auto mode = ParseProfileMode(flags.profile);
  if (!mode) return Annotate(std::move(mode).error(), "--profile");
  config.profile = *mode;
  if (config.profile == ProfileMode::kForce && config.curve) {
    return Fail(Code::kInvalidArgument,
                "--profile force measures the power curve, and --power-curve gives it: leave one "
                "of them out");
  }
  config.profiler.wait_steps = flags.wait_steps;
  config.profiler.warmup_steps = flags.warmup_steps;
  config.profiler.profile_steps = flags.profile_steps;
  config.profiler.limit_step = Watts(flags.limit_step_w);
  LOWTIDE_TRY(config.profiler.min_window, Duration("--profile-min-window", flags.min_window));
  config.profiler.min_throughput_share = flags.min_throughput_share;
  return {};
}

}  // namespace

void AddRunOptions(CLI::App& app, RunFlags& flags) {
  Single(app.add_option("--name", flags.name,
                        "Name of the job; runs and power curves are kept under it "
                        "(default: the name of the script, the module of python -m, else that of "
                        "the program)"));
  AddIntensityOptions(app, flags.intensity);
  Single(app.add_option("--grid-time", flags.grid_time,
                        "Treat the run as starting at this time on the grid, e.g. to replay a past "
                        "trace (RFC 3339; default: now)"))
      ->check(AnyTime())
      ->group("Carbon intensity");
  Single(app.add_option("--time-scale", flags.time_scale,
                        "The grid's clock runs this many times as fast as the wall clock, for "
                        "demonstrations; energy and durations stay real (default: 1)"))
      ->check(NumberFrom(1e-3, 1e6))
      ->group("Carbon intensity");
  Single(app.add_option("--pue", flags.pue,
                        "Power usage effectiveness of the data centre; carbon is multiplied by it "
                        "(default: none, as 1)"))
      ->check(NumberFrom(1, 5))
      ->group("Carbon intensity");

  Single(app.add_option("--policy", flags.policy,
                        "Rule for the GPU power limit: none, fixed:WATTS, zeus, chase"))
      ->check(PolicyText())
      ->capture_default_str()
      ->group("Steering");
  Single(app.add_option("--eta", flags.eta,
                        "Weight of energy (zeus) or carbon (chase) against time, 0 to 1 (default: "
                        "0.5 for zeus, 0.24 for chase)"))
      ->check(NumberFrom(0, 1))
      ->group("Steering");
  Single(app.add_option("--selector", flags.selector,
                        "How zeus chooses: energy, time, zeus[:ETA], max-slowdown:FACTOR"))
      ->check(SelectorText())
      ->capture_default_str()
      ->group("Steering");
  Single(app.add_option("--max-carbon-intensity", flags.max_carbon_intensity,
                        "MaxCarbonIntensity of chase in g/kWh, or dynamic:60d: the highest of that "
                        "long before the start"))
      ->check(MaxCarbonIntensityText())
      ->capture_default_str()
      ->group("Steering");
  Single(app.add_option("--period", flags.period,
                        "How often the policy decides, in grid time: epoch, or a duration such as "
                        "30m (default: epoch)"))
      ->check(PeriodText("1ms"))
      ->group("Steering");
  Single(app.add_option("--min-dwell", flags.min_dwell,
                        "A limit stays at least this long (default: 5m)"))
      ->check(AnyDuration())
      ->group("Steering");
  Single(app.add_option("--min-gain", flags.min_gain,
                        "A change must lower the cost by this share (default: 0.001)"))
      ->check(NumberFrom(0, 0.999))
      ->group("Steering");
  app.add_flag("--force-shared", flags.force_shared,
               "Set the limit of MIG or shared GPUs too: it applies to the others on them as well")
      ->group("Steering");

  Single(app.add_option("--power-curve", flags.power_curve,
                        "The job's power curve, instead of measuring it: FILE[:SELECTOR], as for "
                        "lowtide plan"))
      ->type_name("FILE[:SELECTOR]")
      ->group("Profiling");
  Single(app.add_option("--profile", flags.profile,
                        "auto: measure the job's power curve when it is not known; force: measure "
                        "it anew and replace the one that is kept; off: never"))
      ->check(ParsedBy(ParseProfileMode))
      ->capture_default_str()
      ->group("Profiling");
  Single(app.add_option("--profile-wait-steps", flags.wait_steps,
                        "Steps at the start of an epoch that are not measured"))
      ->check(WholeNumberFrom(0, 1000000))
      ->capture_default_str()
      ->group("Profiling");
  Single(app.add_option("--profile-warmup-steps", flags.warmup_steps,
                        "Steps after a change of limit that are not measured"))
      ->check(WholeNumberFrom(0, 1000000))
      ->capture_default_str()
      ->group("Profiling");
  Single(app.add_option("--profile-steps", flags.profile_steps, "Steps measured at each limit"))
      ->check(WholeNumberFrom(1, 1000000))
      ->capture_default_str()
      ->group("Profiling");
  Single(app.add_option("--profile-limit-step", flags.limit_step_w,
                        "Distance of the limits that are measured, in watts"))
      ->check(NumberFrom(1, 1000, "W"))
      ->capture_default_str()
      ->group("Profiling");
  Single(app.add_option("--profile-min-window", flags.min_window,
                        "Measure at least this long at each limit"))
      ->check(AnyDuration())
      ->capture_default_str()
      ->group("Profiling");
  Single(app.add_option("--profile-min-throughput", flags.min_throughput_share,
                        "Stop profiling below this share of full throughput; 0: never"))
      ->check(NumberFrom(0, 1))
      ->capture_default_str()
      ->group("Profiling");

  Single(app.add_option("--gpus", flags.gpus,
                        "GPUs to measure and steer: all, none, indices (0,2-3), UUIDs, MIG or PCI "
                        "ids (default: CUDA_VISIBLE_DEVICES, Slurm's, all)"))
      ->group("Measuring");
  Single(app.add_option("--simulate-gpu", flags.simulate_gpu,
                        "Stand in for a GPU by its measured power curve: A40, V100, "
                        "A40:DATASET/NETWORK/BATCH_SIZE/OPTIMIZER, or FILE[:SELECTOR]"))
      ->group("Measuring");
  Single(app.add_option("--cpu-energy", flags.cpu_energy,
                        "What of the host's CPU and DRAM energy counts: share (of the job, by CPU "
                        "time) or host (all of it)"))
      ->check(OneOf({"share", "host"}))
      ->capture_default_str()
      ->group("Measuring");
  Single(app.add_option("--cpu-tdp", flags.cpu_tdp_w,
                        "TDP of one CPU package in watts, for the model used where there is no "
                        "RAPL (default: from the table of processors)"))
      ->check(NumberFrom(0.5, 2000, "W"))
      ->group("Measuring");
  Single(
      app.add_option("--cpu-threads", flags.cpu_threads,
                     "Hardware threads of one CPU package, for the same model (default: as seen, "
                     "which in a virtual machine is a part of them)"))
      ->check(WholeNumberFrom(1, 4096))
      ->group("Measuring");
  Single(app.add_option("--sample-period", flags.sample_period,
                        "Time between two samples, 10ms to 1s"))
      ->check(DurationFrom("10ms", "1s"))
      ->capture_default_str()
      ->group("Measuring");

  Single(
      app.add_option("--json-report", flags.json_report, "Write the report as JSON to this file"))
      ->type_name("FILE")
      ->group("Output");
  Single(app.add_option("--html-report", flags.html_report, "Write the report as one HTML page"))
      ->type_name("FILE")
      ->group("Output");
  app.add_flag("--json", flags.json,
               "Print the report as JSON on standard error at the end, instead of text")
      ->group("Output");
  app.add_flag("--quiet,-q", flags.quiet, "Print no table and no summary")->group("Output");
  app.add_flag("--no-store", flags.no_store, "Do not keep the run")->group("Output");
}

MachineOptions MachineOptionsOf(const RunFlags& flags) {
  MachineOptions options;
  if (!flags.gpus.empty()) options.gpus = flags.gpus;
  options.simulate_gpu = flags.simulate_gpu;
  if (flags.cpu_tdp_w > 0) options.cpu_tdp_w = flags.cpu_tdp_w;
  if (flags.cpu_threads > 0) options.cpu_threads = flags.cpu_threads;
  return options;
}

Result<RunConfig> MakeRunConfig(const RunFlags& flags, std::vector<std::string> command,
                                const Machine& machine, const Source& source) {
  RunConfig config;
  config.command = std::move(command);
  config.name = flags.name.empty() ? DefaultRunName(config.command) : flags.name;
  std::error_code ignored;
  config.working_directory = std::filesystem::current_path(ignored).string();
  config.host = HostName();
  config.zone = source.Origin().zone.key;
  LOWTIDE_TRY_STATUS(SetPolicy(flags, source, config));
  LOWTIDE_TRY_STATUS(SetProfiler(flags, config));
  config.shared_gpus =
      flags.force_shared ? RunConfig::Sharing::kForce : RunConfig::Sharing::kRefuse;
  config.ledger.host_energy =
      flags.cpu_energy == "host" ? HostEnergy::kWholeHost : HostEnergy::kJobShare;
  config.ledger.pue = flags.pue > 0 ? flags.pue : 1.0;
  LOWTIDE_TRY(config.meter.period, Duration("--sample-period", flags.sample_period));
  if (!flags.grid_time.empty()) {
    auto start = ParseTime(flags.grid_time);
    if (!start) return Annotate(std::move(start).error(), "--grid-time");
    config.grid_start = *start;
  }
  config.time_scale = flags.time_scale;
  if (const auto batch = Environment("LOWTIDE_BATCH_SIZE"); batch && !batch->empty()) {
    if (const auto number = ParseNumber(*batch); number && *number >= 1 && *number <= 1e9) {
      config.batch_size = static_cast<std::int64_t>(*number);
    }
  }
  config.limits_folder = StateDirectory() / "limits";
  config.program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  config.settings_json = SettingsJson(flags, config, machine, source);
  return config;
}

}  // namespace lowtide::cli
