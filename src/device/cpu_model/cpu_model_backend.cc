#include "device/cpu_model/cpu_model_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "device/cpu_model/tdp_table.h"
#include "device/proc/host_cpu.h"

namespace lowtide {
namespace {

constexpr double kBytesPerGb = 1e9;
constexpr std::string_view kTableName = "hardware/cpu_power.csv";
constexpr std::string_view kTdpRemedy =
    "give the TDP of one processor package in watts with --cpu-tdp (see its maker's data sheet)";

class ModelDevice : public PowerDevice {
 public:
  explicit ModelDevice(DeviceInfo info) : info_(std::move(info)) {}

  const DeviceInfo& Info() const override { return info_; }
  Result<PowerLimits> Limits() override { return NoLimit(); }
  Result<Watts> Limit() override { return NoLimit(); }
  Status SetLimit(Watts /*limit*/) override { return NoLimit(); }

 private:
  std::unexpected<Error> NoLimit() const {
    return Fail(Code::kUnimplemented, fmt::format("{}: a model has no power limit", info_.uuid));
  }

  DeviceInfo info_;
};

class CpuModelDevice final : public ModelDevice {
 public:
  CpuModelDevice(DeviceInfo info, Watts per_thread, JobUsage& usage)
      : ModelDevice(std::move(info)), per_thread_(per_thread), usage_(usage) {}

  Result<Reading> Read(MonoTime now) override {
    LOWTIDE_TRY(const Seconds cpu, usage_.CpuSeconds(now));
    return Reading{now, per_thread_ * cpu, std::nullopt, false};
  }

 private:
  Watts per_thread_;
  JobUsage& usage_;
};

class DramModelDevice final : public ModelDevice {
 public:
  DramModelDevice(DeviceInfo info, JobUsage& usage) : ModelDevice(std::move(info)), usage_(usage) {}

  Result<Reading> Read(MonoTime now) override {
    auto bytes = usage_.MemoryBytes(now);
    if (!bytes) {
      broken_ = last_at_.has_value();
      return std::unexpected(std::move(bytes).error());
    }
    Reading reading{now, std::nullopt, std::nullopt, broken_};
    if (last_at_ && !broken_) energy_ += power_ * ToSeconds(now - *last_at_);
    power_ = Watts(kDramWattsPerGb * static_cast<double>(*bytes) / kBytesPerGb);
    last_at_ = now;
    broken_ = false;
    reading.energy = energy_;
    return reading;
  }

 private:
  JobUsage& usage_;
  Watts power_;
  Joules energy_;
  std::optional<MonoTime> last_at_;
  bool broken_ = false;  // the last look failed: the energy since is unknown
};

}  // namespace

CpuModelBackend::CpuModelBackend(CpuModelOptions options, JobUsage& usage)
    : options_(std::move(options)), usage_(usage) {}

Discovery CpuModelBackend::Discover() {
  Discovery discovery;
  const auto wants = [this](DeviceKind kind) {
    return std::ranges::find(options_.kinds, kind) != options_.kinds.end();
  };
  if (wants(DeviceKind::kCpuPackage)) DiscoverCpu(discovery);
  if (wants(DeviceKind::kDram)) {
    DeviceInfo info;
    info.kind = DeviceKind::kDram;
    info.name = "DRAM";
    info.uuid = "cpu_model:dram";
    info.backend = Name();
    info.provenance = Provenance::kModelled;
    info.note = fmt::format("{} W/GB x memory of the job (Green Algorithms)", kDramWattsPerGb);
    discovery.devices.push_back(std::make_unique<DramModelDevice>(std::move(info), usage_));
  }
  return discovery;
}

void CpuModelBackend::DiscoverCpu(Discovery& discovery) {
  const auto problem = [&](Error error, std::string_view remedy) {
    discovery.problems.push_back(
        {DeviceKind::kCpuPackage, "CPU model", std::move(error), std::string(remedy)});
  };
  const auto cpu = ReadCpuInfo(options_.proc);
  if (!cpu && !(options_.tdp && options_.threads_per_package)) {
    return problem(cpu.error(), "give both --cpu-tdp and --cpu-threads");
  }
  if (options_.tdp && !(options_.tdp->v > 0 && std::isfinite(options_.tdp->v))) {
    return problem({Code::kInvalidArgument,
                    fmt::format("--cpu-tdp is {} W; it must be above 0", options_.tdp->v)},
                   kTdpRemedy);
  }
  if (options_.threads_per_package && *options_.threads_per_package < 1) {
    return problem(
        {Code::kInvalidArgument,
         fmt::format("--cpu-threads is {}; it must be at least 1", *options_.threads_per_package)},
        "");
  }
  const std::string model = cpu ? cpu->model.value_or("") : "";
  std::string source = "given";
  Watts tdp;
  if (options_.tdp) {
    tdp = *options_.tdp;
  } else if (model.empty()) {
    return problem({Code::kNotFound,
                    fmt::format("{} names no processor model, as on ARM, so its TDP is not known",
                                (options_.proc / "cpuinfo").string())},
                   kTdpRemedy);
  } else {
    auto table = TdpTable::Parse(options_.tdp_table, std::string(kTableName));
    if (!table) return problem(std::move(table).error(), kTdpRemedy);
    auto entry = table->Find(model);
    if (!entry) return problem(std::move(entry).error(), kTdpRemedy);
    if (cpu->virtual_machine && !options_.threads_per_package) {
      return problem(
          {Code::kUnavailable,
           fmt::format(
               "this virtual machine has {} threads of a '{}', whose TDP is {:g} W as a whole; "
               "how many threads that has is not known here",
               cpu->threads, model, entry->tdp.v)},
          "give the number of hardware threads of one processor package with --cpu-threads, or the "
          "watts of the part that is this machine's with --cpu-tdp");
    }
    tdp = entry->tdp;
    source = fmt::format("'{}' in {}", entry->name, kTableName);
  }
  // Not rounded: with processors offline, packages may have unequal numbers of threads.
  const double threads = options_.threads_per_package
                             ? static_cast<double>(*options_.threads_per_package)
                             : static_cast<double>(cpu->threads) / cpu->packages;
  DeviceInfo info;
  info.kind = DeviceKind::kCpuPackage;
  info.name = model.empty() ? "CPU" : model;
  info.uuid = "cpu_model:cpu";
  info.backend = Name();
  info.provenance = Provenance::kModelled;
  info.note = fmt::format("{:g} W TDP ({}) / {:g} threads x CPU seconds of the job", tdp.v, source,
                          threads);
  discovery.devices.push_back(
      std::make_unique<CpuModelDevice>(std::move(info), tdp / threads, usage_));
}

}  // namespace lowtide
