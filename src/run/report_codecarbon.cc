#include "run/report_codecarbon.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/csv.h"
#include "base/json.h"

namespace lowtide {
namespace {

constexpr std::array<std::string_view, 38> kColumns = {
    "timestamp",
    "project_name",
    "run_id",
    "experiment_id",
    "duration",
    "emissions",
    "emissions_rate",
    "cpu_power",
    "gpu_power",
    "ram_power",
    "cpu_energy",
    "gpu_energy",
    "ram_energy",
    "energy_consumed",
    "water_consumed",
    "country_name",
    "country_iso_code",
    "region",
    "cloud_provider",
    "cloud_region",
    "os",
    "python_version",
    "codecarbon_version",
    "cpu_count",
    "cpu_model",
    "gpu_count",
    "gpu_model",
    "longitude",
    "latitude",
    "ram_total_size",
    "tracking_mode",
    "cpu_utilization_percent",
    "gpu_utilization_percent",
    "ram_utilization_percent",
    "ram_used_gb",
    "on_cloud",
    "pue",
    "wue",
};

std::string Number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : std::string();
}

// Text or number of a settings object, as a field; empty when it is not there.
std::string Fact(const Json& object, std::string_view key) {
  if (auto text = JsonString(object, key)) return *std::move(text);
  return Number(JsonNumber(object, key));
}

Json Member(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_object() ? *it : Json(Json::object());
}

// Energy of the counted components of a kind; nothing when none of them has any.
std::optional<Joules> EnergyOf(const Report& report, std::string_view kind) {
  std::optional<Joules> out;
  for (const ComponentLine& line : report.components) {
    const ComponentRecord& c = line.record;
    if (c.kind != kind || !c.counted || !c.energy) continue;
    out = out.value_or(Joules(0)) + *c.energy;
  }
  return out;
}

// When the row's numbers were taken: the end, or the last that is known.
TimePoint RowTime(const Report& report) {
  if (report.run.end) return report.run.end->ended_at;
  return report.run.record.started_at + ToMilliseconds(report.duration);
}

std::string TrackingMode(const Json& settings) {
  const auto mode = JsonString(settings, "cpu_energy");
  if (mode == "share") return "process";
  if (mode == "host") return "machine";
  return {};
}

std::string CsvLine(const std::vector<std::string>& fields) {
  std::string out;
  for (const auto& field : fields) {
    if (&field != &fields.front()) out += ',';
    out += CsvQuote(field);
  }
  return out + "\n";
}

// A GPU that is there; a component without an id stands for GPUs that were not found.
bool IsGpu(const ComponentLine& line) {
  return line.record.kind == "gpu" && !line.record.uuid.empty();
}

// GPU models as codecarbon writes them: "2 x NVIDIA A40".
std::string GpuModels(const Report& report) {
  std::vector<std::pair<std::string, int>> models;
  for (const ComponentLine& line : report.components) {
    if (!IsGpu(line)) continue;
    if (!models.empty() && models.back().first == line.record.name) {
      ++models.back().second;
    } else {
      models.emplace_back(line.record.name, 1);
    }
  }
  std::string out;
  for (const auto& [name, count] : models) {
    out += fmt::format("{}{} x {}", out.empty() ? "" : ", ", count, name);
  }
  return out;
}

std::ptrdiff_t GpuCount(const Report& report) {
  return std::ranges::count_if(report.components, IsGpu);
}

}  // namespace

LocalTimeFormat LocalTimeAt(std::chrono::minutes utc_offset) {
  return [utc_offset](TimePoint time) {
    const auto local = std::chrono::floor<std::chrono::seconds>(time + utc_offset);
    std::string text = FormatTime(local);
    text.pop_back();  // the "Z"
    return text;
  };
}

std::string CodecarbonHeader() { return fmt::format("{}\n", fmt::join(kColumns, ",")); }

std::string CodecarbonRow(const Report& report, const LocalTimeFormat& local_time) {
  const RunRecord& run = report.run.record;
  auto parsed = ParseJson(run.settings_json, "settings");
  const Json settings = parsed && parsed->is_object() ? *std::move(parsed) : Json(Json::object());
  const Json environment = Member(settings, "environment");
  const Json country = Member(settings, "country");
  const Json versions = Member(settings, "versions");
  const double seconds = report.duration.count();
  const double pue = report.pue.value_or(1.0);

  const auto power = [&](std::string_view kind) {
    const auto energy = EnergyOf(report, kind);
    return energy && seconds > 0 ? Number(energy->v / seconds) : std::string();
  };
  const auto energy = [&](std::optional<Joules> value) {
    return value ? Number(ToKwh(*value * pue).v) : std::string();
  };
  const auto kilograms =
      report.carbon ? std::optional<double>(report.carbon->v / 1000) : std::nullopt;
  const auto rate =
      kilograms && seconds > 0 ? std::optional<double>(*kilograms / seconds) : std::nullopt;
  const std::string lowtide_version = Fact(versions, "lowtide");
  std::string gpu_count = Fact(environment, "gpu_count");
  if (gpu_count.empty() && GpuCount(report) > 0) gpu_count = fmt::format("{}", GpuCount(report));
  std::string gpu_model = Fact(environment, "gpu_model");
  if (gpu_model.empty()) gpu_model = GpuModels(report);

  const std::vector<std::string> fields = {
      local_time(RowTime(report)),
      run.name,
      run.run_id,
      Fact(settings, "experiment_id"),
      Number(seconds),
      Number(kilograms),
      Number(rate),
      power("cpu"),
      power("gpu"),
      power("dram"),
      energy(EnergyOf(report, "cpu")),
      energy(EnergyOf(report, "gpu")),
      energy(EnergyOf(report, "dram")),
      energy(report.energy),
      "",  // water_consumed: not known
      Fact(country, "name"),
      Fact(country, "iso_code"),
      Fact(country, "region"),
      Fact(environment, "cloud_provider"),
      Fact(environment, "cloud_region"),
      Fact(environment, "os"),
      Fact(environment, "python_version"),
      "lowtide" + (lowtide_version.empty() ? "" : " " + lowtide_version),
      Fact(environment, "cpu_count"),
      Fact(environment, "cpu_model"),
      gpu_count,
      gpu_model,
      Fact(environment, "longitude"),
      Fact(environment, "latitude"),
      Fact(environment, "ram_total_gb"),
      TrackingMode(settings),
      "",  // cpu_utilization_percent, and three more that are not sampled
      "",
      "",
      "",
      Fact(environment, "on_cloud"),
      Number(pue),
      "",  // wue
  };
  return CsvLine(fields);
}

}  // namespace lowtide
