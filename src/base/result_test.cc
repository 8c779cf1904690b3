#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/provenance.h"

namespace lowtide {
namespace {

Result<std::unique_ptr<int>> Make(int value) {
  if (value < 0) return Fail(Code::kInvalidArgument, "negative");
  return std::make_unique<int>(value);
}
Status Check(int value) {
  if (value > 9) return Fail(Code::kInfeasible, "too large");
  return {};
}
Result<int> Sum(int a, int b) {
  LOWTIDE_TRY(const auto left, Make(a));
  LOWTIDE_TRY(const auto right, Make(b));
  LOWTIDE_TRY_STATUS(Check(*left + *right));
  return *left + *right;
}

TEST(Try, BindsValuesAndMovesThem) { EXPECT_EQ(Sum(2, 3).value(), 5); }

TEST(Try, ReturnsTheFirstError) {
  EXPECT_EQ(Sum(-1, 3).error().code, Code::kInvalidArgument);
  EXPECT_EQ(Sum(5, 5).error().message, "too large");
}

TEST(Annotate, PutsTheContextInFrontAndKeepsTheCode) {
  const Error error = Annotate(Error{Code::kDataLoss, "bad page"}, "lowtide.db").error();
  EXPECT_EQ(error.code, Code::kDataLoss);
  EXPECT_EQ(error.message, "lowtide.db: bad page");
}

TEST(ExitCodeFor, IsTheDocumentedTable) {
  EXPECT_EQ(ExitCodeFor(Code::kInternal), 1);
  EXPECT_EQ(ExitCodeFor(Code::kResourceExhausted), 1);
  EXPECT_EQ(ExitCodeFor(Code::kInvalidArgument), 2);
  EXPECT_EQ(ExitCodeFor(Code::kNotFound), 3);
  EXPECT_EQ(ExitCodeFor(Code::kUnavailable), 3);
  EXPECT_EQ(ExitCodeFor(Code::kDeadlineExceeded), 3);
  EXPECT_EQ(ExitCodeFor(Code::kDataLoss), 3);
  EXPECT_EQ(ExitCodeFor(Code::kUnimplemented), 3);
  EXPECT_EQ(ExitCodeFor(Code::kPermissionDenied), 4);
  EXPECT_EQ(ExitCodeFor(Code::kInfeasible), 5);
}

TEST(CodeName, IsStable) {
  EXPECT_STREQ(CodeName(Code::kPermissionDenied), "permission_denied");
  EXPECT_STREQ(CodeName(Code::kInvalidArgument), "invalid_argument");
}

TEST(Provenance, NamesAreReadBack) {
  for (const auto p : {Provenance::kMeasured, Provenance::kModelled, Provenance::kSimulated,
                       Provenance::kMissing}) {
    EXPECT_EQ(ParseProvenance(ProvenanceName(p)), p);
  }
  EXPECT_EQ(ParseProvenance("estimated"), std::nullopt);
}

}  // namespace
}  // namespace lowtide
