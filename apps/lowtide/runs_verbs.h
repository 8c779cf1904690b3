// What the verbs below `lowtide runs` have in common.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "base/result.h"
#include "environment.h"
#include "store/store.h"

namespace CLI {
class App;
}

namespace lowtide::cli {

void AddRunsDelete(CLI::App& runs, int& exit_code);
void AddRunsCurves(CLI::App& runs, int& exit_code);
void AddRunsForgetCurve(CLI::App& runs, int& exit_code);

inline constexpr const char* kRunIdHelp = "Run id, a unique beginning of one, or \"last\"";

// kNotFound where there is no store yet: looking must not make one.
Result<std::unique_ptr<Store>> OpenExistingStore();

inline void PrintOut(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

inline void Finish(const Status& status, int& exit_code) {
  exit_code = status ? 0 : PrintError(status.error());
}

}  // namespace lowtide::cli
