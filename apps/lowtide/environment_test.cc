#include "environment.h"

#include <gtest/gtest.h>

namespace lowtide::cli {
namespace {

const std::vector<OptionOrigin> kOrigins = {{"--policy", "environment LOWTIDE_POLICY"},
                                            {"--zone", "./lowtide.toml:3"}};

TEST(OriginsIn, NamesThePlaceOfTheBlamedOption) {
  EXPECT_EQ(OriginsIn("--policy: 'x' is not a policy", kOrigins),
            " (set in environment LOWTIDE_POLICY)");
  EXPECT_EQ(OriginsIn("--policy chase needs an intensity: give --zone", kOrigins),
            " (set in environment LOWTIDE_POLICY; --zone is set in ./lowtide.toml:3)");
  EXPECT_EQ(OriginsIn("--trace excludes --zone", kOrigins), " (--zone is set in ./lowtide.toml:3)");
}

TEST(OriginsIn, SaysNothingOfOtherOptions) {
  EXPECT_EQ(OriginsIn("--policy-file: no", kOrigins), "");
  EXPECT_EQ(OriginsIn("--zones: no", kOrigins), "");
  EXPECT_EQ(OriginsIn("no policy, no zone", kOrigins), "");
  EXPECT_EQ(OriginsIn("--zone: no", {}), "");
  EXPECT_EQ(OriginsIn("--zones, --zone", kOrigins), " (--zone is set in ./lowtide.toml:3)");
}

}  // namespace
}  // namespace lowtide::cli
