// Whatever a training process writes, a mark that is accepted is within the documented bounds, and
// a refusal is a short message that makes a well-formed reply.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <variant>

#include "base/json.h"
#include "run/marks.h"

namespace {

using lowtide::kMaxMarkNumber;

void Require(bool holds) {
  if (!holds) std::abort();
}

void RequireWithin(std::optional<std::int64_t> value, std::int64_t min, std::int64_t max) {
  Require(!value || (*value >= min && *value <= max));
}

void RequireSane(const lowtide::MarkMetrics& metrics) {
  Require(metrics.size() <= lowtide::kMaxMarkMetrics);
  for (const auto& [name, value] : metrics) {
    Require(!name.empty() && name.size() <= lowtide::kMaxMarkNameBytes);
    Require(!value || std::isfinite(*value));
  }
}

struct CheckBounds {
  void operator()(const lowtide::HelloMark& m) const {
    Require(m.client.size() <= lowtide::kMaxMarkNameBytes);
    RequireWithin(m.pid, 1, INT32_MAX);
    RequireWithin(m.rank, 0, lowtide::kMaxMarkRank);
    RequireWithin(m.local_rank, 0, lowtide::kMaxMarkRank);
  }
  void operator()(const lowtide::EpochBeginMark& m) const {
    RequireWithin(m.epoch, 0, kMaxMarkNumber);
    RequireWithin(m.total_epochs, 1, kMaxMarkNumber);
  }
  void operator()(const lowtide::EpochEndMark& m) const {
    RequireWithin(m.epoch, 0, kMaxMarkNumber);
    RequireSane(m.metrics);
  }
  void operator()(const lowtide::StepMark& m) const { RequireWithin(m.count, 1, kMaxMarkNumber); }
  void operator()(const lowtide::MetricsMark& m) const { RequireSane(m.metrics); }
  void operator()(const lowtide::TotalEpochsMark& m) const {
    RequireWithin(m.value, 1, kMaxMarkNumber);
  }
  void operator()(const lowtide::BatchSizeMark& m) const {
    RequireWithin(m.value, 1, kMaxMarkNumber);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto mark = lowtide::ParseMark(line);
  if (mark) {
    std::visit(CheckBounds{}, *mark);
    // The reference parser must take it for an object that says the same name.
    const auto json = lowtide::ParseJson(line, "line");
    Require(json.has_value() && json->at("mark") == lowtide::MarkName(*mark));
    return 0;
  }
  Require(!mark.error().message.empty() && mark.error().message.size() < 1024);
  lowtide::MarkReply reply;
  reply.error = mark.error().message;
  const std::string text = lowtide::FormatReply(reply);
  Require(text.find('\n') == text.size() - 1 && text.size() < lowtide::kMaxMarkBytes);
  Require(lowtide::JsonBool(*lowtide::ParseJson(text, "reply"), "ok") == false);
  return 0;
}
