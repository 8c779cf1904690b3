// One function per verb: adds it to the command line. When the verb was chosen, its callback does
// the work and stores the exit code of the process.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace lowtide::cli {

// `command`: what stood after "--", untouched.
void AddRunVerb(CLI::App& app, const std::vector<std::string>& command, int& exit_code);
void AddDoctorVerb(CLI::App& app, int& exit_code);
void AddPlanVerb(CLI::App& app, int& exit_code);
void AddIntensityVerb(CLI::App& app, int& exit_code);
void AddForecastVerb(CLI::App& app, int& exit_code);
void AddRunsVerb(CLI::App& app, int& exit_code);
void AddMarkVerb(CLI::App& app, int& exit_code);
// Zones of the grid, cloud regions, and what lies near a place.
void AddZonesVerb(CLI::App& app, int& exit_code);
void AddConfigVerb(CLI::App& app, int& exit_code);
void AddCompletionVerb(CLI::App& app, int& exit_code);
void AddVersionVerb(CLI::App& app, int& exit_code);
// Puts power limits back after a run that could not do so itself; also the watchdog's program.
void AddRestoreVerb(CLI::App& app, int& exit_code);

}  // namespace lowtide::cli
