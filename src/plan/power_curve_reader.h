// Power curves from text: Zeus's two CSV forms, Zeus's profile JSON and Lowtide's own JSON.
//
//   summary CSV   dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power;
//   the
//                 selector DATASET/NETWORK/BATCH_SIZE/OPTIMIZER picks the job. Work unit: an epoch.
//   profile CSV   window log with windows `__GlobalPowerLimitOptimizer_<W>`, `elapsed_time` [s] and
//                 one `gpu<i>_energy` column [J] a GPU. Work unit: a window (a fixed number of
//                 steps). Other windows in the log are passed over.
//   profile JSON  {"measurements":[{"power_limit":W,"energy":J,"time":s}]}. Work unit: a window.
//   Lowtide JSON  {"power_curve":[{"limit_w","throughput_per_s","draw_w"}],"device","job","gpus"};
//                 a JSON report of a run is one too.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/power_curve.h"

namespace lowtide {

// FILE[:SELECTOR]. A colon after ".csv" or ".json" separates; a text that ends in one of the two
// is a file name as a whole; otherwise the last colon separates.
struct CurveArgument {
  std::string file;
  std::string selector;  // empty: none given
};
CurveArgument SplitCurveArgument(std::string_view text);

// Reads the form that `text` is in. `file_name` is used in messages, and where the file itself does
// not say them, the GPU model and the network are taken from its last part
// (`summary_power_<gpu>.csv`, `<GPU>+<network>+gpu<ids>.csv`).
// `selector`: for summary CSVs only. Its parts may be `*` or left out as long as one job remains.
// `gpus_if_unstated`: how many GPUs the energies cover, for a file that does not say (profile JSON,
// Lowtide JSON without "gpus"); nothing means 1.
Result<PowerCurve> ReadPowerCurve(std::string_view text, std::string_view file_name,
                                  std::string_view selector = {},
                                  std::optional<int> gpus_if_unstated = std::nullopt);

// Lowtide's own JSON form, indented; ReadPowerCurve gives the same curve back.
std::string WritePowerCurve(const PowerCurve& curve);

}  // namespace lowtide
