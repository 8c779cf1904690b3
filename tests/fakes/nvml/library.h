// The state of one process that loaded the fake: initialised or not, and the handles it gave out.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "world.h"

namespace lowtide::fake_nvml {

// What a nvmlDevice_t points to. One that a later initialisation made stale is refused.
struct Handle {
  unsigned int gpu = 0;
  std::optional<std::size_t> mig;
  std::uint64_t epoch = 0;
};

class Library {
 public:
  static Library& Get();

  // The scenario of LOWTIDE_FAKE_NVML and the state of LOWTIDE_FAKE_NVML_STATE at first use, or
  // what Load gave. Null: none, or one that is wrong (said once on standard error).
  World* GetWorld();
  // In place of the environment: from now on a fresh machine, not initialised, private memory.
  Status Load(const std::string& json);

  nvml::Return Init();
  nvml::Return Shutdown();
  // kSuccess while initialised: not yet shut down, no reload of the driver since.
  nvml::Return Ready();
  std::int64_t InitNs();
  // Calls of nvmlInit by this process, failed ones too, since Load.
  std::uint64_t Inits();

  nvml::Device MakeHandle(unsigned int gpu, std::optional<std::size_t> mig);
  // Null for anything that this initialisation did not give out.
  const Handle* Find(nvml::Device device);

 private:
  std::recursive_mutex mutex_;
  bool tried_environment_ = false;
  std::unique_ptr<World> world_;
  unsigned int init_count_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t reloads_seen_ = 0;
  std::int64_t init_ns_ = 0;
  std::uint64_t inits_ = 0;
  std::deque<Handle> handles_;  // never moved: their addresses are the handles
};

// The world, the GPU and the whole-GPU check of a device call, counted and with its faults applied.
struct DeviceCall {
  enum class Mig { kRefused, kAllowed };
  DeviceCall(nvml::Device device, const char* function, Mig mig = Mig::kRefused);

  nvml::Return state = nvml::Return::kSuccess;
  World* world = nullptr;
  const Handle* handle = nullptr;
  const GpuSpec* spec = nullptr;  // set where state is kSuccess
};

// Copies `text` and its end; INSUFFICIENT_SIZE where it does not fit.
nvml::Return CopyText(const std::string& text, char* out, unsigned int length);

}  // namespace lowtide::fake_nvml

// What the library exports: everything else stays hidden.
#define FAKE_NVML_EXPORT extern "C" __attribute__((visibility("default")))
