// lowtide runs curves | forget-curve: the power curves that profiling has left.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "option_checks.h"
#include "run/column_text.h"
#include "runs_verbs.h"

namespace lowtide::cli {
namespace {

struct CurvesOptions {
  std::string name;
  bool json = false;
};

struct ForgetOptions {
  std::string name;
  std::string device;
  std::string driver;
  std::optional<std::int64_t> batch_size;
  std::optional<int> gpus;
  bool all = false;
  bool json = false;
};

TimePoint WholeSecond(TimePoint time) { return std::chrono::floor<std::chrono::seconds>(time); }

// A power curve of our own form, which --power-curve reads, and what else it is kept under.
Json CurveJson(const StoredCurve& curve) {
  Json points = Json::array();
  for (const CurvePointRecord& p : curve.points) {
    points.push_back(
        {{"limit_w", p.limit_w}, {"throughput_per_s", p.throughput_per_s}, {"draw_w", p.draw_w}});
  }
  const CurveKey& key = curve.key;
  return {{"job", key.job_name},
          {"device", key.gpu_model},
          {"driver", key.driver},
          {"batch_size", key.batch_size == 0 ? Json(nullptr) : Json(key.batch_size)},
          {"gpus", key.gpus},
          {"measured_at", FormatTime(WholeSecond(curve.saved_at))},
          {"power_curve", std::move(points)}};
}

Json CurvesJson(const std::vector<StoredCurve>& curves) {
  Json out = Json::array();
  for (const StoredCurve& curve : curves) out.push_back(CurveJson(curve));
  return out;
}

std::string BatchSizeText(const CurveKey& key) {
  return key.batch_size == 0 ? "-" : fmt::format("{}", key.batch_size);
}

std::string DriverText(const CurveKey& key) { return key.driver.empty() ? "-" : key.driver; }

// "'train.py' on NVIDIA A40 (driver 535.1, batch size 128, GPUs: 1)"
std::string Describe(const CurveKey& key) {
  return Clean(fmt::format("'{}' on {} (driver {}, batch size {}, GPUs: {})", key.job_name,
                           key.gpu_model, DriverText(key), BatchSizeText(key), key.gpus));
}

std::string Cell(const std::string& text, std::size_t width) {
  return PadRight(Shorten(Clean(text), width), width);
}

constexpr std::size_t kNameWidth = 24;
constexpr std::size_t kDeviceWidth = 24;
constexpr std::size_t kDriverWidth = 12;

std::string TableOf(const std::vector<StoredCurve>& curves) {
  std::string out = fmt::format("{}  {}  {}  {:>4}  {:>10}  {:<20}  {}\n", Cell("name", kNameWidth),
                                Cell("GPU", kDeviceWidth), Cell("driver", kDriverWidth), "GPUs",
                                "batch size", "measured (UTC)", "limits");
  for (const StoredCurve& curve : curves) {
    const CurveKey& key = curve.key;
    out += fmt::format("{}  {}  {}  {:>4}  {:>10}  {:<20}  {} from {:g} to {:g} W\n",
                       Cell(key.job_name, kNameWidth), Cell(key.gpu_model, kDeviceWidth),
                       Cell(DriverText(key), kDriverWidth), key.gpus, BatchSizeText(key),
                       FormatTime(WholeSecond(curve.saved_at)), curve.points.size(),
                       curve.points.front().limit_w, curve.points.back().limit_w);
  }
  return out;
}

Status Curves(const CurvesOptions& options) {
  LOWTIDE_TRY_STATUS(CheckStateDirectory());
  std::error_code ignored;
  std::vector<StoredCurve> curves;
  if (std::filesystem::exists(StorePath(), ignored)) {
    LOWTIDE_TRY(auto store, OpenExistingStore());
    LOWTIDE_TRY(curves, store->ListCurves(options.name));
  }
  if (options.json) {
    PrintOut(DumpJsonPretty({{"curves", CurvesJson(curves)}}) + "\n");
  } else if (curves.empty()) {
    WriteToStandardError(
        fmt::format("lowtide: no power curves{}\n",
                    options.name.empty() ? "" : fmt::format(" of \"{}\"", Clean(options.name))));
  } else {
    PrintOut(TableOf(curves));
  }
  return {};
}

bool IsMeant(const ForgetOptions& options, const CurveKey& key) {
  return key.job_name == options.name && key.gpu_model.contains(options.device) &&
         key.driver.starts_with(options.driver) &&
         key.batch_size == options.batch_size.value_or(key.batch_size) &&
         key.gpus == options.gpus.value_or(key.gpus);
}

Result<std::vector<StoredCurve>> MeantCurves(Store& store, const ForgetOptions& options) {
  LOWTIDE_TRY(auto curves, store.ListCurves(options.name));
  std::erase_if(curves, [&](const StoredCurve& c) { return !IsMeant(options, c.key); });
  if (curves.empty()) {
    return Fail(
        Code::kNotFound,
        fmt::format("no such power curve of \"{}\"; `lowtide runs curves` shows those there "
                    "are",
                    options.name));
  }
  if (curves.size() > 1 && !options.all) {
    std::string found;
    for (const StoredCurve& curve : curves) found += "\n  " + Describe(curve.key);
    return Fail(Code::kInvalidArgument,
                fmt::format("\"{}\" has {} power curves: say which (--device, --driver, "
                            "--batch-size, --gpu-count), or --all{}",
                            options.name, curves.size(), found));
  }
  return curves;
}

Status ForgetCurve(const ForgetOptions& options) {
  LOWTIDE_TRY(auto store, OpenExistingStore());
  LOWTIDE_TRY(const auto curves, MeantCurves(*store, options));
  for (const StoredCurve& curve : curves) {
    LOWTIDE_TRY_STATUS(store->DeleteCurve(curve.key));
    if (!options.json) {
      WriteToStandardError(
          fmt::format("lowtide: forgot the power curve of {}\n", Describe(curve.key)));
    }
  }
  if (options.json) {
    PrintOut(DumpJsonPretty({{"forgotten", CurvesJson(curves)}}) + "\n");
  }
  return {};
}

template <class T>
CLI::Option* LastWins(CLI::App& app, const std::string& names, T& value, const std::string& help) {
  return app.add_option(names, value, help)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

}  // namespace

void AddRunsCurves(CLI::App& runs, int& exit_code) {
  auto options = std::make_shared<CurvesOptions>();
  CLI::App& app = *runs.add_subcommand("curves", "List the power curves kept for coming runs");
  LastWins(app, "--name", options->name, "Only those of runs of this name (default: all)");
  app.add_flag("--json", options->json, "Print JSON: {\"curves\": [...]}");
  app.callback([options, &exit_code] { Finish(Curves(*options), exit_code); });
}

void AddRunsForgetCurve(CLI::App& runs, int& exit_code) {
  auto options = std::make_shared<ForgetOptions>();
  CLI::App& app = *runs.add_subcommand(
      "forget-curve", "Forget a power curve, so that the next run of the job measures it anew");
  app.add_option("name", options->name, "Name of the runs that it is kept for")->required();
  LastWins(app, "--device", options->device,
           "Only on GPUs whose model has this text (default: any)");
  LastWins(app, "--driver", options->driver, "Only of drivers that begin so (default: any)");
  LastWins(app, "--batch-size", options->batch_size,
           "Only of this batch size; 0: never said (default: any)")
      ->check(WholeNumberFrom(0, 1'000'000'000));
  LastWins(app, "--gpu-count", options->gpus, "Only on this many GPUs (default: any)")
      ->check(WholeNumberFrom(1, 4096));
  app.add_flag("--all", options->all, "All that match, where several do");
  app.add_flag("--json", options->json, "Print {\"forgotten\": [...]} when done");
  app.callback([options, &exit_code] { Finish(ForgetCurve(*options), exit_code); });
}

}  // namespace lowtide::cli
