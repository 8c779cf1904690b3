// [zones.KEY]: settings that hold where that zone is meant, such as a chain of sources of its own.
// They count more than the same file's other settings, and less than what is typed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "grid/zone_table.h"
#include "settings.h"

namespace lowtide::cli {

bool IsZoneSetting(const Setting& setting);

// kInvalidArgument, naming file, line and what is allowed: KEY is no zone, or the setting is not
// one that a zone can have (sources, signal).
Status CheckZoneSettings(const Settings& settings, const ZoneTable& zones);

// `settings` as they hold for the zone that is typed in `args` (as --zone or as the ZONE of the
// verb) or, where none is, set: those of [zones.KEY] are as if they stood at the top of their file,
// those of other zones are gone. A zone given as a place is not looked up and has none.
Settings SettingsForZone(const CLI::App& app, const std::vector<std::string>& args,
                         const Settings& settings, const ZoneTable& zones);

}  // namespace lowtide::cli
