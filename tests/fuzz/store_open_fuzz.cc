// Any bytes as the store's file: opening, listing, loading, rendering, writing, deleting and
// compacting give an answer or an error.
#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "run/counterfactuals.h"
#include "run/report.h"
#include "run/report_codecarbon.h"
#include "run/report_html.h"
#include "run/report_json.h"
#include "run/report_text.h"
#include "store/store.h"

namespace {

// One folder for all inputs of this process, removed at its end.
class Folder {
 public:
  Folder() {
    // In memory where there is such a folder: each commit is synced, which takes long on a disk.
    std::error_code ignored;
    const std::filesystem::path parent = std::filesystem::is_directory("/dev/shm", ignored)
                                             ? std::filesystem::path("/dev/shm")
                                             : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "lowtide-fuzz-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) __builtin_trap();
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path File() const { return path_ / "lowtide.db"; }

 private:
  std::filesystem::path path_;
};

// Whatever a damaged file holds can be shown.
void Render(lowtide::RunData run) {
  auto counterfactuals = lowtide::RunCounterfactuals(run);
  const auto report = lowtide::BuildReport(std::move(run), std::move(counterfactuals));
  (void)lowtide::DumpJson(lowtide::ReportJson(report));
  (void)lowtide::FormatSummary(report, lowtide::TextStyle::kPlain);
  (void)lowtide::FormatEpochTable(report);
  (void)lowtide::ReportHtml(report);
  (void)lowtide::CodecarbonRow(report, lowtide::LocalTimeAt(std::chrono::minutes(60)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  const auto path = folder.File();
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    std::filesystem::remove(path.string() + suffix, ignored);
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!lowtide::WriteFileDurably(path, bytes)) return 0;

  auto store = lowtide::Store::Open(path);
  if (!store) {
    if (store.error().message.find(path.string()) == std::string::npos) __builtin_trap();
    return 0;
  }
  if (const auto runs = (*store)->ListRuns("", 100)) {
    if (runs->size() > 100) __builtin_trap();
    for (const auto& listed : *runs) {
      if (auto run = (*store)->LoadRun(listed.record.run_id)) Render(*std::move(run));
    }
  }
  (void)(*store)->LoadRun("last");
  (void)(*store)->LoadCurve({"NVIDIA A40", "535", "resnet", 128, 1});
  if (const auto curves = (*store)->ListCurves("")) {
    for (const auto& curve : *curves) {
      if (curve.points.empty() || curve.key.gpus < 0) __builtin_trap();
      (void)lowtide::FormatTime(curve.saved_at);
      (void)(*store)->DeleteCurve(curve.key);
    }
  }
  lowtide::RunRecord record;
  record.run_id = "01FUZZ";
  if ((*store)->BeginRun(record)) {
    lowtide::RunUpdate update;
    update.samples = {{0, 1000, 1, 1.5, 300}};
    const auto updated = (*store)->Update("01FUZZ", update);
    const auto loaded = (*store)->LoadRun("01FUZZ");
    // What was accepted is there.
    if (updated && loaded && loaded->samples.size() != 1) __builtin_trap();
  }
  if (const auto runs = (*store)->ListRuns("", 2); runs && !runs->empty()) {
    (void)(*store)->DeleteRuns(std::vector{runs->back().record.run_id});
  }
  (void)(*store)->Compact(lowtide::FromUnixMillis(1'800'000'000'000));
  return 0;
}
