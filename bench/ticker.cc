// What a sampler cannot go below: a program that wakes ten times a second and does nothing else, or
// nothing but the driver calls and file reads that lowtide makes at nearly every tick (power is
// read in one of ten). The difference between lowtide's sampling and this is lowtide's own; the
// difference between two of its modes is the price of the fake library.
//
// usage: bench_ticker SECONDS [NVML_LIBRARY [ENERGY_FILE...]]
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "device/nvml/nvml_abi.h"

namespace {

using lowtide::nvml::Device;
using lowtide::nvml::Return;

constexpr long kPeriodNs = 100'000'000;
constexpr long kSecondNs = 1'000'000'000;

struct Driver {
  Return (*energy)(Device, unsigned long long*) = nullptr;
  std::vector<Device> gpus;
};

template <class Function>
bool Find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(::dlsym(library, name));
  return out != nullptr;
}

std::optional<Driver> OpenDriver(const char* path) {
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Return (*init)() = nullptr;
  Return (*count)(unsigned int*) = nullptr;
  Return (*handle)(unsigned int, Device*) = nullptr;
  Driver driver;
  if (!Find(library, "nvmlInit_v2", init) || !Find(library, "nvmlDeviceGetCount_v2", count) ||
      !Find(library, "nvmlDeviceGetHandleByIndex_v2", handle) ||
      !Find(library, "nvmlDeviceGetTotalEnergyConsumption", driver.energy)) {
    return std::nullopt;
  }
  unsigned int gpus = 0;
  if (init() != Return::kSuccess || count(&gpus) != Return::kSuccess) return std::nullopt;
  driver.gpus.resize(gpus);
  for (unsigned int i = 0; i < gpus; ++i) {
    if (handle(i, &driver.gpus[i]) != Return::kSuccess) return std::nullopt;
  }
  return driver;
}

bool Tick(const Driver& driver, const std::vector<int>& files) {
  for (const Device gpu : driver.gpus) {
    unsigned long long mj = 0;
    if (driver.energy(gpu, &mj) != Return::kSuccess) return false;
  }
  std::array<char, 64> text{};
  for (const int file : files) {
    if (::pread(file, text.data(), text.size(), 0) <= 0) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  long seconds = 0;
  if (argc > 1) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), seconds);
  if (seconds <= 0) {
    fmt::print(stderr, "usage: bench_ticker SECONDS [NVML_LIBRARY [ENERGY_FILE...]]\n");
    return 2;
  }
  Driver driver;
  if (argc > 2) {
    auto opened = OpenDriver(argv[2]);
    if (!opened) {
      fmt::print(stderr, "bench_ticker: {} is no usable NVML\n", argv[2]);
      return 3;
    }
    driver = *std::move(opened);
  }
  std::vector<int> files;
  for (int i = 3; i < argc; ++i) files.push_back(::open(argv[i], O_RDONLY | O_CLOEXEC));

  timespec next{};
  ::clock_gettime(CLOCK_MONOTONIC, &next);
  for (long tick = 0; tick < seconds * kSecondNs / kPeriodNs; ++tick) {
    next.tv_nsec += kPeriodNs;
    if (next.tv_nsec >= kSecondNs) {
      next.tv_nsec -= kSecondNs;
      ++next.tv_sec;
    }
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
    if (!Tick(driver, files)) {
      fmt::print(stderr, "bench_ticker: a reading failed\n");
      return 3;
    }
  }
  return 0;
}
