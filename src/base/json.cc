#include "base/json.h"

#include <fmt/format.h>

namespace lowtide {
namespace {

constexpr int kMaxDepth = 64;

// "[json.exception.parse_error.101] parse error at ..." without the library's own tag.
std::string_view WithoutTag(std::string_view what) {
  const auto end = what.find("] ");
  return what.starts_with('[') && end != std::string_view::npos ? what.substr(end + 2) : what;
}

}  // namespace

Result<Json> ParseJson(std::string_view text, std::string_view name) {
  bool too_deep = false;
  const auto bound_depth = [&too_deep](int depth, Json::parse_event_t event, Json& /*value*/) {
    // `depth` counts the containers around the one that starts.
    const bool starts =
        event == Json::parse_event_t::array_start || event == Json::parse_event_t::object_start;
    if (starts && depth >= kMaxDepth) too_deep = true;
    return !too_deep;
  };
  try {
    Json value = Json::parse(text, bound_depth);
    if (too_deep) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: nested deeper than {} levels", name, kMaxDepth));
    }
    return value;
  } catch (const Json::exception& e) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: {}", name, WithoutTag(e.what())));
  }
}

std::optional<double> JsonNumber(const Json& object, std::string_view key) {
  if (!object.is_object()) return std::nullopt;
  const auto it = object.find(std::string(key));
  if (it == object.end() || !it->is_number()) return std::nullopt;
  return it->get<double>();
}

std::optional<std::string> JsonString(const Json& object, std::string_view key) {
  if (!object.is_object()) return std::nullopt;
  const auto it = object.find(std::string(key));
  if (it == object.end() || !it->is_string()) return std::nullopt;
  return it->get<std::string>();
}

std::optional<bool> JsonBool(const Json& object, std::string_view key) {
  if (!object.is_object()) return std::nullopt;
  const auto it = object.find(std::string(key));
  if (it == object.end() || !it->is_boolean()) return std::nullopt;
  return it->get<bool>();
}

std::string DumpJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string DumpJsonPretty(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lowtide
