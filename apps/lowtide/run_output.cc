#include "run_output.h"

#include <fmt/format.h>

#include <string>

#include "base/log.h"

namespace lowtide::cli {
namespace {

void PrintLine(const std::string& line) { WriteToStandardError(line + "\n", WhenBlocked::kDrop); }

}  // namespace

void RunPrinter::OnEpochEnd(const EpochRecord& epoch, std::optional<std::int64_t> /*total*/) {
  if (table_ == LiveTable::kHide) return;
  if (!header_shown_) PrintLine(FormatEpochHeader());
  header_shown_ = true;
  TotalsRecord totals;
  totals.energy_known = epoch.energy > Joules(0);
  PrintLine(FormatEpochRow(MakeEpochLine(epoch, totals, pue_)));
}

void RunPrinter::OnDecision(const DecisionRecord& decision) {
  LogInfo(decision.power_limit
              ? fmt::format("power limit {:.0f} W: {}", decision.power_limit->v, decision.reason)
              : decision.reason);
}

void RunPrinter::OnEvent(const EventRecord& event) {
  Log(event.kind == "warning" ? LogLevel::kWarning : LogLevel::kInfo, event.message);
}

}  // namespace lowtide::cli
