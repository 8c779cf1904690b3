// The tables of the store, and how a file gets and keeps them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/result.h"
#include "store/sqlite.h"

namespace lowtide {

// "LwTd": marks the file as ours (PRAGMA application_id).
inline constexpr std::int64_t kApplicationId = 0x4C775464;
// PRAGMA user_version. A newer one is refused, an older one migrated.
inline constexpr std::int64_t kSchemaVersion = 2;

struct StoreOptions {
  std::chrono::milliseconds busy_timeout{5000};
  // Bounds the file, in pages of 4 KiB; 0: no bound but the disk's.
  std::int64_t max_pages = 0;
};

// Opens `path`, making the file (0600), its folder (0700) and its tables where absent. Nothing is
// written to a file that is not ours. Errors as Store::Open.
Result<std::unique_ptr<sqlite::Database>> OpenDatabase(const std::filesystem::path& path,
                                                       const StoreOptions& options);

}  // namespace lowtide
