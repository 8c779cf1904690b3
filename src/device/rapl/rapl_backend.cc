#include "device/rapl/rapl_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "device/rapl/rapl_zone.h"

namespace lowtide {
namespace {

class RaplDevice final : public PowerDevice {
 public:
  RaplDevice(ChosenRaplZone chosen, RaplOpener open)
      : energy_uj_(chosen.zone.folder / "energy_uj"),
        open_(std::move(open)),
        reader_(std::move(chosen.reader)),
        counter_({chosen.zone.range_uj,
                  chosen.zone.kind == DeviceKind::kDram ? kMaxDramPower : kMaxPackagePower}) {
    info_.kind = chosen.zone.kind;
    info_.name = std::move(chosen.zone.label);
    info_.uuid = std::move(chosen.uuid);
    info_.backend = "rapl";
    info_.note = std::move(chosen.note);
    info_.whole_host = true;
  }

  const DeviceInfo& Info() const override { return info_; }

  Result<Reading> Read(MonoTime now) override {
    if (!reader_) {
      LOWTIDE_TRY(reader_, open_(energy_uj_));
    }
    LOWTIDE_TRY(const std::uint64_t raw_uj, reader_->Read());
    if (!moved_at_ || raw_uj != raw_uj_) moved_at_ = now;
    raw_uj_ = raw_uj;
    auto step = counter_.Advance(now, raw_uj);
    if (!step) return Annotate(std::move(step).error(), energy_uj_.string());
    if (const Seconds still = ToSeconds(now - *moved_at_); still > kRaplStandstill) {
      return Fail(Code::kUnavailable,
                  fmt::format("{}: the counter of {} has stood still at {} uJ for "
                              "{:.0f} s",
                              energy_uj_.string(), info_.name, raw_uj, still.count()));
    }
    return Reading{now, step->total, std::nullopt, step->discontinuity};
  }

  Result<PowerLimits> Limits() override { return NoLimit(); }
  Result<Watts> Limit() override { return NoLimit(); }
  Status SetLimit(Watts /*limit*/) override { return NoLimit(); }

 private:
  std::unexpected<Error> NoLimit() const {
    return Fail(
        Code::kUnimplemented,
        fmt::format("{}: RAPL zones are measured, their power limit is not changed", info_.uuid));
  }

  DeviceInfo info_;
  std::filesystem::path energy_uj_;
  RaplOpener open_;
  std::unique_ptr<RaplReader> reader_;
  RaplCounter counter_;
  std::uint64_t raw_uj_ = 0;
  std::optional<MonoTime> moved_at_;
};

}  // namespace

RaplBackend::RaplBackend(RaplOptions options) : options_(std::move(options)) {
  if (!options_.open) options_.open = OpenSysfsRapl;
  if (!options_.wait) {
    options_.wait = [](Seconds duration) { std::this_thread::sleep_for(duration); };
  }
}

Discovery RaplBackend::Discover() {
  Discovery discovery;
  RaplChoice choice = ChooseRaplZones(ScanPowercap(options_.root),
                                      {options_.on_unreadable, options_.open, options_.wait});
  discovery.problems = std::move(choice.problems);
  const bool has_dram = std::ranges::any_of(
      choice.zones, [](const auto& z) { return z.zone.kind == DeviceKind::kDram; });
  const bool knows_of_dram =
      has_dram || std::ranges::any_of(discovery.problems, [](const DeviceProblem& problem) {
        return problem.kind == DeviceKind::kDram;
      });
  if (!choice.zones.empty() && !knows_of_dram) {
    discovery.problems.push_back(
        {DeviceKind::kDram, options_.root.string(),
         Error{Code::kNotFound, "this processor has no RAPL zone for DRAM"},
         "the package counter does not include it; the energy of memory is modelled"});
  }
  for (ChosenRaplZone& chosen : choice.zones) {
    discovery.devices.push_back(std::make_unique<RaplDevice>(std::move(chosen), options_.open));
  }
  return discovery;
}

}  // namespace lowtide
