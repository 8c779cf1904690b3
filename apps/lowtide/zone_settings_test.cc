#include "zone_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "zone_tables.h"

namespace lowtide::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ZoneSettingsTest : public testing::Test {
 protected:
  void SetUp() override {
    app_.add_option("--log-level", text_);
    auto* run = app_.add_subcommand("run", "");
    run->add_option("--zone", text_);
    run->add_option("--policy", text_);
    app_.add_subcommand("intensity", "")->add_option("ZONE", text_);
    auto zones = EmbeddedZoneTable();
    ASSERT_TRUE(zones.has_value());
    zones_ = *std::move(zones);
  }

  // The chain that is meant where GB and gcp:europe-west3 (in DE) have their own.
  std::vector<std::string> Chain(const std::vector<std::string>& args,
                                 const std::string& more = "") {
    const auto settings =
        ParseSettings("sources = ['eia']\n" + more + "[zones.GB]\nsources = ['uk']\n" +
                          "[zones.'gcp:europe-west3']\nsources = ['energy_charts', 'forecast']\n",
                      "x.toml");
    EXPECT_TRUE(settings.has_value());
    std::vector<std::string> chain;
    for (const auto& setting : SettingsForZone(app_, args, *settings, zones_)) {
      EXPECT_EQ(setting.verb.find("zones"), std::string::npos);
      if (setting.key == "sources" && Applies(setting, args.front())) chain = setting.values;
    }
    return chain;
  }

  CLI::App app_;
  std::string text_;
  ZoneTable zones_;
};

TEST_F(ZoneSettingsTest, TheZoneIsTheOneTyped) {
  EXPECT_THAT(Chain({"run", "--zone", "GB"}), ElementsAre("uk"));
  EXPECT_THAT(Chain({"run", "--zone=gb", "--policy", "none"}), ElementsAre("uk"));
  EXPECT_THAT(Chain({"run", "--policy", "none", "--zone", "aws:eu-west-2"}), ElementsAre("uk"));
  EXPECT_THAT(Chain({"run", "--zone", "DE"}), ElementsAre("energy_charts", "forecast"));
  EXPECT_THAT(Chain({"run", "--zone", "FR"}), ElementsAre("eia"));
  EXPECT_THAT(Chain({"run", "--policy", "GB"}), ElementsAre("eia"));
  EXPECT_THAT(Chain({"run"}), ElementsAre("eia"));
}

TEST_F(ZoneSettingsTest, TheZoneOfAVerbIsItsArgument) {
  EXPECT_THAT(Chain({"intensity", "GB"}), ElementsAre("uk"));
  EXPECT_THAT(Chain({"intensity", "--log-level", "debug", "GB"}), ElementsAre("uk"));
}

TEST_F(ZoneSettingsTest, OrElseTheOneThatIsSet) {
  EXPECT_THAT(Chain({"run"}, "zone = 'GB'\n"), ElementsAre("uk"));
  EXPECT_THAT(Chain({"run", "--zone", "FR"}, "zone = 'GB'\n"), ElementsAre("eia"));
  EXPECT_THAT(Chain({"run"}, "zone = 'FR'\n[run]\nzone = 'GB'\n"), ElementsAre("uk"));
  EXPECT_THAT(Chain({"run"}, "zone = '51.5,-0.1'\n"), ElementsAre("eia"));
}

TEST_F(ZoneSettingsTest, KeysAndZonesAreChecked) {
  const auto problem = [&](const std::string& toml) {
    const auto status = CheckZoneSettings(*ParseSettings(toml, "x.toml"), zones_);
    return status ? std::string() : status.error().message;
  };
  EXPECT_THAT(problem("[zones.GB]\nsignal = 'average'\n"), IsEmpty());
  EXPECT_THAT(problem("[zones.GB]\neta = 1\n"),
              HasSubstr("x.toml:2: unknown key 'eta' in [zones.GB]; allowed are sources, signal"));
  EXPECT_THAT(problem("[zones.UK]\n"), HasSubstr("x.toml:1: [zones.UK]: no zone 'UK'"));
  // Settings of the verb `zones`.
  EXPECT_THAT(problem("[zones]\ncount = 3\n"), IsEmpty());
}

}  // namespace
}  // namespace lowtide::cli
