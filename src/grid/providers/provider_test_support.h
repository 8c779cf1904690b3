// For the tests of providers: a transport that answers by a function and keeps what was sent, and
// providers made with the tables that are part of the program.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/embedded/embedded.h"
#include "grid/providers/registry.h"

namespace lowtide {

inline TimePoint At(std::string_view text) { return *ParseTime(text); }

inline HttpResponse Reply(int status, std::string body = "", std::vector<HttpHeader> headers = {}) {
  return {
      .status = status, .headers = std::move(headers), .body = std::move(body), .received_at = {}};
}
inline HttpResponse Ok(std::string body) { return Reply(200, std::move(body)); }

class FakeTransport final : public HttpTransport {
 public:
  using Handler = std::function<Result<HttpResponse>(const HttpRequest&)>;

  explicit FakeTransport(Handler handler) : handler_(std::move(handler)) {}

  Result<HttpResponse> Send(const HttpRequest& request) override {
    const std::scoped_lock lock(mutex_);
    sent.push_back(request);
    return handler_(request);
  }

  std::vector<HttpRequest> sent;

 private:
  std::mutex mutex_;
  Handler handler_;
};

// The parameter of the query; "(absent)" when it is not there.
inline std::string Query(const HttpRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.query) {
    if (key == name) return value;
  }
  return "(absent)";
}

inline std::string Header(const HttpRequest& request, std::string_view name) {
  for (const HttpHeader& header : request.headers) {
    if (header.name == name) return header.value;
  }
  return "(absent)";
}

// The path behind the host.
inline std::string Path(const HttpRequest& request) {
  return request.url.substr(request.url.find('/', request.url.find("//") + 2));
}

inline const ZoneTable& TestZones() {
  static const ZoneTable table =
      *ZoneTable::Parse(*FindEmbedded("grid/zones.csv"), *FindEmbedded("grid/cloud_regions.csv"),
                        *FindEmbedded("grid/zone_aliases.csv"));
  return table;
}

inline const EmissionFactors& TestFactors() {
  static const EmissionFactors factors =
      *EmissionFactors::Parse(*FindEmbedded("grid/emission_factors.csv"));
  return factors;
}

// Settings with which the provider of that name can be made.
inline ProviderSettings TestSettings(std::string_view name) {
  ProviderSettings settings;
  if (name == "electricity_maps" || name == "entsoe" || name == "eia") {
    settings.key = "SECRET+key/1";
  }
  if (name == "watttime") {
    settings.username = "ada";
    settings.password = "SECRET pass:1";
  }
  if (name == "carbon_aware_sdk") {
    settings.endpoint = "http://localhost:8080";
    settings.signal = Signal::kAverage;
  }
  return settings;
}

// A provider with its transport.
struct Fake {
  Fake(std::string_view name, FakeTransport::Handler handler)
      : Fake(name, TestSettings(name), std::move(handler)) {}
  Fake(std::string_view name, const ProviderSettings& settings, FakeTransport::Handler handler)
      : transport(std::move(handler)) {
    auto made = MakeProvider(name, settings, {transport, TestZones(), TestFactors()});
    EXPECT_TRUE(made) << made.error().message;
    if (made) provider = *std::move(made);
  }

  Provider* operator->() const { return provider.get(); }
  const std::vector<HttpRequest>& Sent() const { return transport.sent; }

  FakeTransport transport;
  std::unique_ptr<Provider> provider;
};

// Always the same answer.
inline FakeTransport::Handler Always(HttpResponse response) {
  return [response = std::move(response)](const HttpRequest&) { return response; };
}

template <class T>
void ExpectError(const Result<T>& result, Code code, std::string_view part) {
  ASSERT_FALSE(result);
  EXPECT_STREQ(CodeName(result.error().code), CodeName(code)) << result.error().message;
  EXPECT_THAT(result.error().message, ::testing::HasSubstr(std::string(part)));
  EXPECT_THAT(result.error().message, ::testing::Not(::testing::HasSubstr("SECRET")));
}

}  // namespace lowtide
