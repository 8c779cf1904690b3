// The marks protocol, version 1, as the server sees it: one line of JSON from a training process
// becomes a Mark, and a MarkReply becomes one line. docs/reference/marks.md is the contract.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/units.h"

namespace lowtide {

inline constexpr int kMarksProtocol = 1;
inline constexpr std::size_t kMaxMarkBytes = std::size_t{64} << 10U;  // with its newline
inline constexpr std::size_t kMaxMarkMetrics = 256;
inline constexpr std::size_t kMaxMarkNameBytes = 128;       // of a metric, of a client
inline constexpr std::int64_t kMaxMarkNumber = 1000000000;  // epochs, steps, batch size
inline constexpr std::int64_t kMaxMarkRank = 1000000;
inline constexpr Seconds kMaxMarkDelay{60};

// By name; nothing where the training process had a NaN or an infinity (null on the wire).
using MarkMetrics = std::map<std::string, std::optional<double>>;

struct HelloMark {
  std::string client;  // "python/0.1.0"; empty when it did not say
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> local_rank;
};
struct EpochBeginMark {
  std::int64_t epoch = 0;
  // One more than the highest epoch number that will be run.
  std::optional<std::int64_t> total_epochs;
};
struct EpochEndMark {
  std::int64_t epoch = 0;
  MarkMetrics metrics;
};
struct StepMark {
  std::int64_t count = 1;  // steps completed since the last step mark
};
struct MetricsMark {
  MarkMetrics metrics;
};
struct TotalEpochsMark {
  std::int64_t value = 1;
};
struct BatchSizeMark {
  std::int64_t value = 1;  // samples per step, over all ranks
};

using Mark = std::variant<HelloMark, EpochBeginMark, EpochEndMark, StepMark, MetricsMark,
                          TotalEpochsMark, BatchSizeMark>;

// "epoch_begin", ...: the value of the key "mark".
std::string_view MarkName(const Mark& mark);

// Parses one line, without its newline (a "\r" before it is fine). Every number of the result is
// finite and within the bounds above; keys that the protocol does not know are ignored, known keys
// must be there once and have the right type. The error says which key, its value, what is allowed.
Result<Mark> ParseMark(std::string_view line);

struct MarkReply {
  std::optional<std::string> error;   // set: refused, and nothing else is said
  std::optional<std::string> run_id;  // the answer to hello
  std::optional<Seconds> delay;       // how long the client waits before it goes on
};

// One line with its newline. A delay is cut to [0, kMaxMarkDelay]; a NaN or zero one is left out.
std::string FormatReply(const MarkReply& reply);

}  // namespace lowtide
