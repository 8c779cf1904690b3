// The tables that are part of the program, parsed.
#pragma once

#include "base/result.h"
#include "grid/zone_table.h"

namespace lowtide::cli {

Result<ZoneTable> EmbeddedZoneTable();

}  // namespace lowtide::cli
