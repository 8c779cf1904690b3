// Files of data/ carried inside the program, so that it needs none beside it. Which ones:
// CMakeLists.txt in this folder.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace lowtide {

struct EmbeddedEntry {
  std::string_view name;  // path below the embedded folder: "hardware/cpu_power.csv"
  const char* begin;
  const char* end;

  std::string_view Bytes() const { return {begin, end}; }
};

// What lowtide_embed (cmake/LowtideEmbed.cmake) generates.
struct EmbeddedTable {
  std::span<const EmbeddedEntry> entries;

  std::optional<std::string_view> Find(std::string_view name) const;
};

// The bytes of data/<name> as they were at build time; valid for the life of the program.
std::optional<std::string_view> FindEmbedded(std::string_view name);

// As FindEmbedded, with an error that names the file and those there are. kNotFound.
Result<std::string_view> EmbeddedFile(std::string_view name);

// Every file of data/ in the program.
std::span<const EmbeddedEntry> EmbeddedFiles();

}  // namespace lowtide
