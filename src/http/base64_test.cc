#include "http/base64.h"

#include <gtest/gtest.h>

namespace lowtide {
namespace {

TEST(Base64, HasTheVectorsOfTheStandard) {  // RFC 4648 section 10
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) EXPECT_EQ(Base64(bytes), text);
  EXPECT_EQ(Base64("\xfb\xff\xfe"), "+//+");
}

}  // namespace
}  // namespace lowtide
