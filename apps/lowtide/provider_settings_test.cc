#include "provider_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "grid/providers/registry.h"

namespace lowtide::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Variables = std::map<std::string, std::string>;

ProviderSettingsBook::Lookup From(Variables variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    if (it == variables.end()) return std::nullopt;
    return it->second;
  };
}

// Settings as LoadSettings makes them: files first, then variables in the order of their names.
Settings All(std::string_view user_file, std::string_view folder_file, const Variables& variables) {
  Settings out = *ParseSettings(user_file, "/cfg/config.toml");
  const Settings folder = *ParseSettings(folder_file, "./lowtide.toml");
  out.insert(out.end(), folder.begin(), folder.end());
  SettingsSources sources;
  sources.environment.assign(variables.begin(), variables.end());
  const Settings from_variables = *LoadSettings(sources);
  out.insert(out.end(), from_variables.begin(), from_variables.end());
  return out;
}

Result<ProviderSettingsBook> Make(std::string_view user_file, std::string_view folder_file = "",
                                  const Variables& variables = {}) {
  return ProviderSettingsBook::Make(All(user_file, folder_file, variables), From(variables));
}

std::string MessageOf(const Result<ProviderSettingsBook>& book) {
  return book ? "no error" : book.error().message;
}

class KeyFile {
 public:
  explicit KeyFile(const std::string& content, unsigned mode = 0600) {
    char name[] = "/tmp/lowtide-key-XXXXXX";
    const int fd = ::mkstemp(name);
    ::close(fd);
    path_ = name;
    std::ofstream(path_) << content;
    ::chmod(path_.c_str(), mode);
  }
  ~KeyFile() { std::filesystem::remove(path_); }
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;
  const std::string& Path() const { return path_; }

 private:
  std::string path_;
};

TEST(ProviderSettingsTest, NothingSetIsNothing) {
  const auto book = Make("");
  ASSERT_TRUE(book);
  EXPECT_THAT(book->Shown(), IsEmpty());
  EXPECT_EQ(book->For("eia")->key, "");
  EXPECT_EQ(book->WhatIsMissing("eia"), "needs a key");
  EXPECT_EQ(book->WhatIsMissing("watttime"), "needs a user name and a password");
  EXPECT_FALSE(book->WhatIsMissing("energy_charts"));
  EXPECT_EQ(book->WhatIsMissing("carbon_aware_sdk"), "needs an endpoint");
}

TEST(ProviderSettingsTest, NamesThatUsersHaveAlreadyAreRead) {
  const auto book = Make("", "",
                         {{"ELECTRICITY_MAPS_API_KEY", "key-em"},
                          {"WATTTIME_USERNAME", "ada"},
                          {"WATTTIME_PASSWORD", "key-wt"},
                          {"EIA_API_KEY", "key-eia"},
                          {"ENTSOE_API_KEY", "key-entsoe"}});
  ASSERT_TRUE(book) << MessageOf(book);
  EXPECT_EQ(book->For("electricity_maps")->key, "key-em");
  EXPECT_EQ(book->For("watttime")->username, "ada");
  EXPECT_EQ(book->For("watttime")->password, "key-wt");
  EXPECT_EQ(book->For("eia")->key, "key-eia");
  EXPECT_EQ(book->For("entsoe")->key, "key-entsoe");
  for (const ProviderInfo& info : Providers()) {
    EXPECT_EQ(book->WhatIsMissing(info.name).has_value(), info.name == "carbon_aware_sdk");
  }
}

TEST(ProviderSettingsTest, TheMoreSpecialNameCounts) {
  const KeyFile file("key-of-file\n");
  const std::string user = "[sources.eia]\nkey_file = \"" + file.Path() + "\"\n";
  EXPECT_EQ(Make(user, "", {{"EIA_API_KEY", "key-old"}})->For("eia")->key, "key-of-file");
  EXPECT_EQ(Make(user, "", {{"LOWTIDE_EIA_KEY", "key-own"}})->For("eia")->key, "key-own");
  EXPECT_EQ(Make("", "", {{"LOWTIDE_EIA_KEY_FILE", file.Path()}, {"EIA_API_KEY", "key-old"}})
                ->For("eia")
                ->key,
            "key-of-file");
  EXPECT_EQ(Make("", "", {{"LOWTIDE_EIA_KEY_FILE", file.Path()}, {"LOWTIDE_EIA_KEY", "key-own"}})
                ->For("eia")
                ->key,
            "key-own");
}

TEST(ProviderSettingsTest, EverySettingIsTaken) {
  const auto book = Make(
      "[sources.electricity_maps]\nendpoint = \"https://proxy.example/em\"\nversion = \"v3\"\n"
      "key_header = \"X-Key\"\nbasis = \"direct\"\n"
      "[sources.carbon_aware_sdk]\nsignal = \"marginal\"\n"
      "zone_names = [\"IE=northeurope\", \"NL=westeurope\"]\n",
      "[sources.carbon_aware_sdk]\nendpoint = \"http://sdk.example\"\n");
  ASSERT_TRUE(book) << MessageOf(book);
  const ProviderSettings maps = *book->For("electricity_maps");
  EXPECT_EQ(maps.endpoint, "https://proxy.example/em");
  EXPECT_EQ(maps.version, "v3");
  EXPECT_EQ(maps.key_header, "X-Key");
  EXPECT_EQ(maps.basis, Basis::kDirect);
  const ProviderSettings sdk = *book->For("carbon_aware_sdk");
  EXPECT_EQ(sdk.signal, Signal::kMarginal);
  EXPECT_EQ(sdk.endpoint, "http://sdk.example");
  ASSERT_THAT(sdk.zone_names, SizeIs(2));
  EXPECT_EQ(sdk.zone_names[1].second, "westeurope");
  EXPECT_FALSE(book->WhatIsMissing("carbon_aware_sdk"));
}

TEST(ProviderSettingsTest, VariablesSetEverythingToo) {
  const auto book = Make("", "",
                         {{"LOWTIDE_ELECTRICITY_MAPS_ENDPOINT", "http://localhost:9"},
                          {"LOWTIDE_WATTTIME_ZONE_NAMES", "US-MIDA-PJM=PJM_DC,GB=UK"}});
  ASSERT_TRUE(book) << MessageOf(book);
  EXPECT_EQ(book->For("electricity_maps")->endpoint, "http://localhost:9");
  EXPECT_EQ(book->For("watttime")->zone_names[1].first, "GB");
}

TEST(ProviderSettingsTest, MistakesNameFileLineAndKey) {
  const auto fails = [](std::string_view text) { return MessageOf(Make(text)); };
  EXPECT_THAT(fails("[sources.elektro]\nkey_file = \"x\"\n"),
              ::testing::AllOf(HasSubstr("/cfg/config.toml:2"), HasSubstr("electricity_maps")));
  EXPECT_THAT(fails("[sources]\neia = 1\n"), HasSubstr("[sources] is not a source"));
  EXPECT_THAT(fails("[sources.eia]\nfrequency = 1\n"), HasSubstr("unknown key 'frequency'"));
  EXPECT_THAT(fails("[sources.eia]\nsignal = \"mean\"\n"), HasSubstr("average, marginal"));
  EXPECT_THAT(fails("[sources.eia]\nbasis = \"both\"\n"), HasSubstr("lifecycle, direct"));
  EXPECT_THAT(fails("[sources.eia]\nzone_names = \"CISO\"\n"), HasSubstr("expected ZONE=NAME"));
  EXPECT_THAT(fails("[sources.eia]\nendpoint = [\"a\", \"b\"]\n"), HasSubstr("takes one value"));
}

TEST(ProviderSettingsTest, ASecretInASettingsFileIsRefusedAndNotRepeated) {
  const std::string message = MessageOf(Make("[sources.eia]\nkey = \"hush-hush\"\n"));
  EXPECT_THAT(message, HasSubstr("key_file"));
  EXPECT_THAT(message, Not(HasSubstr("hush")));
}

TEST(ProviderSettingsTest, AFolderCannotSendAKeyElsewhere) {
  const std::string elsewhere = "[sources.eia]\nendpoint = \"https://elsewhere.example\"\n";
  EXPECT_THAT(MessageOf(Make("", elsewhere)), HasSubstr("cannot choose"));
  EXPECT_TRUE(Make(elsewhere));
  EXPECT_TRUE(Make("", "[sources.eia]\nendpoint = \"http://127.0.0.1:80/x\"\n"));
  EXPECT_TRUE(Make("", "[sources.energy_charts]\nendpoint = \"https://elsewhere.example\"\n"));
  EXPECT_FALSE(Make("", "[sources.eia]\nendpoint = \"http://localhost.elsewhere.example\"\n"));
}

TEST(ProviderSettingsTest, SecretsAreShownAsSet) {
  const KeyFile file("hush-hush-file");
  const auto book = Make("[sources.entsoe]\nkey_file = \"" + file.Path() + "\"\n", "",
                         {{"LOWTIDE_EIA_KEY", "hush-hush"},
                          {"WATTTIME_USERNAME", "ada"},
                          {"WATTTIME_PASSWORD", "hush-hush"}});
  ASSERT_TRUE(book);
  bool seen = false;
  for (const ShownProviderSetting& row : book->Shown()) {
    EXPECT_THAT(row.value, Not(HasSubstr("hush"))) << row.key;
    seen = seen || (row.provider == "eia" && row.value == "set" &&
                    row.origin == "environment LOWTIDE_EIA_KEY");
    EXPECT_EQ(row.provider == "entsoe", row.key == "key_file");
  }
  EXPECT_TRUE(seen);
}

TEST(ProviderSettingsTest, AKeyFileThatOthersCanReadIsWarnedOf) {
  const KeyFile open("key", 0644);
  const KeyFile closed("key", 0600);
  EXPECT_THAT(Make("[sources.eia]\nkey_file = \"" + open.Path() + "\"\n")->Warnings(),
              ::testing::ElementsAre(HasSubstr("chmod 600")));
  EXPECT_THAT(Make("[sources.eia]\nkey_file = \"" + closed.Path() + "\"\n")->Warnings(), IsEmpty());
}

TEST(ProviderSettingsTest, KeyFilesThatAreNoneAreErrorsWithoutTheirContent) {
  const auto key = [](const std::string& path) {
    return Make("[sources.eia]\nkey_file = \"" + path + "\"\n")->For("eia");
  };
  EXPECT_EQ(key("/nonexistent/key").error().code, Code::kNotFound);
  EXPECT_THAT(key("/nonexistent/key").error().message, HasSubstr("key_file"));
  const KeyFile empty(" \n");
  EXPECT_THAT(key(empty.Path()).error().message, HasSubstr("is empty"));
  const KeyFile lines("hush-hush\nmore\n");
  EXPECT_THAT(key(lines.Path()).error().message, HasSubstr("more than one line"));
  EXPECT_THAT(key(lines.Path()).error().message, Not(HasSubstr("hush")));
  const KeyFile huge(std::string(5000, 'h'));
  EXPECT_EQ(key(huge.Path()).error().code, Code::kResourceExhausted);
  // Only the one that is asked for is read.
  EXPECT_TRUE(Make("[sources.eia]\nkey_file = \"/nonexistent\"\n")->For("entsoe"));
}

TEST(ProviderSettingsTest, AKeyFilesPathIsRelativeToItsSettingsFile) {
  const auto book = Make("[sources.eia]\nkey_file = \"eia.key\"\n");
  EXPECT_EQ(book->Shown()[0].value, "/cfg/eia.key");
}

TEST(ProviderSettingsTest, ItsSettingsAreNoOptionsOfAVerb) {
  for (const Setting& setting : All("[sources.eia]\nbasis = \"direct\"\n", "",
                                    {{"LOWTIDE_EIA_KEY", "x"}, {"LOWTIDE_ZONE", "DE"}})) {
    EXPECT_EQ(IsProviderSetting(setting), setting.key != "zone") << setting.key;
  }
}

}  // namespace
}  // namespace lowtide::cli
