// One initialised NVML, shared by the GPUs found with it. After a driver reload it is initialised
// again; a generation tells handles of before from handles of after.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>

#include "base/time.h"
#include "device/nvml/nvml_library.h"

namespace lowtide {

// A GPU as its UUID, with the handle that stands for it in one generation. Thread-safe.
class NvmlHandle {
 public:
  explicit NvmlHandle(std::string uuid) : uuid_(std::move(uuid)) {}

  const std::string& Uuid() const { return uuid_; }
  // The handle of that generation, if it was resolved.
  std::optional<nvml::Device> For(std::uint64_t generation) const;
  void Set(nvml::Device device, std::uint64_t generation);

 private:
  const std::string uuid_;
  mutable std::mutex mutex_;
  nvml::Device device_ = nullptr;
  std::uint64_t generation_ = 0;  // 0: none; the session counts from 1
};

class NvmlSession {
 public:
  // Between attempts to initialise again while a fault lasts: 10 s, then twice as long, to 10 min.
  static constexpr Seconds kFirstRetry{10};
  static constexpr Seconds kLastRetry{600};

  // Initialises. The error names the state; `state` gets NVML's own value for it.
  static Result<std::shared_ptr<NvmlSession>> Open(std::unique_ptr<NvmlLibrary> library,
                                                   nvml::Return& state);
  ~NvmlSession();
  NvmlSession(const NvmlSession&) = delete;
  NvmlSession& operator=(const NvmlSession&) = delete;

  const NvmlLibrary& Library() const { return *library_; }
  std::uint64_t Generation() const;

  // f(library, device) with the handle of this generation, resolved by UUID where needed. While the
  // driver is gone it gives what the last attempt to initialise said.
  template <class F>
  nvml::Return TryCall(NvmlHandle& handle, F&& f) {
    std::uint64_t seen = 0;
    const nvml::Return r = CallOnce(handle, seen, f);
    return r == nvml::Return::kUninitialized ? WhyDown() : r;
  }

  // As TryCall, but on UNINITIALIZED it initialises once and calls once more.
  template <class F>
  nvml::Return Call(NvmlHandle& handle, F&& f) {
    std::uint64_t seen = 0;
    const nvml::Return r = CallOnce(handle, seen, f);
    if (r != nvml::Return::kUninitialized) return r;
    if (const auto again = Reinitialise(seen); again != nvml::Return::kSuccess) return again;
    return CallOnce(handle, seen, f);
  }

  // f(library) with no initialisation going on beside it; on UNINITIALIZED as Call.
  template <class F>
  nvml::Return WithLibrary(F&& f) {
    std::uint64_t seen = 0;
    for (int attempt = 0;; ++attempt) {
      nvml::Return r = nvml::Return::kUninitialized;
      {
        std::shared_lock lock(mutex_);
        seen = generation_;
        if (state_ == nvml::Return::kSuccess) r = f(*library_);
      }
      if (r != nvml::Return::kUninitialized || attempt == 1) return r;
      if (const auto again = Reinitialise(seen); again != nvml::Return::kSuccess) return again;
    }
  }

  // Shuts down and initialises, unless somebody did since generation `seen`.
  nvml::Return Reinitialise(std::uint64_t seen);

  // Whether another attempt to recover from a fault is due; when it is, it counts as made.
  bool RecoveryDue(MonoTime now);
  // A device answered again: the next fault is retried soon.
  void NoteHealthy();

 private:
  explicit NvmlSession(std::unique_ptr<NvmlLibrary> library) : library_(std::move(library)) {}

  template <class F>
  nvml::Return CallOnce(NvmlHandle& handle, std::uint64_t& seen, F& f) {
    std::shared_lock lock(mutex_);
    seen = generation_;
    // After a failed attempt there is nothing to call.
    if (state_ != nvml::Return::kSuccess) return nvml::Return::kUninitialized;
    auto device = handle.For(generation_);
    if (!device) {
      nvml::Device found = nullptr;
      if (const auto r = Resolve(handle.Uuid(), found); r != nvml::Return::kSuccess) return r;
      handle.Set(found, generation_);
      device = found;
    }
    return f(*library_, *device);
  }

  // What the last attempt to initialise said if it failed, else UNINITIALIZED.
  nvml::Return WhyDown() const;
  nvml::Return Resolve(const std::string& uuid, nvml::Device& out) const;

  const std::unique_ptr<NvmlLibrary> library_;
  // Calls share it; initialising excludes them.
  mutable std::shared_mutex mutex_;
  nvml::Return state_ = nvml::Return::kSuccess;  // of the last attempt to initialise
  std::uint64_t generation_ = 1;

  std::mutex retry_mutex_;
  std::optional<MonoTime> last_retry_;
  Seconds retry_interval_{0};
};

}  // namespace lowtide
