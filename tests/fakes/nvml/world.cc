#include "world.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <ctime>
#include <numbers>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "base/file.h"

namespace lowtide::fake_nvml {
namespace {

constexpr std::uint64_t kMagic = 0x6c6f7774'6e766d32;  // "lowtnvm2"
constexpr unsigned int kBlankMw = nvml::kBlank32;

std::int64_t MonotonicNs() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

double ToS(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }
std::int64_t ToNs(double s) { return std::llround(s * 1e9); }
std::int64_t TickBefore(std::int64_t t_ns, double period_s) {
  const std::int64_t period = std::max<std::int64_t>(1, ToNs(period_s));
  return t_ns / period * period;
}

// The same noise for the same tick in every process: SplitMix64, then Box and Muller.
double Gaussian(std::uint64_t seed, std::uint64_t tick) {
  const auto uniform = [&](std::uint64_t salt) {
    std::uint64_t z = seed * 0x9e3779b97f4a7c15U + tick * 2 + salt + 0x9e3779b97f4a7c15U;
    for (int i = 0; i < 2; ++i) {
      z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
      z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
      z ^= z >> 31U;
    }
    return (static_cast<double>(z >> 11U) + 0.5) * 0x1p-53;
  };
  return std::sqrt(-2 * std::log(uniform(0))) * std::cos(2 * std::numbers::pi * uniform(1));
}

}  // namespace

std::optional<std::size_t> FunctionByName(std::string_view name) {
  for (std::size_t i = 0; i < kFunctionNames.size(); ++i) {
    if (name == kFunctionNames[i]) return i;
  }
  return std::nullopt;
}

class World::Lock {
 public:
  explicit Lock(SharedState& state) : state_(state) {
    // Whoever was killed while holding it left plain data that is valid at every moment.
    if (pthread_mutex_lock(&state_.mutex) == EOWNERDEAD) pthread_mutex_consistent(&state_.mutex);
  }
  ~Lock() { pthread_mutex_unlock(&state_.mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  SharedState& state_;
};

void World::Initialise(SharedState& state, const Scenario& scenario) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&state.mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  state.start_ns = MonotonicNs();
  state.virtual_ns = -1;
  state.gpu_count = static_cast<std::uint32_t>(scenario.gpus.size());
  for (std::size_t i = 0; i < scenario.gpus.size(); ++i) {
    state.gpus[i].anchors[0] = {0, 0, scenario.gpus[i].limit_mw, scenario.gpus[i].busy ? 1U : 0U};
    state.gpus[i].anchor_count = 1;
  }
  state.magic = kMagic;
}

Result<std::unique_ptr<World>> World::Open(Scenario scenario, const std::string& state_path) {
  UniqueFd file;
  bool fresh = true;
  if (!state_path.empty()) {
    file = UniqueFd(open(state_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file.Valid()) return FailErrno(errno, "opening " + state_path);
    // One process makes the state, the others find it made.
    while (flock(file.Get(), LOCK_EX) != 0) {
      if (errno != EINTR) return FailErrno(errno, "locking " + state_path);
    }
    struct stat info{};
    if (fstat(file.Get(), &info) != 0) return FailErrno(errno, "reading " + state_path);
    fresh = info.st_size == 0;
    if (fresh && ftruncate(file.Get(), sizeof(SharedState)) != 0) {
      return FailErrno(errno, "writing " + state_path);
    }
    if (!fresh && info.st_size != sizeof(SharedState)) {
      return Fail(Code::kDataLoss, state_path + " is no state file of this fake NVML");
    }
  }
  void* memory = mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE,
                      file.Valid() ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file.Get(), 0);
  if (memory == MAP_FAILED) return FailErrno(errno, "mapping " + state_path);
  auto* state = static_cast<SharedState*>(memory);
  if (fresh) Initialise(*state, scenario);
  if (state->magic != kMagic || state->gpu_count != scenario.gpus.size()) {
    munmap(memory, sizeof(SharedState));
    return Fail(Code::kInvalidArgument, state_path + " belongs to another scenario: remove it");
  }
  // Closing would not do: the mapping keeps the file, and with it the lock, open.
  if (file.Valid()) flock(file.Get(), LOCK_UN);
  return std::unique_ptr<World>(new World(std::move(scenario), state, file.Valid()));
}

World::~World() {
  // The mutex in a file lives on in other processes.
  if (!shared_) pthread_mutex_destroy(&state_->mutex);
  munmap(state_, sizeof(SharedState));
}

std::int64_t World::Now() const {
  return state_->virtual_ns >= 0 ? state_->virtual_ns : MonotonicNs() - state_->start_ns;
}

std::int64_t World::NowNs() {
  Lock lock(*state_);
  return Now();
}

bool World::SetTimeNs(std::int64_t ns) {
  Lock lock(*state_);
  if (ns < 0 || (state_->virtual_ns >= 0 && ns < state_->virtual_ns)) return false;
  for (unsigned int g = 0; g < GpuCount(); ++g) {
    if (ns < Newest(g).at_ns) return false;
  }
  state_->virtual_ns = ns;
  ApplyDue(ns);
  return true;
}

const Anchor& World::Newest(unsigned int gpu) const {
  const auto& g = state_->gpus[gpu];
  return g.anchors[(g.anchor_count - 1) % SharedGpu::kAnchors];
}

const Anchor& World::AnchorAt(unsigned int gpu, std::int64_t t_ns) const {
  const auto& g = state_->gpus[gpu];
  const std::uint64_t oldest =
      g.anchor_count > SharedGpu::kAnchors ? g.anchor_count - SharedGpu::kAnchors : 0;
  for (std::uint64_t i = g.anchor_count - 1; i > oldest; --i) {
    const auto& anchor = g.anchors[i % SharedGpu::kAnchors];
    if (anchor.at_ns <= t_ns) return anchor;
  }
  return g.anchors[oldest % SharedGpu::kAnchors];
}

double World::EnergyMj(unsigned int gpu, std::int64_t t_ns) const {
  const auto& spec = scenario_.gpus[gpu];
  const auto& anchor = AnchorAt(gpu, t_ns);
  t_ns = std::max(t_ns, anchor.at_ns);
  const double from = ToS(anchor.at_ns);
  const double to = ToS(t_ns);
  if (anchor.busy == 0) return anchor.energy_mj + 1000 * spec.idle_w * (to - from);
  const double limit_w = anchor.limit_mw / 1000.0;
  return anchor.energy_mj + 1000 * (ClampedEnergy(spec.demand, to, spec.idle_w, limit_w) -
                                    ClampedEnergy(spec.demand, from, spec.idle_w, limit_w));
}

double World::DrawW(unsigned int gpu, std::int64_t t_ns) const {
  const auto& spec = scenario_.gpus[gpu];
  const auto& anchor = AnchorAt(gpu, t_ns);
  if (anchor.busy == 0) return spec.idle_w;
  const double high = std::max(spec.idle_w, anchor.limit_mw / 1000.0);
  return std::clamp(DemandAt(spec.demand, ToS(t_ns)), spec.idle_w, high);
}

void World::Push(unsigned int gpu, std::int64_t at_ns, unsigned int limit_mw, bool busy) {
  auto& g = state_->gpus[gpu];
  const Anchor next{at_ns, EnergyMj(gpu, at_ns), limit_mw, busy ? 1U : 0U};
  g.anchors[g.anchor_count % SharedGpu::kAnchors] = next;
  ++g.anchor_count;
}

void World::Reload(std::int64_t at_ns, double down_s) {
  for (unsigned int g = 0; g < GpuCount(); ++g) {
    at_ns = std::max(at_ns, Newest(g).at_ns);
    Push(g, at_ns, scenario_.gpus[g].default_limit_mw, Newest(g).busy != 0);
    state_->gpus[g].counter_base_mj = EnergyMj(g, at_ns);
  }
  state_->driver_down_until_ns = at_ns + ToNs(down_s);
  ++state_->reloads;
}

void World::ApplyDue(std::int64_t now) {
  while (state_->scripted_reloads < scenario_.driver_reloads.size()) {
    const auto& reload = scenario_.driver_reloads[state_->scripted_reloads];
    if (ToNs(reload.at_s) > now) break;
    Reload(ToNs(reload.at_s), reload.down_s);
    ++state_->scripted_reloads;
  }
  for (unsigned int g = 0; g < GpuCount(); ++g) {
    const auto& faults = scenario_.gpus[g].faults;
    for (std::size_t f = 0; f < std::min<std::size_t>(faults.size(), 64); ++f) {
      const std::uint64_t bit = std::uint64_t{1} << f;
      if (faults[f].kind != Fault::Kind::kCounterReset ||
          (state_->gpus[g].resets_applied & bit) != 0 || !Active(faults[f], g, now)) {
        continue;
      }
      state_->gpus[g].resets_applied |= bit;
      state_->gpus[g].counter_base_mj =
          EnergyMj(g, faults[f].from_call ? now : ToNs(faults[f].from_s));
    }
  }
}

bool World::Active(const Fault& fault, unsigned int gpu, std::int64_t now) const {
  if (fault.from_call || fault.to_call) {
    const auto& g = state_->gpus[gpu];
    std::uint64_t calls = fault.functions.empty() ? g.calls : 0;
    for (const auto& name : fault.functions) {
      if (const auto f = FunctionByName(name)) calls += g.function_calls[*f];
    }
    return calls >= fault.from_call.value_or(0) && (!fault.to_call || calls <= *fault.to_call);
  }
  return now >= ToNs(fault.from_s) && (!fault.to_s || now < ToNs(*fault.to_s));
}

nvml::Return World::Call(unsigned int gpu, std::size_t function, std::int64_t init_ns) {
  const Fault* const fault = FaultOf(gpu, function, init_ns);
  if (fault == nullptr) return nvml::Return::kSuccess;
  // Without the lock: others of this GPU's processes do not hang with it.
  std::this_thread::sleep_for(std::chrono::duration<double>(fault->hang_s));
  return fault->error;
}

const Fault* World::FaultOf(unsigned int gpu, std::size_t function, std::int64_t init_ns) {
  Lock lock(*state_);
  const std::int64_t now = Now();
  ApplyDue(now);
  auto& g = state_->gpus[gpu];
  ++g.calls;
  ++g.function_calls[function];
  for (const auto& fault : scenario_.gpus[gpu].faults) {
    if (fault.kind != Fault::Kind::kError) continue;
    if (!fault.functions.empty() && std::find(fault.functions.begin(), fault.functions.end(),
                                              kFunctionNames[function]) == fault.functions.end()) {
      continue;
    }
    const bool lingers =
        fault.sticky && fault.to_s && now >= ToNs(*fault.to_s) && init_ns < ToNs(*fault.to_s);
    if (lingers || Active(fault, gpu, now)) return &fault;
  }
  return nullptr;
}

bool World::Blank(unsigned int gpu, std::int64_t now) const {
  const auto& faults = scenario_.gpus[gpu].faults;
  return std::any_of(faults.begin(), faults.end(), [&](const Fault& f) {
    return f.kind == Fault::Kind::kBlank && Active(f, gpu, now);
  });
}

double World::TrueEnergyMj(unsigned int gpu) {
  Lock lock(*state_);
  const std::int64_t now = Now();
  ApplyDue(now);
  return EnergyMj(gpu, now);
}

unsigned long long World::CounterMj(unsigned int gpu) {
  Lock lock(*state_);
  const std::int64_t now = Now();
  ApplyDue(now);
  if (Blank(gpu, now)) return nvml::kBlank64;
  const auto& spec = scenario_.gpus[gpu];
  std::int64_t seen = now;
  double back_mj = 0;
  for (const auto& fault : spec.faults) {
    if (!Active(fault, gpu, now)) continue;
    if (fault.kind == Fault::Kind::kFrozenCounter) seen = std::min(seen, ToNs(fault.from_s));
    if (fault.kind == Fault::Kind::kCounterBack) back_mj += fault.by_j * 1000;
  }
  const double mj = EnergyMj(gpu, TickBefore(seen, spec.counter_period_s)) -
                    state_->gpus[gpu].counter_base_mj - back_mj;
  return static_cast<unsigned long long>(std::max(0.0, std::floor(mj + 1e-6)));
}

unsigned int World::InstantMw(unsigned int gpu) {
  Lock lock(*state_);
  const std::int64_t now = Now();
  ApplyDue(now);
  if (Blank(gpu, now)) return kBlankMw;
  const auto& spec = scenario_.gpus[gpu];
  const std::int64_t tick = TickBefore(now, spec.power_period_s);
  double w = DrawW(gpu, tick);
  if (spec.power_noise_w > 0) {
    w += spec.power_noise_w * Gaussian(spec.noise_seed, static_cast<std::uint64_t>(tick));
  }
  return static_cast<unsigned int>(std::lround(std::max(0.0, w) * 1000));
}

unsigned int World::UsageMw(unsigned int gpu) {
  const auto& spec = scenario_.gpus[gpu];
  if (spec.power_usage_window_s <= 0) return InstantMw(gpu);
  Lock lock(*state_);
  const std::int64_t now = Now();
  ApplyDue(now);
  if (Blank(gpu, now)) return kBlankMw;
  const std::int64_t to = TickBefore(now, spec.power_period_s);
  const std::int64_t from = std::max<std::int64_t>(0, to - ToNs(spec.power_usage_window_s));
  if (to <= from) return static_cast<unsigned int>(std::lround(DrawW(gpu, to) * 1000));
  return static_cast<unsigned int>(
      std::lround((EnergyMj(gpu, to) - EnergyMj(gpu, from)) / ToS(to - from)));
}

double World::DemandW(unsigned int gpu) {
  Lock lock(*state_);
  return DemandAt(scenario_.gpus[gpu].demand, ToS(Now()));
}

unsigned int World::LimitMw(unsigned int gpu) {
  Lock lock(*state_);
  ApplyDue(Now());
  return Newest(gpu).limit_mw;
}

void World::SetLimitMw(unsigned int gpu, unsigned int mw) {
  Lock lock(*state_);
  const std::int64_t now = Now();
  ApplyDue(now);
  Push(gpu, now, mw, Newest(gpu).busy != 0);
}

bool World::Busy(unsigned int gpu) {
  Lock lock(*state_);
  return Newest(gpu).busy != 0;
}

void World::SetBusy(unsigned int gpu, bool busy) {
  Lock lock(*state_);
  const std::int64_t now = Now();
  ApplyDue(now);
  Push(gpu, now, Newest(gpu).limit_mw, busy);
}

double World::RelativeSpeed(unsigned int gpu) {
  Lock lock(*state_);
  const std::int64_t now = Now();
  ApplyDue(now);
  const double demand = DemandAt(scenario_.gpus[gpu].demand, ToS(now));
  const double limit = Newest(gpu).limit_mw / 1000.0;
  return demand <= limit ? 1.0 : std::pow(limit / demand, scenario_.speed_exponent);
}

std::uint64_t World::Calls(unsigned int gpu, std::optional<std::size_t> function) {
  Lock lock(*state_);
  return function ? state_->gpus[gpu].function_calls[*function] : state_->gpus[gpu].calls;
}

std::uint64_t World::Reloads() {
  Lock lock(*state_);
  ApplyDue(Now());
  return state_->reloads;
}

bool World::DriverDown() {
  Lock lock(*state_);
  const std::int64_t now = Now();
  ApplyDue(now);
  return now < state_->driver_down_until_ns;
}

void World::ReloadDriver(double down_s) {
  Lock lock(*state_);
  const std::int64_t now = Now();
  ApplyDue(now);
  Reload(now, down_s);
}

}  // namespace lowtide::fake_nvml
