// What a test may ask of the fake beside NVML's own functions; declared in fake_nvml.h.
#include <cstdint>
#include <string>

#include "library.h"

using lowtide::fake_nvml::FunctionByName;
using lowtide::fake_nvml::Library;
using lowtide::fake_nvml::World;

namespace {

World* WorldWith(unsigned int gpu) {
  World* world = Library::Get().GetWorld();
  return world != nullptr && gpu < world->GpuCount() ? world : nullptr;
}

}  // namespace

FAKE_NVML_EXPORT int fakeNvmlLoadScenario(const char* json, char* error, unsigned int length) {
  const auto status = Library::Get().Load(json);
  if (status) return 0;
  if (length > 0) {
    lowtide::fake_nvml::CopyText(status.error().message.substr(0, length - 1), error, length);
  }
  return -1;
}

FAKE_NVML_EXPORT int fakeNvmlSetTimeNs(std::int64_t ns) {
  World* world = Library::Get().GetWorld();
  return world != nullptr && world->SetTimeNs(ns) ? 0 : -1;
}

FAKE_NVML_EXPORT std::int64_t fakeNvmlNowNs() {
  World* world = Library::Get().GetWorld();
  return world == nullptr ? -1 : world->NowNs();
}

FAKE_NVML_EXPORT double fakeNvmlTrueEnergyMj(unsigned int gpu) {
  World* world = WorldWith(gpu);
  return world == nullptr ? -1 : world->TrueEnergyMj(gpu);
}

FAKE_NVML_EXPORT unsigned int fakeNvmlLimitMw(unsigned int gpu) {
  World* world = WorldWith(gpu);
  return world == nullptr ? 0 : world->LimitMw(gpu);
}

FAKE_NVML_EXPORT std::uint64_t fakeNvmlCalls(unsigned int gpu, const char* function) {
  World* world = WorldWith(gpu);
  if (world == nullptr) return 0;
  if (function == nullptr) return world->Calls(gpu, std::nullopt);
  const auto which = FunctionByName(function);
  return which ? world->Calls(gpu, which) : 0;
}

FAKE_NVML_EXPORT std::uint64_t fakeNvmlInits() { return Library::Get().Inits(); }

FAKE_NVML_EXPORT int fakeNvmlSetBusy(unsigned int gpu, int busy) {
  World* world = WorldWith(gpu);
  if (world == nullptr) return -1;
  world->SetBusy(gpu, busy != 0);
  return 0;
}

FAKE_NVML_EXPORT int fakeNvmlReloadDriver(double down_s) {
  World* world = Library::Get().GetWorld();
  if (world == nullptr) return -1;
  world->ReloadDriver(down_s);
  return 0;
}
