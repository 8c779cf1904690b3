// Runs the fake provider servers (serve.py) for a test. README.md lists settings and faults.
//
//   ProviderServers fake({.now = now});
//   settings.endpoint = fake.Url("electricity_maps");
//   fake.Fault({{"kind", "rate_limit"}, {"retry_after_s", 5}, {"times", 1}});
//   ...
//   EXPECT_EQ(fake.Requests("electricity_maps").size(), 2U);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/json.h"
#include "base/time.h"

namespace lowtide {

struct FakeRequest {
  std::string provider;
  std::string method;
  std::string path;  // as the provider sees it, without the query
  std::vector<std::pair<std::string, std::string>> query;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  int status = 0;      // of the answer
  int connection = 0;  // the same for requests that came over the same one

  std::string Query(std::string_view name) const;   // "" when absent
  std::string Header(std::string_view name) const;  // "" when absent
};

struct ProviderServersOptions {
  std::optional<TimePoint> now{};  // fixed; without it, the real time
  std::string certificate_file{};  // with its key: they speak TLS
  std::string key_file{};
};

// A failure to start or to control them throws std::runtime_error, which fails the test.
class ProviderServers {
 public:
  explicit ProviderServers(const ProviderServersOptions& options = {});
  ~ProviderServers();
  ProviderServers(const ProviderServers&) = delete;
  ProviderServers& operator=(const ProviderServers&) = delete;

  // "http://127.0.0.1:PORT": its endpoint. A host of its own, as limits and failures go by host.
  std::string Url(std::string_view provider) const;

  void SetNow(TimePoint now);
  void Advance(Seconds by);
  void Fault(const Json& rule);
  void ClearFaults();
  void Set(std::string_view provider, std::string_view setting, const Json& value);
  // Off the network: connections are refused, those there are end.
  void Unplug(std::string_view provider);
  void Plug(std::string_view provider);
  // As at the start; requests are forgotten, too.
  void Reset();

  // So far, in order; of all providers, or of one.
  std::vector<FakeRequest> Requests(std::string_view provider = "") const;

 private:
  void Control(const Json& command) const;
  std::string Ask(std::string_view method, std::string_view path, std::string_view body) const;

  std::string scheme_;
  int port_ = 0;          // of all
  int control_port_ = 0;  // plain
  std::vector<std::pair<std::string, int>> ports_;
  UniqueFd input_;
  int pid_ = -1;
};

}  // namespace lowtide
