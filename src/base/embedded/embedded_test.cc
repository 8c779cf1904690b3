#include "base/embedded/embedded.h"

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"

namespace lowtide {
namespace {

TEST(EmbeddedTest, EveryFileHasTheBytesOfTheRepository) {
  ASSERT_FALSE(EmbeddedFiles().empty());
  for (const EmbeddedEntry& entry : EmbeddedFiles()) {
    const auto on_disk = ReadFile("data/" + std::string(entry.name));
    ASSERT_TRUE(on_disk) << on_disk.error().message;
    EXPECT_EQ(entry.Bytes(), *on_disk) << entry.name;
  }
}

TEST(EmbeddedTest, FindsByPathBelowData) {
  const auto csv = FindEmbedded("hardware/cpu_power.csv");
  ASSERT_TRUE(csv);
  EXPECT_TRUE(csv->starts_with("Name,TDP\n"));
  EXPECT_FALSE(FindEmbedded("hardware/cpu_power"));
  EXPECT_FALSE(FindEmbedded(""));
}

TEST(EmbeddedTest, AnUnknownNameIsAnErrorThatListsTheNames) {
  const auto missing = EmbeddedFile("hardware/none.csv");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_NE(missing.error().message.find("'hardware/none.csv'"), std::string::npos);
  EXPECT_NE(missing.error().message.find("hardware/cpu_power.csv"), std::string::npos);
}

}  // namespace
}  // namespace lowtide
