// The C++ client reads whatever a server sends: what a full JSON parser takes for an object with a
// boolean "ok", it must read in the same way; and a number or text of its own it never invents.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "../../include/lowtide/marks_json.h"
#include "base/json.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto reply = lowtide::marks::json::ParseReply(line);
  if (reply) Require(std::isfinite(reply->delay_s));

  // A metric's name that the client would send is one that JSON allows, unchanged.
  lowtide::marks::json::Writer writer("metrics");
  writer.Metrics({{std::string(line), 0.1}});
  const std::string sent = std::move(writer).Finish();
  const auto parsed = lowtide::ParseJson(sent, "sent");
  Require(parsed.has_value());
  for (const auto& [name, value] : parsed->at("metrics").items()) Require(name == line);

  // To the full parser a NUL byte is the end of the text.
  if (line.find('\0') != std::string_view::npos) return 0;
  const auto json = lowtide::ParseJson(line, "reply");
  if (!json || !json->is_object()) return 0;
  const auto ok = lowtide::JsonBool(*json, "ok");
  if (!ok) return 0;
  Require(reply.has_value());
  Require(reply->ok == *ok);
  const auto delay = lowtide::JsonNumber(*json, "delay_s");
  if (delay && std::abs(*delay) < 1e15) {
    Require(std::abs(reply->delay_s - *delay) <= 1e-9 * std::max(1.0, std::abs(*delay)));
  }
  return 0;
}
