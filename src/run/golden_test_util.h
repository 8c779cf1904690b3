// Compares text with a file under tests/data/report; LOWTIDE_UPDATE_GOLDEN=1 rewrites the file.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/file.h"

namespace lowtide {

inline void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = "tests/data/report/" + name;
  if (const char* update = std::getenv("LOWTIDE_UPDATE_GOLDEN");
      update != nullptr && std::string(update) == "1") {
    std::ofstream(path, std::ios::binary) << text;
  }
  const auto expected = ReadFile(path);
  ASSERT_TRUE(expected) << expected.error().message
                        << " (LOWTIDE_UPDATE_GOLDEN=1 writes it; run from the repository's root)";
  EXPECT_EQ(text, *expected) << path << " differs; LOWTIDE_UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace lowtide
