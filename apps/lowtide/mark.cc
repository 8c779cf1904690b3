// `lowtide mark`: the marks of a shell script. Each call is a connection of its own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/json.h"
#include "base/result.h"
#include "environment.h"
#include "lowtide/marks.h"
#include "option_checks.h"
#include "run/marks.h"
#include "verbs.h"

namespace lowtide::cli {
namespace {

struct MarkOptions {
  std::int64_t number = 0;  // the epoch, the total or the batch size
  std::int64_t total = 0;   // 0: not given
  std::int64_t count = 1;
  std::vector<std::string> metrics;
  bool json = false;
};

// "loss=0.12"; nan, inf and -inf are sent as "no number".
Result<std::pair<std::string, double>> ParseMetric(const std::string& text) {
  const auto equals = text.rfind('=');
  const std::string name = text.substr(0, equals);
  if (equals == std::string::npos || !marks::json::IsName(name)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("metric '{}': must be NAME=NUMBER, with a name of 1 to {} bytes", text,
                            kMaxMarkNameBytes));
  }
  const std::string value = text.substr(equals + 1);
  if (const auto number = ParseNumber(value)) return std::pair(name, *number);
  for (const char* const word : {"nan", "NaN", "inf", "-inf", "Infinity", "-Infinity"}) {
    if (value == word) return std::pair(name, std::numeric_limits<double>::quiet_NaN());
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("metric '{}': '{}' is not a number (nor nan, inf)", text, value));
}

Result<marks::Metrics> ParseMetrics(const std::vector<std::string>& texts) {
  if (texts.size() > kMaxMarkMetrics) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} metrics: at most {} in one mark", texts.size(), kMaxMarkMetrics));
  }
  marks::Metrics metrics;
  for (const auto& text : texts) {
    LOWTIDE_TRY(auto metric, ParseMetric(text));
    for (const auto& other : metrics) {
      if (other.first == metric.first) {
        return Fail(Code::kInvalidArgument,
                    fmt::format("metric '{}': is there twice", metric.first));
      }
    }
    metrics.push_back(std::move(metric));
  }
  return metrics;
}

const char* OutcomeName(marks::Outcome outcome) {
  switch (outcome) {
    case marks::Outcome::kInactive: return "outside_a_run";
    case marks::Outcome::kOk: return "ok";
    case marks::Outcome::kRefused: return "refused";
    case marks::Outcome::kLost: return "lost";
  }
  return "lost";
}

// A lost run is no error: a script must not end because Lowtide did.
int Report(const marks::Reply& reply, const MarkOptions& options) {
  if (options.json) {
    Json json;
    json["outcome"] = OutcomeName(reply.outcome);
    if (reply.outcome == marks::Outcome::kOk) json["delay_s"] = reply.delay_s;
    if (reply.outcome == marks::Outcome::kRefused) json["error"] = reply.error;
    fmt::print("{}\n", DumpJson(json));
  }
  if (reply.outcome != marks::Outcome::kRefused) return 0;
  return PrintError({Code::kInvalidArgument, "the run refused the mark: " + reply.error});
}

using Sender = marks::Reply (*)(marks::Client&, const MarkOptions&, const marks::Metrics&);

void Finish(CLI::App& verb, const std::shared_ptr<MarkOptions>& options, int& exit_code,
            Sender send) {
  verb.add_flag("--json", options->json,
                "Print the outcome as JSON: outcome (ok, refused, lost, outside_a_run), delay_s, "
                "error (default: print nothing)");
  verb.callback([options, &exit_code, send] {
    const auto metrics = ParseMetrics(options->metrics);
    if (!metrics) {
      exit_code = PrintError(metrics.error());
      return;
    }
    auto settings = marks::Options::FromEnvironment();
    settings.client = "lowtide-mark/0.1.0";
    marks::Client client(std::move(settings));
    exit_code = Report(send(client, *options, *metrics), *options);
  });
}

OptionCheck Within(std::int64_t low) { return WholeNumberFrom(low, kMaxMarkNumber); }

void AddEpochVerbs(CLI::App& mark, int& exit_code) {
  {
    auto* const verb = mark.add_subcommand("epoch-begin", "An epoch begins");
    const auto options = std::make_shared<MarkOptions>();
    verb->add_option("EPOCH", options->number, "Number of the epoch, from 0")
        ->required()
        ->check(Within(0));
    verb->add_option("--total", options->total,
                     "One more than the highest epoch number that will be run (default: unknown)")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->check(Within(1));
    Finish(*verb, options, exit_code, [](auto& client, const auto& o, const auto&) {
      return client.EpochBegin(o.number, o.total > 0 ? std::optional(o.total) : std::nullopt);
    });
  }
  auto* const verb = mark.add_subcommand("epoch-end", "The epoch has ended");
  const auto options = std::make_shared<MarkOptions>();
  verb->add_option("EPOCH", options->number, "Number of the epoch that is running")
      ->required()
      ->check(Within(0));
  verb->add_option("METRICS", options->metrics, "Its metrics: NAME=NUMBER ... (default: none)");
  Finish(*verb, options, exit_code, [](auto& client, const auto& o, const auto& metrics) {
    return client.EpochEnd(o.number, metrics);
  });
}

void AddProgressVerbs(CLI::App& mark, int& exit_code) {
  {
    auto* const verb = mark.add_subcommand("step", "Training steps have just been completed");
    const auto options = std::make_shared<MarkOptions>();
    verb->add_option("--count", options->count, "How many (default: 1)")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->check(Within(1));
    Finish(*verb, options, exit_code,
           [](auto& client, const auto& o, const auto&) { return client.Step(o.count); });
  }
  auto* const verb = mark.add_subcommand(
      "metrics", "Metrics of the epoch that is running or, between epochs, of the one before");
  const auto options = std::make_shared<MarkOptions>();
  verb->add_option("METRICS", options->metrics, "NAME=NUMBER ...")->required();
  Finish(*verb, options, exit_code,
         [](auto& client, const auto&, const auto& metrics) { return client.Log(metrics); });
}

void AddSettingVerbs(CLI::App& mark, int& exit_code) {
  {
    auto* const verb = mark.add_subcommand("total-epochs", "How many epochs there will be");
    const auto options = std::make_shared<MarkOptions>();
    verb->add_option("N", options->number, "One more than the highest epoch number")
        ->required()
        ->check(Within(1));
    Finish(*verb, options, exit_code,
           [](auto& client, const auto& o, const auto&) { return client.TotalEpochs(o.number); });
  }
  auto* const verb = mark.add_subcommand("batch-size", "The batch size of the training");
  const auto options = std::make_shared<MarkOptions>();
  verb->add_option("N", options->number, "Samples per step, over all ranks")
      ->required()
      ->check(Within(1));
  Finish(*verb, options, exit_code,
         [](auto& client, const auto& o, const auto&) { return client.BatchSize(o.number); });
}

}  // namespace

void AddMarkVerb(CLI::App& app, int& exit_code) {
  auto* const mark = app.add_subcommand("mark", "Mark the progress of a training, in a script");
  mark->footer(
      "Outside `lowtide run` these do nothing and exit 0, as they do when the run is gone. A mark\n"
      "that the run refuses exits 2. With a simulated GPU they return after its delay.");
  mark->require_subcommand(1);
  AddEpochVerbs(*mark, exit_code);
  AddProgressVerbs(*mark, exit_code);
  AddSettingVerbs(*mark, exit_code);
}

}  // namespace lowtide::cli
