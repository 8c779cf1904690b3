#include "base/embedded/embedded.h"

#include <fmt/format.h>

#include <string>

namespace lowtide {

extern const EmbeddedTable kDataFiles;  // generated

std::optional<std::string_view> EmbeddedTable::Find(std::string_view name) const {
  for (const EmbeddedEntry& entry : entries) {
    if (entry.name == name) return entry.Bytes();
  }
  return std::nullopt;
}

std::optional<std::string_view> FindEmbedded(std::string_view name) {
  return kDataFiles.Find(name);
}

Result<std::string_view> EmbeddedFile(std::string_view name) {
  if (const auto bytes = FindEmbedded(name)) return *bytes;
  std::string names;
  for (const EmbeddedEntry& entry : EmbeddedFiles()) {
    names += names.empty() ? "" : ", ";
    names += entry.name;
  }
  return Fail(Code::kNotFound, fmt::format("built-in file '{}': there are {}", name, names));
}

std::span<const EmbeddedEntry> EmbeddedFiles() { return kDataFiles.entries; }

}  // namespace lowtide
