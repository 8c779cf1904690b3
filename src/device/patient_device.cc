#include "device/patient_device.h"

#include <fmt/format.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace lowtide {

struct PatientDevice::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool busy = false;  // guarded by mutex
};

PatientDevice::PatientDevice(PowerDevice& device, Seconds patience)
    : device_(device), patience_(patience), shared_(std::make_shared<Shared>()) {}

bool PatientDevice::Hangs() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->busy;
}

template <class T>
Result<T> PatientDevice::Call(std::function<Result<T>(PowerDevice&)> call) {
  const auto hangs = [&] {
    return Fail(Code::kDeadlineExceeded,
                fmt::format("{}: the driver has not answered for {}", device_.Info().name,
                            FormatDuration(patience_)));
  };
  std::unique_lock lock(shared_->mutex);
  if (shared_->busy) return hangs();
  shared_->busy = true;
  const auto answer = std::make_shared<std::optional<Result<T>>>();
  std::thread([shared = shared_, answer, device = &device_, call = std::move(call)] {
    auto result = call(*device);
    {
      const std::scoped_lock done(shared->mutex);
      answer->emplace(std::move(result));
      shared->busy = false;
    }
    shared->changed.notify_all();
  }).detach();
  if (!shared_->changed.wait_for(lock, patience_, [&] { return !shared_->busy; })) return hangs();
  return **std::move(answer);
}

Result<PowerLimits> PatientDevice::Limits() {
  return Call<PowerLimits>([](PowerDevice& d) { return d.Limits(); });
}

Result<Watts> PatientDevice::Limit() {
  return Call<Watts>([](PowerDevice& d) { return d.Limit(); });
}

Status PatientDevice::SetLimit(Watts limit) {
  return Call<void>([limit](PowerDevice& d) { return d.SetLimit(limit); });
}

std::optional<Discovery> DiscoverWithin(const std::shared_ptr<DeviceBackend>& backend,
                                        Seconds patience) {
  auto promise = std::make_shared<std::promise<Discovery>>();
  std::future<Discovery> found = promise->get_future();
  std::thread([backend, promise] { promise->set_value(backend->Discover()); }).detach();
  if (found.wait_for(patience) != std::future_status::ready) return std::nullopt;
  return found.get();
}

}  // namespace lowtide
