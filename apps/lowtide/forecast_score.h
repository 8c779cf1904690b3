// lowtide forecast score: how good each method's forecasts of a trace would have been.
#pragma once

namespace CLI {
class App;
}

namespace lowtide::cli {

// Adds `score` to the verb `forecast`.
void AddForecastScore(CLI::App& forecast, int& exit_code);

}  // namespace lowtide::cli
