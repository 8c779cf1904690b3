#include "device/nvml/nvml_session.h"

#include <algorithm>

namespace lowtide {

using nvml::Return;

std::optional<nvml::Device> NvmlHandle::For(std::uint64_t generation) const {
  std::scoped_lock lock(mutex_);
  if (generation_ != generation) return std::nullopt;
  return device_;
}

void NvmlHandle::Set(nvml::Device device, std::uint64_t generation) {
  std::scoped_lock lock(mutex_);
  device_ = device;
  generation_ = generation;
}

Result<std::shared_ptr<NvmlSession>> NvmlSession::Open(std::unique_ptr<NvmlLibrary> library,
                                                       Return& state) {
  state = library->Init();
  if (state != Return::kSuccess) {
    return std::unexpected(library->MakeError(state, "starting NVML (" + library->Path() + ")"));
  }
  return std::shared_ptr<NvmlSession>(new NvmlSession(std::move(library)));
}

NvmlSession::~NvmlSession() {
  if (state_ == Return::kSuccess) library_->Shutdown();
}

std::uint64_t NvmlSession::Generation() const {
  std::shared_lock lock(mutex_);
  return generation_;
}

Return NvmlSession::Reinitialise(std::uint64_t seen) {
  std::unique_lock lock(mutex_);
  if (generation_ != seen) return state_;
  // Harmless where NVML already forgot us: it then says UNINITIALIZED.
  if (state_ == Return::kSuccess) library_->Shutdown();
  state_ = library_->Init();
  ++generation_;
  return state_;
}

Return NvmlSession::WhyDown() const {
  std::shared_lock lock(mutex_);
  return state_ == Return::kSuccess ? Return::kUninitialized : state_;
}

bool NvmlSession::RecoveryDue(MonoTime now) {
  std::scoped_lock lock(retry_mutex_);
  if (last_retry_ && ToSeconds(now - *last_retry_) < retry_interval_) return false;
  last_retry_ = now;
  retry_interval_ = std::clamp(retry_interval_ * 2, kFirstRetry, kLastRetry);
  return true;
}

void NvmlSession::NoteHealthy() {
  std::scoped_lock lock(retry_mutex_);
  retry_interval_ = std::min(retry_interval_, kFirstRetry);
}

Return NvmlSession::Resolve(const std::string& uuid, nvml::Device& out) const {
  const Return r = library_->HandleByUuid(uuid, out);
  if (r != Return::kFunctionNotFound) return r;
  // Very old libraries: look through all of them.
  unsigned int count = 0;
  if (const auto counted = library_->Count(count); counted != Return::kSuccess) return counted;
  Return worst = Return::kNotFound;
  for (unsigned int i = 0; i < count; ++i) {
    nvml::Device device = nullptr;
    std::string found;
    Return got = library_->HandleByIndex(i, device);
    if (got == Return::kSuccess) got = library_->Uuid(device, found);
    if (got != Return::kSuccess) {
      worst = got;
    } else if (found == uuid) {
      out = device;
      return Return::kSuccess;
    }
  }
  return worst;
}

}  // namespace lowtide
