#include "plan/power_curve_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/csv.h"
#include "base/json.h"

namespace lowtide {
namespace {

constexpr std::string_view kProfileWindow = "__GlobalPowerLimitOptimizer_";
constexpr std::size_t kMaxListed = 12;  // jobs named in an error
constexpr std::size_t kJobParts = 4;
constexpr std::array<std::string_view, kJobParts> kJobColumns = {"dataset", "network", "batch_size",
                                                                 "optimizer"};
using JobKey = std::array<std::string, kJobParts>;

bool EndsWithIgnoringCase(std::string_view text, std::string_view suffix) {
  if (text.size() < suffix.size()) return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(text.substr(text.size() - suffix.size()), suffix, {}, lower, lower);
}

bool LooksLikeFile(std::string_view text) {
  return EndsWithIgnoringCase(text, ".csv") || EndsWithIgnoringCase(text, ".json");
}

std::string_view LastPart(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// "summary_power_a40.csv" -> "A40"; empty when the name says nothing.
std::string DeviceOfSummary(std::string_view file_name) {
  std::string_view name = LastPart(file_name);
  constexpr std::string_view kPrefix = "summary_power_";
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  std::string device(name.substr(0, name.find('.')));
  for (char& c : device) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  return device;
}

struct ProfileName {
  std::string device;
  std::string network;
};

// "A40+resnet18+gpu0,1,2,3.csv" -> {"A40", "resnet18"}.
ProfileName NamesOfProfile(std::string_view file_name) {
  const auto parts = Split(LastPart(file_name), '+');
  if (parts.size() != 3 || !parts[2].starts_with("gpu")) return {};
  return {std::string(parts[0]), std::string(parts[1])};
}

// The file's name before a message about its curve.
Result<PowerCurve> WithName(Result<PowerCurve> curve, std::string_view file_name) {
  if (curve) return curve;
  return Annotate(std::move(curve).error(), std::string(file_name));
}

std::string ListBounded(const std::vector<JobKey>& jobs) {
  std::vector<std::string> names;
  for (const auto& job : jobs) {
    if (names.size() == kMaxListed) break;
    names.push_back(fmt::format("{}", fmt::join(job, "/")));
  }
  std::string out = fmt::format("{}", fmt::join(names, ", "));
  if (jobs.size() > names.size()) out += fmt::format(" and {} more", jobs.size() - names.size());
  return out;
}

// Missing and `*` parts match anything.
bool Matches(const JobKey& job, const std::vector<std::string_view>& selector) {
  for (std::size_t i = 0; i < selector.size(); ++i) {
    if (!selector[i].empty() && selector[i] != "*" && selector[i] != job[i]) return false;
  }
  return true;
}

Result<JobKey> ChooseJob(const std::vector<JobKey>& jobs, std::string_view selector,
                         const std::string& file_name) {
  const auto parts = Split(selector, '/');
  if (parts.size() > kJobParts) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: selector '{}' has {} parts; the form is "
                            "DATASET/NETWORK/BATCH_SIZE/OPTIMIZER",
                            file_name, selector.substr(0, 256), parts.size()));
  }
  std::vector<JobKey> found;
  std::ranges::copy_if(jobs, std::back_inserter(found),
                       [&](const JobKey& job) { return Matches(job, parts); });
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: no job matches '{}'; there are {}", file_name,
                            selector.substr(0, 256), ListBounded(jobs)));
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: {} jobs match '{}'; name one of {}", file_name, found.size(),
                          selector.substr(0, 256), ListBounded(found)));
}

struct SummaryColumns {
  std::array<std::size_t, kJobParts> job{};
  std::size_t limit = 0;
  std::size_t time = 0;
  std::size_t power = 0;
};

Result<SummaryColumns> FindSummaryColumns(const CsvTable& table) {
  SummaryColumns columns;
  for (std::size_t i = 0; i < kJobParts; ++i) {
    LOWTIDE_TRY(columns.job[i], table.Require(kJobColumns[i]));
  }
  LOWTIDE_TRY(columns.limit, table.Require("power_limit"));
  LOWTIDE_TRY(columns.time, table.Require("time_per_epoch"));
  LOWTIDE_TRY(columns.power, table.Require("average_power"));
  return columns;
}

// A number that a division follows.
Result<double> PositiveNumber(const CsvTable& table, const CsvRow& row, std::size_t column) {
  LOWTIDE_TRY(const double value, CsvNumber(table, row, column));
  if (value > 0) return value;
  return Fail(Code::kInvalidArgument,
              fmt::format("{}:{}: column '{}' is {:g}; it must be above 0", table.name, row.line,
                          table.header[column], value));
}

Result<PowerCurve> ReadSummary(const CsvTable& table, std::string_view selector) {
  LOWTIDE_TRY(const SummaryColumns columns, FindSummaryColumns(table));
  const auto key_of = [&](const CsvRow& row) {
    JobKey key;
    for (std::size_t i = 0; i < kJobParts; ++i) key[i] = row.fields[columns.job[i]];
    return key;
  };
  std::vector<JobKey> jobs;
  jobs.reserve(table.rows.size());
  for (const auto& row : table.rows) jobs.push_back(key_of(row));
  std::ranges::sort(jobs);
  const auto repeated = std::ranges::unique(jobs);
  jobs.erase(repeated.begin(), repeated.end());
  if (jobs.empty()) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: no rows below the header", table.name));
  }
  LOWTIDE_TRY(const JobKey job, ChooseJob(jobs, selector, table.name));

  std::vector<PowerPoint> points;
  for (const auto& row : table.rows) {
    if (key_of(row) != job) continue;
    LOWTIDE_TRY(const double limit_w, PositiveNumber(table, row, columns.limit));
    LOWTIDE_TRY(const double epoch_s, PositiveNumber(table, row, columns.time));
    LOWTIDE_TRY(const double draw_w, PositiveNumber(table, row, columns.power));
    points.push_back({Watts(limit_w), 1 / epoch_s, Watts(draw_w)});
  }
  return WithName(MakePowerCurve(DeviceOfSummary(table.name),
                                 fmt::format("{}", fmt::join(job, "/")), 1, std::move(points)),
                  table.name);
}

bool IsGpuEnergyColumn(std::string_view name) {
  if (!name.starts_with("gpu") || !name.ends_with("_energy")) return false;
  name.remove_prefix(3);
  name.remove_suffix(std::string_view("_energy").size());
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<PowerCurve> ReadProfileCsv(const CsvTable& table) {
  LOWTIDE_TRY(const std::size_t window_column, table.Require("window_name"));
  LOWTIDE_TRY(const std::size_t time_column, table.Require("elapsed_time"));
  std::vector<std::size_t> energy_columns;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    if (IsGpuEnergyColumn(table.header[i])) energy_columns.push_back(i);
  }
  if (energy_columns.empty() || energy_columns.size() > static_cast<std::size_t>(kMaxGpus)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: {} columns 'gpu<i>_energy'; expected 1 to {}", table.name,
                            energy_columns.size(), kMaxGpus));
  }
  std::vector<PowerPoint> points;
  for (const auto& row : table.rows) {
    std::string_view window = row.fields[window_column];
    if (!window.starts_with(kProfileWindow)) continue;
    window.remove_prefix(kProfileWindow.size());
    const auto limit_w = ParseNumber(window);
    if (!limit_w || *limit_w <= 0) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}:{}: window '{}{}' does not end in a limit in watts", table.name,
                              row.line, kProfileWindow, window.substr(0, 64)));
    }
    LOWTIDE_TRY(const double window_s, PositiveNumber(table, row, time_column));
    double energy_j = 0;
    for (const auto column : energy_columns) {
      LOWTIDE_TRY(const double gpu_j, PositiveNumber(table, row, column));
      energy_j += gpu_j;
    }
    points.push_back({Watts(*limit_w), 1 / window_s, Watts(energy_j / window_s)});
  }
  if (points.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: no window named {}<watts>", table.name, kProfileWindow));
  }
  auto names = NamesOfProfile(table.name);
  return WithName(MakePowerCurve(std::move(names.device), std::move(names.network),
                                 static_cast<int>(energy_columns.size()), std::move(points)),
                  table.name);
}

Result<PowerCurve> ReadCsv(std::string_view text, std::string_view file_name,
                           std::string_view selector) {
  LOWTIDE_TRY(const CsvTable table, ParseCsv(text, std::string(file_name)));
  if (table.Find("window_name")) {
    if (selector.empty()) return ReadProfileCsv(table);
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: a profile holds one curve and takes no selector, got '{}'",
                            file_name, selector.substr(0, 256)));
  }
  if (table.Find("time_per_epoch")) return ReadSummary(table, selector);
  return Fail(
      Code::kInvalidArgument,
      fmt::format("{}: not a power curve: neither a column 'window_name' (Zeus profile) nor "
                  "'time_per_epoch' (Zeus summary)",
                  file_name));
}

// A positive member of array element `index`, or an error naming it.
Result<double> Member(const Json& element, std::string_view key, std::string_view array,
                      std::size_t index, std::string_view file_name) {
  const auto value = JsonNumber(element, key);
  if (value && std::isfinite(*value) && *value > 0) return *value;
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: {}[{}]: '{}' must be a number above 0{}", file_name, array, index,
                          key, value ? fmt::format(", not {:g}", *value) : ""));
}

Result<PowerCurve> ReadProfileJson(const Json& measurements, std::string_view file_name, int gpus) {
  std::vector<PowerPoint> points;
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const Json& m = measurements[i];
    LOWTIDE_TRY(const double limit_w, Member(m, "power_limit", "measurements", i, file_name));
    LOWTIDE_TRY(const double energy_j, Member(m, "energy", "measurements", i, file_name));
    LOWTIDE_TRY(const double window_s, Member(m, "time", "measurements", i, file_name));
    points.push_back({Watts(limit_w), 1 / window_s, Watts(energy_j / window_s)});
  }
  auto names = NamesOfProfile(file_name);
  return WithName(
      MakePowerCurve(std::move(names.device), std::move(names.network), gpus, std::move(points)),
      file_name);
}

struct Subject {
  std::string device;
  std::string job;
  std::optional<int> gpus;
};

// What the curve is of: "device", "job" and "gpus", or in a run's report its GPUs and its name.
Result<Subject> SubjectOf(const Json& root, std::string_view file_name) {
  Subject subject;
  if (const auto it = root.find("components"); it != root.end() && it->is_array()) {
    int gpus = 0;
    for (const Json& component : *it) {
      if (JsonString(component, "kind") != "gpu" || gpus == kMaxGpus) continue;
      if (gpus++ == 0) subject.device = JsonString(component, "name").value_or("");
    }
    if (gpus > 0) subject.gpus = gpus;
    subject.job = JsonString(root, "name").value_or("");
  }
  if (auto device = JsonString(root, "device")) subject.device = *std::move(device);
  if (auto job = JsonString(root, "job")) subject.job = *std::move(job);
  if (const auto it = root.find("gpus"); it != root.end() && !it->is_null()) {
    const auto gpus = JsonNumber(root, "gpus");
    if (!gpus || !(*gpus >= 1 && *gpus <= kMaxGpus) || *gpus != std::floor(*gpus)) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format("{}: 'gpus' must be a whole number from 1 to {}", file_name, kMaxGpus));
    }
    subject.gpus = static_cast<int>(*gpus);
  }
  return subject;
}

Result<PowerCurve> ReadOwnJson(const Json& root, const Json& curve, std::string_view file_name,
                               std::optional<int> gpus_if_unstated) {
  LOWTIDE_TRY(Subject subject, SubjectOf(root, file_name));
  std::vector<PowerPoint> points;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const Json& p = curve[i];
    LOWTIDE_TRY(const double limit_w, Member(p, "limit_w", "power_curve", i, file_name));
    LOWTIDE_TRY(const double rate, Member(p, "throughput_per_s", "power_curve", i, file_name));
    LOWTIDE_TRY(const double draw_w, Member(p, "draw_w", "power_curve", i, file_name));
    points.push_back({Watts(limit_w), rate, Watts(draw_w)});
  }
  const int gpus = subject.gpus.value_or(gpus_if_unstated.value_or(1));
  return WithName(
      MakePowerCurve(std::move(subject.device), std::move(subject.job), gpus, std::move(points)),
      file_name);
}

Result<PowerCurve> ReadJson(std::string_view text, std::string_view file_name,
                            std::string_view selector, std::optional<int> gpus_if_unstated) {
  LOWTIDE_TRY(const Json root, ParseJson(text, file_name));
  if (!selector.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: a JSON file holds one curve and takes no selector, got '{}'",
                            file_name, selector.substr(0, 256)));
  }
  if (root.is_object()) {
    if (const auto it = root.find("power_curve"); it != root.end()) {
      if (it->is_array() && !it->empty()) {
        return ReadOwnJson(root, *it, file_name, gpus_if_unstated);
      }
      return Fail(
          Code::kInvalidArgument,
          fmt::format("{}: 'power_curve' is empty (a run without profiling has none)", file_name));
    }
    if (const auto it = root.find("measurements"); it != root.end() && it->is_array()) {
      return ReadProfileJson(*it, file_name, gpus_if_unstated.value_or(1));
    }
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: not a power curve: neither an array 'power_curve' (Lowtide) nor "
                          "'measurements' (Zeus profile)",
                          file_name));
}

}  // namespace

CurveArgument SplitCurveArgument(std::string_view text) {
  if (LooksLikeFile(text)) return {std::string(text), ""};
  std::size_t colon = text.rfind(':');
  for (std::size_t at = colon; at != std::string_view::npos && at > 0;
       at = text.rfind(':', at - 1)) {
    if (!LooksLikeFile(text.substr(0, at))) continue;
    colon = at;
    break;
  }
  if (colon == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

Result<PowerCurve> ReadPowerCurve(std::string_view text, std::string_view file_name,
                                  std::string_view selector, std::optional<int> gpus_if_unstated) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) {
    return ReadJson(text, file_name, selector, gpus_if_unstated);
  }
  return ReadCsv(text, file_name, selector);
}

std::string WritePowerCurve(const PowerCurve& curve) {
  Json points = Json::array();
  for (const auto& point : curve.points) {
    points.push_back({{"limit_w", point.limit.v},
                      {"throughput_per_s", point.throughput_per_s},
                      {"draw_w", point.draw.v}});
  }
  const Json root = {{"device", curve.device},
                     {"job", curve.job},
                     {"gpus", curve.gpus},
                     {"power_curve", std::move(points)}};
  return DumpJsonPretty(root) + "\n";
}

}  // namespace lowtide
