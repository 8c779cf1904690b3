#include "settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace lowtide::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Args = std::vector<std::string>;

// run has --zone -z, --trace xor --intensity, --pue, --gpus (a list), --json; runs list has --name.
class SettingsTest : public testing::Test {
 protected:
  SettingsTest() {
    constexpr auto kLast = CLI::MultiOptionPolicy::TakeLast;
    app_.add_option("--log-level", text_)->multi_option_policy(kLast);
    auto* run = app_.add_subcommand("run");
    run->add_option("-z,--zone", text_)->multi_option_policy(kLast);
    auto* trace = run->add_option("--trace", text_)->multi_option_policy(kLast);
    auto* constant = run->add_option("--intensity", text_)->multi_option_policy(kLast);
    trace->excludes(constant);
    run->add_option("--cpu-energy", text_)->multi_option_policy(kLast);
    run->add_option("--gpus", list_);
    run->add_flag("--json", flag_);
    auto* list = app_.add_subcommand("runs")->add_subcommand("list");
    list->add_option("--name", text_)->multi_option_policy(kLast);
    list->add_flag("--json", flag_);
    app_.add_subcommand("secret")->group("")->add_option("--inner", text_);
  }

  static Settings Parsed(std::string_view toml) {
    auto settings = ParseSettings(toml, "l.toml");
    EXPECT_TRUE(settings) << settings.error().message;
    return settings.value_or(Settings{});
  }
  Args Inject(const Args& args, std::string_view toml) const {
    return InjectSettings(app_, args, Parsed(toml)).args;
  }
  std::string CheckError(std::string_view toml) const {
    const auto checked = CheckSettings(app_, Parsed(toml));
    EXPECT_FALSE(checked) << toml;
    return checked ? "" : checked.error().message;
  }

  CLI::App app_;
  std::string text_;
  std::vector<int> list_;
  bool flag_ = false;
};

TEST_F(SettingsTest, GoRightAfterTheVerbThatHasTheOption) {
  EXPECT_THAT(Inject({"run", "--json"}, "zone = 'DE'"), ElementsAre("run", "--zone=DE", "--json"));
  EXPECT_THAT(Inject({"runs", "list"}, "zone = 'DE'\nname = 'x'"),
              ElementsAre("runs", "list", "--name=x"));
  EXPECT_THAT(Inject({"run"}, "log_level = 'debug'"), ElementsAre("--log-level=debug", "run"));
}

TEST_F(SettingsTest, UnderscoresAndHyphensAreTheSame) {
  EXPECT_THAT(Inject({"run"}, "cpu_energy = 'host'"), ElementsAre("run", "--cpu-energy=host"));
  EXPECT_THAT(Inject({"run"}, "cpu-energy = 'host'"), ElementsAre("run", "--cpu-energy=host"));
}

TEST_F(SettingsTest, ValuesOfEveryKind) {
  EXPECT_THAT(Inject({"run"}, "intensity = 400"), ElementsAre("run", "--intensity=400"));
  EXPECT_THAT(Inject({"run"}, "intensity = 1.25"), ElementsAre("run", "--intensity=1.25"));
  EXPECT_THAT(Inject({"run"}, "json = true"), ElementsAre("run", "--json=true"));
  EXPECT_THAT(Inject({"run"}, "gpus = [0, 2]"), ElementsAre("run", "--gpus=0", "--gpus=2"));
  EXPECT_THAT(Inject({"run"}, "zone = 2022-01-01T00:00:00Z"),
              ElementsAre("run", "--zone=2022-01-01T00:00:00Z"));
}

TEST_F(SettingsTest, AVerbsTableWinsOverTopLevelKeysWhereverItStands) {
  EXPECT_THAT(Inject({"run"}, "zone = 'DE'\n[run]\nzone = 'FR'"), ElementsAre("run", "--zone=FR"));
  EXPECT_THAT(Inject({"runs", "list"}, "name = 'a'\n[runs.list]\nname = 'b'"),
              ElementsAre("runs", "list", "--name=b"));
  EXPECT_THAT(Inject({"runs", "list"}, "name = 'a'\n[run]\nzone = 'b'"),
              ElementsAre("runs", "list", "--name=a"));
}

TEST_F(SettingsTest, WhatIsTypedWins) {
  EXPECT_THAT(Inject({"run", "--zone", "FR"}, "zone = 'DE'"), ElementsAre("run", "--zone", "FR"));
  EXPECT_THAT(Inject({"run", "--zone=FR"}, "zone = 'DE'"), ElementsAre("run", "--zone=FR"));
  EXPECT_THAT(Inject({"run", "-zFR"}, "zone = 'DE'"), ElementsAre("run", "-zFR"));
  EXPECT_THAT(Inject({"run", "--gpus", "1"}, "gpus = [0, 2]"), ElementsAre("run", "--gpus", "1"));
}

TEST_F(SettingsTest, WhatIsTypedAlsoDropsWhatItExcludes) {
  EXPECT_THAT(Inject({"run", "--intensity", "400"}, "trace = 'x.csv'"),
              ElementsAre("run", "--intensity", "400"));
}

TEST_F(SettingsTest, OfTwoThatExcludeEachOtherTheLaterSourceWins) {
  Settings settings = Parsed("trace = 'x.csv'");
  settings.push_back({.verb = "", .key = "intensity", .values = {"400"}, .origin = "e"});
  EXPECT_THAT(InjectSettings(app_, {"run"}, settings).args, ElementsAre("run", "--intensity=400"));
}

TEST_F(SettingsTest, TheVerbIsFoundAfterOptionsWithValues) {
  EXPECT_THAT(Inject({"--log-level", "run", "runs", "list"}, "name = 'x'"),
              ElementsAre("--log-level", "run", "runs", "list", "--name=x"));
  EXPECT_THAT(Inject({"run", "--zone", "runs", "--json"}, "name = 'x'"),
              ElementsAre("run", "--zone", "runs", "--json"));
}

TEST_F(SettingsTest, UnknownKeysNameFileLineAndWhatIsAllowed) {
  EXPECT_EQ(CheckError("json = true\n\n[runs]\nnme = 'x'"),
            "l.toml:4: unknown key 'nme' in [runs]; allowed are json, name");
  EXPECT_THAT(CheckError("zonne = 'DE'"), HasSubstr("l.toml:1: unknown key 'zonne'; allowed are"));
  EXPECT_EQ(
      CheckError("[runn]\nzone = 'DE'"),
      "l.toml:2: [runn] is not a verb; allowed are run, runs, [sources.NAME] and [zones.KEY]");
  EXPECT_THAT(CheckError("[runn]\n"), HasSubstr("l.toml:1: [runn] is not a verb"));
  EXPECT_THAT(CheckError("help = true"), HasSubstr("unknown key 'help'"));
  EXPECT_THAT(CheckError("inner = 1"), HasSubstr("unknown key 'inner'"));
}

TEST_F(SettingsTest, BadTomlNamesFileAndLine) {
  for (const auto* toml :
       {"\nzone = ", "\nzone = ''", "\nzone = []", "\nzone = [[1]]", "\na = 1\na = 2"}) {
    const auto settings = ParseSettings(toml, "l.toml");
    ASSERT_FALSE(settings) << toml;
    EXPECT_EQ(settings.error().code, Code::kInvalidArgument);
    EXPECT_THAT(settings.error().message, testing::MatchesRegex("l\\.toml:[23]: .*"));
  }
}

TEST_F(SettingsTest, TheEnvironmentWinsOverFilesAndReservedNamesAreNone) {
  const auto settings = LoadSettings({.files = {"/nonexistent/lowtide.toml"},
                                      .environment = {{"LOWTIDE_CPU_ENERGY", "host"},
                                                      {"LOWTIDE_FAKE_NVML", "x"},
                                                      {"LOWTIDE_SOCKET", "/run/x"},
                                                      {"LOWTIDE_TYPO", "1"},
                                                      {"LOWTIDE_ZONE", ""}}});
  ASSERT_TRUE(settings);
  const auto checked = CheckSettings(app_, *settings);
  ASSERT_TRUE(checked);
  EXPECT_THAT(checked->unknown_variables, ElementsAre("LOWTIDE_TYPO"));
  ASSERT_EQ(checked->settings.size(), 1U);
  EXPECT_EQ(checked->settings[0].key, "cpu-energy");
  EXPECT_EQ(checked->settings[0].origin, "environment LOWTIDE_CPU_ENERGY");
}

TEST_F(SettingsTest, EffectiveOnesAreThoseThatNothingReplaces) {
  Settings settings = Parsed("zone = 'DE'\njson = true\n[run]\nzone = 'FR'");
  settings.push_back({.verb = "", .key = "json", .values = {"false"}, .origin = "e"});
  const Settings effective = EffectiveSettings(settings);
  ASSERT_EQ(effective.size(), 3U);
  EXPECT_EQ(effective[0].values[0], "DE");
  EXPECT_EQ(effective[1].values[0], "FR");
  EXPECT_EQ(effective[2].origin, "e");
}

}  // namespace
}  // namespace lowtide::cli
