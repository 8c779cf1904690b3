// The store in one SQLite file.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/schema.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace lowtide {

class SqliteStore final : public Store {
 public:
  static Result<std::unique_ptr<SqliteStore>> Open(const std::filesystem::path& path,
                                                   const StoreOptions& options);

  Status BeginRun(const RunRecord& run) override;
  Status Update(std::string_view run_id, const RunUpdate& update) override;
  Status EndRun(std::string_view run_id, const RunEnd& end) override;
  Result<std::vector<RunData>> ListRuns(std::string_view name, std::size_t limit) override;
  Result<RunData> LoadRun(std::string_view id) override;
  Result<std::vector<std::string>> DeleteRuns(std::span<const std::string> ids) override;
  Status SaveCurve(const CurveKey& key, const std::vector<CurvePointRecord>& points,
                   TimePoint now) override;
  Result<std::vector<CurvePointRecord>> LoadCurve(const CurveKey& key) override;
  Result<std::vector<StoredCurve>> ListCurves(std::string_view job_name) override;
  Status DeleteCurve(const CurveKey& key) override;
  Status Compact(TimePoint now) override;

 private:
  explicit SqliteStore(std::unique_ptr<sqlite::Database> db) : db_(std::move(db)) {}

  std::mutex mutex_;
  std::unique_ptr<sqlite::Database> db_;
};

}  // namespace lowtide
