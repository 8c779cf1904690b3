#include "library.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/file.h"

namespace lowtide::fake_nvml {

using nvml::Return;

Library& Library::Get() {
  static Library library;
  return library;
}

World* Library::GetWorld() {
  std::scoped_lock lock(mutex_);
  if (world_ || tried_environment_) return world_.get();
  tried_environment_ = true;
  const char* scenario_path = std::getenv("LOWTIDE_FAKE_NVML");
  if (scenario_path == nullptr || *scenario_path == '\0') return nullptr;
  const char* state_path = std::getenv("LOWTIDE_FAKE_NVML_STATE");
  const auto open = [&]() -> Result<std::unique_ptr<World>> {
    LOWTIDE_TRY(const auto text, ReadFile(scenario_path));
    LOWTIDE_TRY(auto scenario, ParseScenario(text, scenario_path));
    return World::Open(std::move(scenario), state_path == nullptr ? "" : state_path);
  };
  auto world = open();
  if (!world) {
    std::fprintf(stderr, "fake NVML: %s\n", world.error().message.c_str());
    return nullptr;
  }
  world_ = *std::move(world);
  return world_.get();
}

Status Library::Load(const std::string& json) {
  LOWTIDE_TRY(auto scenario, ParseScenario(json, "scenario"));
  LOWTIDE_TRY(auto world, World::Open(std::move(scenario), ""));
  world->SetTimeNs(0);
  std::scoped_lock lock(mutex_);
  tried_environment_ = true;
  world_ = std::move(world);
  init_count_ = 0;
  reloads_seen_ = 0;
  inits_ = 0;
  ++epoch_;
  return {};
}

Return Library::Init() {
  std::scoped_lock lock(mutex_);
  ++inits_;
  World* world = GetWorld();
  if (world == nullptr) return Return::kDriverNotLoaded;
  if (world->Spec().init_error != Return::kSuccess) return world->Spec().init_error;
  if (world->DriverDown()) return Return::kDriverNotLoaded;
  if (Ready() != Return::kSuccess) {
    init_count_ = 0;
    ++epoch_;
    reloads_seen_ = world->Reloads();
    init_ns_ = world->NowNs();
  }
  ++init_count_;
  return Return::kSuccess;
}

Return Library::Shutdown() {
  std::scoped_lock lock(mutex_);
  if (Ready() != Return::kSuccess) {
    init_count_ = 0;
    return Return::kUninitialized;
  }
  if (--init_count_ == 0) ++epoch_;
  return Return::kSuccess;
}

Return Library::Ready() {
  std::scoped_lock lock(mutex_);
  const bool ready = init_count_ > 0 && world_ && world_->Reloads() == reloads_seen_;
  return ready ? Return::kSuccess : Return::kUninitialized;
}

std::int64_t Library::InitNs() {
  std::scoped_lock lock(mutex_);
  return init_ns_;
}

std::uint64_t Library::Inits() {
  std::scoped_lock lock(mutex_);
  return inits_;
}

nvml::Device Library::MakeHandle(unsigned int gpu, std::optional<std::size_t> mig) {
  std::scoped_lock lock(mutex_);
  for (auto& handle : handles_) {
    if (handle.gpu == gpu && handle.mig == mig && handle.epoch == epoch_) {
      return reinterpret_cast<nvml::Device>(&handle);
    }
  }
  handles_.push_back({gpu, mig, epoch_});
  return reinterpret_cast<nvml::Device>(&handles_.back());
}

const Handle* Library::Find(nvml::Device device) {
  std::scoped_lock lock(mutex_);
  for (const auto& handle : handles_) {
    if (reinterpret_cast<nvml::Device>(const_cast<Handle*>(&handle)) == device) {
      return handle.epoch == epoch_ ? &handle : nullptr;
    }
  }
  return nullptr;
}

DeviceCall::DeviceCall(nvml::Device device, const char* function, Mig mig) {
  auto& library = Library::Get();
  state = library.Ready();
  if (state != Return::kSuccess) return;
  world = library.GetWorld();
  handle = library.Find(device);
  if (handle == nullptr) {
    state = Return::kInvalidArgument;
    return;
  }
  spec = &world->Spec().gpus[handle->gpu];
  state = world->Call(handle->gpu, FunctionByName(function).value_or(0), library.InitNs());
  if (state == Return::kSuccess && handle->mig && mig == Mig::kRefused) {
    state = Return::kNotSupported;
  }
}

Return CopyText(const std::string& text, char* out, unsigned int length) {
  if (out == nullptr) return Return::kInvalidArgument;
  if (text.size() + 1 > length) return Return::kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return Return::kSuccess;
}

}  // namespace lowtide::fake_nvml
