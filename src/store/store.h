// The runs of this user, in SQLite (WAL): every commit survives SIGKILL; a power loss costs at most
// the last second.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/records.h"

namespace lowtide {

// Thread-safe: calls are serialised. Several processes may have the same store open.
class Store {
 public:
  // Creates the file and its folder when absent. kDataLoss when the file is not a Lowtide store or
  // is damaged; kUnimplemented when a newer Lowtide wrote it.
  // `patience`: how long a call waits for another process that is writing.
  static Result<std::unique_ptr<Store>> Open(
      const std::filesystem::path& path,
      std::chrono::milliseconds patience = std::chrono::milliseconds(5000));
  virtual ~Store() = default;

  virtual Status BeginRun(const RunRecord& run) = 0;
  virtual Status Update(std::string_view run_id, const RunUpdate& update) = 0;
  virtual Status EndRun(std::string_view run_id, const RunEnd& end) = 0;

  // Newest first; `name` filters when not empty. Samples, intensity and events are left empty. A
  // run whose writer is gone without EndRun is reported kInterrupted.
  virtual Result<std::vector<RunData>> ListRuns(std::string_view name, std::size_t limit) = 0;
  // `id` is a run id, a unique prefix of one, or "last". kNotFound, kInvalidArgument (ambiguous).
  virtual Result<RunData> LoadRun(std::string_view id) = 0;
  // All of them (ids as for LoadRun) or, on an error, none; gives their whole ids, each once, in
  // the order asked. A run that still goes on is kInvalidArgument. What they held is overwritten in
  // the file.
  virtual Result<std::vector<std::string>> DeleteRuns(std::span<const std::string> ids) = 0;

  virtual Status SaveCurve(const CurveKey& key, const std::vector<CurvePointRecord>& points,
                           TimePoint now) = 0;
  // Empty when there is none.
  virtual Result<std::vector<CurvePointRecord>> LoadCurve(const CurveKey& key) = 0;
  // By job, GPU model, driver, batch size and number of GPUs; `job_name` filters when not empty.
  virtual Result<std::vector<StoredCurve>> ListCurves(std::string_view job_name) = 0;
  // kNotFound when there is none.
  virtual Status DeleteCurve(const CurveKey& key) = 0;

  // Seconds older than a day become minutes: a 30-day run on 8 GPUs stays under 50 MB.
  virtual Status Compact(TimePoint now) = 0;
};

// Time-ordered unique id: 48 bits of milliseconds and 80 random bits in Crockford's base 32 (a
// ULID).
std::string NewRunId(TimePoint now);

// The identity of the calling process, and whether the process of an identity still lives.
Result<ProcessIdentity> ThisProcess();
bool IsAlive(const ProcessIdentity& process);

}  // namespace lowtide
