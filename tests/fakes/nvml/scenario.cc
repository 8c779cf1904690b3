#include "scenario.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "base/json.h"
#include "device/nvml/nvml_library.h"

namespace lowtide::fake_nvml {
namespace {

// Reads members of one object and remembers the first thing that is wrong with it.
class Reader {
 public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) Bad("must be an object");
  }

  void Number(const char* key, double& out, double low, double high = 1e12) {
    const Json* v = Find(key);
    if (v == nullptr) return;
    if (!v->is_number() || !(v->get<double>() >= low && v->get<double>() <= high)) {
      return Bad(fmt::format("{} must be a number from {:g} to {:g}", key, low, high));
    }
    out = v->get<double>();
  }
  template <class T>
  void Unsigned(const char* key, T& out) {
    double value = static_cast<double>(out);
    Number(key, value, 0, 4e9);
    if (value != std::floor(value)) Bad(fmt::format("{} must be a whole number", key));
    out = static_cast<T>(value);
  }
  template <class T, class Read>
  void Optional(const char* key, std::optional<T>& out, Read read) {
    if (!object_.is_object() || !object_.contains(key)) return Seen(key);
    T value{};
    read(value);
    out = value;
  }
  void Bool(const char* key, bool& out) {
    const Json* v = Find(key);
    if (v == nullptr) return;
    if (!v->is_boolean()) return Bad(fmt::format("{} must be true or false", key));
    out = v->get<bool>();
  }
  void Text(const char* key, std::string& out, std::size_t max_bytes) {
    const Json* v = Find(key);
    if (v == nullptr) return;
    if (!v->is_string() || v->get_ref<const std::string&>().size() > max_bytes) {
      return Bad(fmt::format("{} must be a text of at most {} bytes", key, max_bytes));
    }
    out = v->get<std::string>();
  }
  void State(const char* key, nvml::Return& out) {
    std::string name;
    Text(key, name, 64);
    if (name.empty()) return;
    if (const auto r = ReturnByName(name)) {
      out = *r;
    } else {
      Bad(fmt::format("{}: {} is no NVML state", key, name));
    }
  }
  // The elements of an array; none where the key is not there.
  std::vector<const Json*> Array(const char* key) {
    std::vector<const Json*> out;
    const Json* v = Find(key);
    if (v == nullptr) return out;
    if (!v->is_array()) {
      Bad(fmt::format("{} must be an array", key));
      return out;
    }
    for (const auto& e : *v) out.push_back(&e);
    return out;
  }
  const Json* Find(const char* key) {
    Seen(key);
    if (!object_.is_object()) return nullptr;
    const auto it = object_.find(key);
    return it == object_.end() ? nullptr : &*it;
  }
  void Bad(std::string_view what) {
    if (problem_.empty()) problem_ = fmt::format("{}: {}", where_, what);
  }
  void Take(const Status& inner) {
    if (!inner && problem_.empty()) problem_ = inner.error().message;
  }
  const std::string& Where() const { return where_; }

  Status Done() {
    if (object_.is_object()) {
      for (const auto& [key, value] : object_.items()) {
        if (std::find(seen_.begin(), seen_.end(), key) == seen_.end()) {
          Bad(fmt::format("unknown key {}", key));
        }
      }
    }
    if (!problem_.empty()) return Fail(Code::kInvalidArgument, problem_);
    return {};
  }

 private:
  void Seen(const char* key) { seen_.emplace_back(key); }

  const Json& object_;
  std::string where_;
  std::string problem_;
  std::vector<std::string> seen_;
};

Status ParseDemand(const Json& json, const std::string& where, DemandProfile& out) {
  if (json.is_number()) {  // a constant
    const double w = json.get<double>();
    out.segments = {{1, w, w}};
    return {};
  }
  Reader r(json, where);
  std::string law = "segments";
  r.Text("law", law, 16);
  if (law == "sine") {
    out.kind = DemandProfile::Kind::kSine;
    r.Number("mean_w", out.mean_w, 0);
    r.Number("amplitude_w", out.amplitude_w, 0);
    r.Number("period_s", out.period_s, 1e-3);
  } else if (law == "square") {
    double low = 0;
    double high = 0;
    double period = 1;
    double duty = 0.5;
    r.Number("low_w", low, 0);
    r.Number("high_w", high, 0);
    r.Number("period_s", period, 1e-3);
    r.Number("duty", duty, 0.001, 0.999);
    out.segments = {{period * duty, high, high}, {period * (1 - duty), low, low}};
  } else if (law == "segments") {
    r.Bool("repeat", out.repeat);
    for (const Json* s : r.Array("segments")) {
      Reader sr(*s, where + ".segments");
      Segment segment;
      double w = -1;
      sr.Number("duration_s", segment.duration_s, 1e-3);
      sr.Number("w", w, 0);
      segment.from_w = segment.to_w = std::max(w, 0.0);
      sr.Number("from_w", segment.from_w, 0);
      sr.Number("to_w", segment.to_w, 0);
      if (segment.duration_s <= 0) sr.Bad("duration_s is missing");
      r.Take(sr.Done());
      out.segments.push_back(segment);
    }
    if (out.segments.empty()) r.Bad("segments is empty");
  } else {
    r.Bad("law must be segments, sine or square");
  }
  return r.Done();
}

Status ParseFault(const Json& json, const std::string& where, Fault& out) {
  Reader r(json, where);
  std::string kind;
  r.Text("kind", kind, 64);
  r.Number("from_s", out.from_s, 0);
  r.Optional("to_s", out.to_s, [&](double& v) { r.Number("to_s", v, 0); });
  r.Optional("from_call", out.from_call, [&](std::uint64_t& v) { r.Unsigned("from_call", v); });
  r.Optional("to_call", out.to_call, [&](std::uint64_t& v) { r.Unsigned("to_call", v); });
  r.Bool("sticky", out.sticky);
  r.Number("by_j", out.by_j, 0);
  r.Number("hang_s", out.hang_s, 0);
  for (const Json* f : r.Array("functions")) {
    if (f->is_string()) {
      out.functions.push_back(f->get<std::string>());
    } else {
      r.Bad("functions must be texts");
    }
  }
  if (kind == "blank") {
    out.kind = Fault::Kind::kBlank;
  } else if (kind == "frozen_counter") {
    out.kind = Fault::Kind::kFrozenCounter;
  } else if (kind == "counter_back") {
    out.kind = Fault::Kind::kCounterBack;
    if (out.by_j <= 0) r.Bad("counter_back needs by_j");
  } else if (kind == "counter_reset") {
    out.kind = Fault::Kind::kCounterReset;
  } else if (const auto state = ReturnByName(kind)) {
    out.error = *state;
  } else {
    r.Bad(
        fmt::format("kind {} is neither an NVML state nor blank, frozen_counter, counter_back "
                    "or counter_reset",
                    kind));
  }
  return r.Done();
}

Status ParseMig(const Json& json, const std::string& where, GpuSpec& gpu) {
  gpu.mig_capable = true;
  Reader r(json, where);
  r.Bool("enabled", gpu.mig_enabled);
  for (const Json* i : r.Array("instances")) {
    Reader ir(*i, where + ".instances");
    MigInstance instance;
    ir.Text("uuid", instance.uuid, 95);
    ir.Unsigned("gpu_instance", instance.gpu_instance);
    ir.Unsigned("compute_instance", instance.compute_instance);
    if (instance.uuid.empty()) ir.Bad("uuid is missing");
    r.Take(ir.Done());
    gpu.mig.push_back(instance);
  }
  return r.Done();
}

Status ParseGpu(const Json& json, unsigned int index, GpuSpec& gpu) {
  const auto where = fmt::format("gpus[{}]", index);
  Reader r(json, where);
  gpu.uuid = fmt::format("GPU-{:08x}-0000-4000-8000-{:012x}", 0xfa4e0000U + index, index);
  gpu.pci_bus_id = fmt::format("00000000:{:02X}:00.0", 0x10 + index);
  gpu.noise_seed = index + 1;
  r.Text("name", gpu.name, 95);
  r.Text("uuid", gpu.uuid, 79);
  r.Text("pci_bus_id", gpu.pci_bus_id, 31);
  r.Unsigned("min_limit_mw", gpu.min_limit_mw);
  r.Unsigned("max_limit_mw", gpu.max_limit_mw);
  gpu.default_limit_mw = gpu.max_limit_mw;
  r.Unsigned("default_limit_mw", gpu.default_limit_mw);
  gpu.limit_mw = gpu.default_limit_mw;
  r.Unsigned("limit_mw", gpu.limit_mw);
  r.Number("idle_w", gpu.idle_w, 0);
  r.Bool("busy", gpu.busy);
  r.Bool("energy_counter", gpu.energy_counter);
  r.Bool("power_reading", gpu.power_reading);
  r.Bool("instant_power", gpu.instant_power);
  r.Bool("power_limits", gpu.power_limits);
  r.Bool("may_set_limits", gpu.may_set_limits);
  r.Bool("ignores_limits", gpu.ignores_limits);
  r.Number("counter_period_s", gpu.counter_period_s, 1e-3);
  r.Number("power_period_s", gpu.power_period_s, 1e-3);
  r.Number("power_noise_w", gpu.power_noise_w, 0);
  r.Unsigned("noise_seed", gpu.noise_seed);
  r.Number("power_usage_window_s", gpu.power_usage_window_s, 0);
  r.Unsigned("compute_processes", gpu.compute_processes);
  if (const Json* mig = r.Find("mig")) r.Take(ParseMig(*mig, where + ".mig", gpu));
  gpu.demand.segments = {{1, 250, 250}};
  if (const Json* demand = r.Find("demand")) {
    gpu.demand.segments.clear();
    r.Take(ParseDemand(*demand, where + ".demand", gpu.demand));
  }
  for (const Json* f : r.Array("faults")) {
    Fault fault;
    r.Take(ParseFault(*f, where + ".faults", fault));
    gpu.faults.push_back(fault);
  }
  if (gpu.min_limit_mw > gpu.max_limit_mw || gpu.limit_mw < gpu.min_limit_mw ||
      gpu.limit_mw > gpu.max_limit_mw || gpu.default_limit_mw < gpu.min_limit_mw ||
      gpu.default_limit_mw > gpu.max_limit_mw) {
    r.Bad("limits must satisfy min <= limit, default <= max");
  }
  return r.Done();
}

}  // namespace

std::optional<nvml::Return> ReturnByName(std::string_view name) {
  for (const int code : {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                         16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 999}) {
    const auto r = static_cast<nvml::Return>(code);
    if (NvmlReturnName(r) == name) return r;
  }
  return std::nullopt;
}

Result<Scenario> ParseScenario(std::string_view text, std::string_view name) {
  LOWTIDE_TRY(const auto json, ParseJson(text, name));
  Scenario out;
  Reader r(json, std::string(name));
  r.Text("driver_version", out.driver_version, 79);
  r.State("init_error", out.init_error);
  r.State("count_error", out.count_error);
  r.Number("speed_exponent", out.speed_exponent, 0, 10);
  for (const Json* j : r.Array("driver_reloads")) {
    Reader rr(*j, "driver_reloads");
    DriverReload reload;
    rr.Number("at_s", reload.at_s, 0);
    rr.Number("down_s", reload.down_s, 0);
    r.Take(rr.Done());
    if (!out.driver_reloads.empty() && reload.at_s <= out.driver_reloads.back().at_s) {
      r.Bad("driver_reloads must be in order of time");
    }
    out.driver_reloads.push_back(reload);
  }
  for (const Json* g : r.Array("gpus")) {
    GpuSpec gpu;
    r.Take(ParseGpu(*g, static_cast<unsigned int>(out.gpus.size()), gpu));
    out.gpus.push_back(std::move(gpu));
  }
  if (out.gpus.size() > kMaxGpus) r.Bad(fmt::format("more than {} GPUs", kMaxGpus));
  LOWTIDE_TRY_STATUS(r.Done());
  return out;
}

}  // namespace lowtide::fake_nvml
