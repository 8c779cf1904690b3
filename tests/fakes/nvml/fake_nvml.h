// Drives the fake NVML library from a test: the functions that it exports beside NVML's own, looked
// up in the very copy that the code under test has loaded (or will load) by the same path.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace lowtide::fake_nvml {

// Throws std::runtime_error on any failure: a test that uses it is broken then.
class FakeNvml {
 public:
  explicit FakeNvml(const std::string& library_path)
      : library_(dlopen(library_path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error(dlerror());
  }
  ~FakeNvml() { dlclose(library_); }
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;

  // A fresh machine in private memory at scenario time 0, which stands still until SetTime.
  void Load(const std::string& json) {
    char error[512] = "";
    if (Get<int(const char*, char*, unsigned int)>("fakeNvmlLoadScenario")(json.c_str(), error,
                                                                           sizeof(error)) != 0) {
      throw std::runtime_error(error);
    }
  }
  void SetTime(double seconds) {
    const auto ns = static_cast<std::int64_t>(seconds * 1e9 + 0.5);
    Check(Get<int(std::int64_t)>("fakeNvmlSetTimeNs")(ns), "time cannot go back");
  }
  double NowSeconds() { return static_cast<double>(Get<std::int64_t()>("fakeNvmlNowNs")()) / 1e9; }
  // What the GPU really drew since scenario time 0.
  double TrueEnergyMj(unsigned int gpu) {
    return Get<double(unsigned int)>("fakeNvmlTrueEnergyMj")(gpu);
  }
  unsigned int LimitMw(unsigned int gpu) {
    return Get<unsigned int(unsigned int)>("fakeNvmlLimitMw")(gpu);
  }
  // Of one NVML function (its name without _v2), or of all on that GPU.
  std::uint64_t Calls(unsigned int gpu, const char* function = nullptr) {
    return Get<std::uint64_t(unsigned int, const char*)>("fakeNvmlCalls")(gpu, function);
  }
  // nvmlInit calls of this process since Load, failed ones too.
  std::uint64_t Inits() { return Get<std::uint64_t()>("fakeNvmlInits")(); }
  void SetBusy(unsigned int gpu, bool busy) {
    Check(Get<int(unsigned int, int)>("fakeNvmlSetBusy")(gpu, busy ? 1 : 0), "no such GPU");
  }
  // Counters start anew, limits are the default, everyone must initialise again.
  void ReloadDriver(double down_s = 0) {
    Check(Get<int(double)>("fakeNvmlReloadDriver")(down_s), "no scenario");
  }

 private:
  template <class F>
  F* Get(const char* name) {
    void* symbol = dlsym(library_, name);
    if (symbol == nullptr) throw std::runtime_error(dlerror());
    return reinterpret_cast<F*>(symbol);
  }
  static void Check(int result, const char* what) {
    if (result != 0) throw std::runtime_error(what);
  }

  void* library_;
};

}  // namespace lowtide::fake_nvml
