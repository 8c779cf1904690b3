// lowtide doctor: what can be measured and controlled on this machine, and why not.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/json.h"
#include "environment.h"
#include "machine.h"
#include "option_checks.h"
#include "run/components.h"
#include "run/limit_journal.h"
#include "verbs.h"

namespace lowtide::cli {
namespace {

struct DoctorFlags {
  std::string gpus;
  std::string simulate_gpu;
  double cpu_tdp_w = 0;
  int cpu_threads = 0;
  bool json = false;
};

struct Finding {
  DeviceInfo info;
  std::string measures;  // what a first reading gave, or why it gave nothing
  bool measurable = false;
  std::string control;  // the limit and its range, or why there is none
  bool steerable = false;
};

std::string DescribeReading(const Result<Reading>& reading) {
  if (!reading) return reading.error().message;
  std::string text = reading->energy ? "energy counter" : "";
  if (reading->power) {
    if (!text.empty()) text += " and ";
    text += fmt::format("power ({:.1f} W now)", reading->power->v);
  }
  return text;
}

// Sets the limit to what it is: changes nothing, and tells whether it may be changed.
void ExamineControl(PowerDevice& device, Finding& finding) {
  if (device.Info().kind != DeviceKind::kGpu) {
    finding.control = "has no power limit that lowtide sets";
    return;
  }
  const auto limits = device.Limits();
  const auto now = device.Limit();
  if (!limits || !now) {
    finding.control = limits ? now.error().message : limits.error().message;
    return;
  }
  finding.control = fmt::format("limit {:.0f} W, {:.0f} to {:.0f} W possible", now->v,
                                limits->min.v, limits->max.v);
  if (device.Info().shared) {
    finding.control += "; shared with others: not set unless forced";
    return;
  }
  if (device.Info().provenance == Provenance::kMeasured && ::geteuid() != 0) {
    finding.control += "; setting it needs root (or CAP_SYS_ADMIN)";
    return;
  }
  finding.steerable = true;
}

Finding Examine(PowerDevice& device, Clock& clock) {
  Finding finding;
  finding.info = device.Info();
  const auto reading = device.Read(clock.Monotonic());
  finding.measurable = reading.has_value();
  finding.measures = DescribeReading(reading);
  // A model reads nothing before the job runs: say how it works instead.
  if (device.Info().provenance == Provenance::kModelled) finding.measures = device.Info().note;
  ExamineControl(device, finding);
  return finding;
}

Json ToJson(const Finding& f) {
  return Json{{"kind", std::string(DeviceKindName(f.info.kind))},
              {"name", f.info.name},
              {"uuid", f.info.uuid},
              {"backend", f.info.backend},
              {"driver", f.info.driver},
              {"status", std::string(ProvenanceName(f.info.provenance))},
              {"measurable", f.measurable},
              {"measures", f.measures},
              {"steerable", f.steerable},
              {"control", f.control},
              {"note", f.info.note}};
}

void PrintText(const Machine& machine, const std::vector<Finding>& findings, bool abandoned) {
  for (const Finding& f : findings) {
    fmt::print("{:<5} {} [{}]\n", DeviceKindName(f.info.kind), f.info.name,
               ProvenanceName(f.info.provenance));
    fmt::print("      measure: {}{}\n", f.measurable ? "" : "no: ", f.measures);
    fmt::print("      steer:   {}{}\n", f.steerable ? "yes, " : "no: ", f.control);
    if (!f.info.note.empty() && f.info.provenance != Provenance::kModelled) {
      fmt::print("      note:    {}\n", f.info.note);
    }
  }
  for (const DeviceProblem& p : machine.problems) {
    fmt::print("{:<5} {}\n", DeviceKindName(p.kind), p.name);
    fmt::print("      no:      {}\n", p.error.message);
    if (!p.remedy.empty()) fmt::print("      do:      {}\n", p.remedy);
  }
  for (const auto& warning : machine.warnings) fmt::print("warning: {}\n", warning);
  for (const auto& note : machine.notes) fmt::print("note: {}\n", note);
  if (abandoned) {
    fmt::print(
        "warning: a run was cut off and has left power limits changed; "
        "'lowtide restore' puts them back\n");
  }
  fmt::print("store {}\n", StorePath().string());
}

void PrintJson(const Machine& machine, const std::vector<Finding>& findings, bool abandoned) {
  Json devices = Json::array();
  bool steerable_gpu = false;
  for (const Finding& f : findings) {
    devices.push_back(ToJson(f));
    steerable_gpu = steerable_gpu || (f.steerable && f.info.kind == DeviceKind::kGpu);
  }
  Json problems = Json::array();
  for (const DeviceProblem& p : machine.problems) {
    problems.push_back(Json{{"kind", std::string(DeviceKindName(p.kind))},
                            {"name", p.name},
                            {"code", CodeName(p.error.code)},
                            {"message", p.error.message},
                            {"remedy", p.remedy}});
  }
  fmt::print("{}\n", DumpJsonPretty(Json{{"devices", devices},
                                         {"problems", problems},
                                         {"warnings", machine.warnings},
                                         {"notes", machine.notes},
                                         {"can_steer_gpu", steerable_gpu},
                                         {"abandoned_limits", abandoned},
                                         {"store", StorePath().string()}}));
}

Result<int> Doctor(const DoctorFlags& flags) {
  RealClock clock;
  MachineOptions options;
  if (!flags.gpus.empty()) options.gpus = flags.gpus;
  options.simulate_gpu = flags.simulate_gpu;
  if (flags.cpu_tdp_w > 0) options.cpu_tdp_w = flags.cpu_tdp_w;
  if (flags.cpu_threads > 0) options.cpu_threads = flags.cpu_threads;
  LOWTIDE_TRY(const Machine machine, OpenMachine(clock, options));
  std::vector<Finding> findings;
  findings.reserve(machine.devices.size());
  for (const auto& device : machine.devices) findings.push_back(Examine(*device, clock));
  const bool abandoned = HasAbandonedLimits(StateDirectory() / "limits");
  if (flags.json) {
    PrintJson(machine, findings, abandoned);
  } else {
    PrintText(machine, findings, abandoned);
  }
  if (machine.driver_hangs) {
    std::fflush(nullptr);
    ::_exit(0);
  }
  return 0;
}

}  // namespace

void AddDoctorVerb(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand(
      "doctor", "What can be measured and controlled on this machine, and why not");
  const auto flags = std::make_shared<DoctorFlags>();
  verb->add_option("--gpus", flags->gpus, "GPUs to look at, as for lowtide run (default: all)")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  verb->add_option("--simulate-gpu", flags->simulate_gpu, "As for lowtide run")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  verb->add_option("--cpu-tdp", flags->cpu_tdp_w, "As for lowtide run, in watts")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check(NumberFrom(0.5, 2000, "W"));
  verb->add_option("--cpu-threads", flags->cpu_threads, "As for lowtide run")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check(WholeNumberFrom(1, 4096));
  verb->add_flag("--json", flags->json, "Print the findings as JSON");
  verb->callback([flags, &exit_code] {
    auto code = Doctor(*flags);
    exit_code = code ? *code : PrintError(code.error());
  });
}

}  // namespace lowtide::cli
