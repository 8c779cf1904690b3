// JSON text to values and back; the library's own header stays in .cc files where it can.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lowtide {

using Json = nlohmann::ordered_json;

// Parses one document. The error names `name`, line and column. Nesting is bounded at 64.
Result<Json> ParseJson(std::string_view text, std::string_view name);

// The member, when it is there and has the type; nothing otherwise.
std::optional<double> JsonNumber(const Json& object, std::string_view key);
std::optional<std::string> JsonString(const Json& object, std::string_view key);
std::optional<bool> JsonBool(const Json& object, std::string_view key);

// One line; invalid UTF-8 is replaced, never thrown on.
std::string DumpJson(const Json& value);
// Indented by 2.
std::string DumpJsonPretty(const Json& value);

}  // namespace lowtide
