// The real clients against the fake providers: what one says, the other understands.
#include "fakes/providers/provider_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/providers/fake_series.h"
#include "grid/providers/provider_test_support.h"
#include "http/client.h"
#include "http/curl_transport.h"

namespace lowtide {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ProviderServersTest : public ::testing::Test {
 protected:
  std::unique_ptr<Provider> Make(const std::string& name, ProviderSettings settings) {
    if (settings.endpoint.empty()) settings.endpoint = fake_.Url(name);
    auto provider = MakeProvider(name, settings, {transport_, TestZones(), TestFactors()});
    if (!provider) throw std::runtime_error(provider.error().message);
    return *std::move(provider);
  }

  TimePoint now_ = At("2026-08-22T17:24:00Z");
  ProviderServers fake_{{.now = now_}};
  RealClock clock_;
  CurlTransport transport_{clock_, {}};
};

TEST_F(ProviderServersTest, ElectricityMapsServesOneSeries) {
  ProviderSettings settings;
  settings.key = "em-full";
  const auto provider = Make("electricity_maps", settings);
  const Zone zone{"DE"};
  const auto latest = provider->Latest(zone, now_);
  ASSERT_TRUE(latest) << latest.error().message;
  ASSERT_THAT(latest->slots, SizeIs(1));
  const ProviderSlot& slot = latest->slots[0];
  EXPECT_EQ(slot.from, At("2026-08-22T17:00:00Z"));
  EXPECT_TRUE(slot.estimated);
  EXPECT_NEAR(slot.value.v,
              fake_series::Lifecycle("DE", slot.from, slot.to).v + fake_series::kEstimateError,
              0.5);
  const auto past = provider->History(zone, now_ - 300h, now_ - 30h, now_);
  ASSERT_TRUE(past) << past.error().message;
  EXPECT_THAT(past->slots, SizeIs(271));
  for (const ProviderSlot& s : past->slots) {
    EXPECT_NEAR(s.value.v, fake_series::Lifecycle("DE", s.from, s.to).v, 0.5);
  }
  const auto forecast = provider->Forecast(zone, now_, now_ + 24h, now_);
  ASSERT_TRUE(forecast) << forecast.error().message;
  EXPECT_THAT(forecast->slots, SizeIs(25));
}

}  // namespace
}  // namespace lowtide
