// What `lowtide run` prints while the command runs and after it: all on standard error, since
// standard output is the command's.
#pragma once

#include <cstdint>

#include "run/report_text.h"
#include "run/session.h"

namespace lowtide::cli {

enum class LiveTable : std::uint8_t { kShow, kHide };

class RunPrinter final : public RunObserver {
 public:
  RunPrinter(LiveTable table, double pue) : table_(table), pue_(pue) {}

  void OnEpochEnd(const EpochRecord& epoch, std::optional<std::int64_t> total_epochs) override;
  void OnDecision(const DecisionRecord& decision) override;
  void OnEvent(const EventRecord& event) override;

  // Whether the epochs have been shown as they came.
  bool ShownEpochs() const { return header_shown_; }

 private:
  LiveTable table_;
  double pue_;
  bool header_shown_ = false;
};

}  // namespace lowtide::cli
